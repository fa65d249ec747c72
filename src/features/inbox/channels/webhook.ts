/** The channel of the organization's own back end, which sends by itself: an event says by which channel, and of what. */

import { relayEvents } from "../../../delivery/outbox-relay.ts";
import { openDelivery } from "../../../delivery/subscribers.ts";
import type { Env } from "../../../env.ts";
import { openTenant } from "../../../platform/d1/databases.ts";
import { reportFailure } from "../../../platform/telemetry/telemetry.ts";
import { roomGateway } from "../../../room/host/gateway.ts";
import { insertNotificationEvent } from "../recipients/store.ts";
import type { InboxKey, Sender, SentInbox } from "../shard/sender.ts";

type Defer = (work: Promise<unknown>) => void;

export function webhookSender(
  env: Env,
  { accountId, identityId }: InboxKey,
  { now }: SentInbox,
  defer: Defer,
): Sender {
  return {
    refusal: () => null,
    send: async ({ id, channel, items }) => {
      const tenant = openTenant(env, accountId);
      const event = {
        id,
        event: "notification",
        roomId: identityId,
        occurredAt: now(),
        trace: null,
      } as const;
      const [rows] = await tenant.db.run([insertNotificationEvent(tenant, event, { channel, items })]);
      const log = (message: string, error: unknown) =>
        reportFailure("delivery", message, { account: accountId }, error);
      const ports = { db: tenant.db, log, defer, rooms: roomGateway(env), ...openDelivery(env) };
      await relayEvents(ports, rows);
      return "sent";
    },
  };
}
