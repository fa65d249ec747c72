/** The senders of channels: a mail into the outbox, or an event for the organization's own back end. */
import { relayEvents } from "../../delivery/outbox-relay.ts";
import { openDelivery } from "../../delivery/subscribers.ts";
import type { Env } from "../../env.ts";
import { openDirectory, openTenant } from "../../platform/d1/databases.ts";
import { reportFailure } from "../../platform/telemetry/telemetry.ts";
import { DAY_MS } from "../../platform/time.ts";
import { roomGateway } from "../../room/host/gateway.ts";
import { mailOutbox } from "../mail/outbox.ts";
import { addressWithin, insertMail, MAILS_A_DAY, NOTIFICATIONS, selectMail } from "../mail/statements.ts";
import type { Sender, Senders } from "./channels.ts";
import type { InboxKey } from "./inbox-ports.ts";
import { notificationMails } from "./notification-mail.ts";
import { insertNotificationEvent } from "./store.ts";

type Defer = (work: Promise<unknown>) => void;

export const sendersFor =
  (env: Env, defer: Defer) =>
  (key: InboxKey, now: () => number): Pick<Senders, "email" | "webhook"> => ({
    email: emailSender(env, key, now),
    webhook: webhookSender(env, key, now, defer),
  });

/** The mail names its notifications only: what it says of them is read when it is sent. */
function emailSender(env: Env, { accountId, identityId }: InboxKey, now: () => number): Sender {
  const outbox = mailOutbox(env, notificationMails(env));
  return {
    refusal: ({ email }) => (outbox === null ? "unavailable" : email === null ? "no_address" : null),
    send: async ({ id }, { email }) => {
      if (outbox === null) return "unavailable";
      const [directory, createdAt] = [openDirectory(env), now()];
      const facts = { id, accountId, topic: NOTIFICATIONS, createdAt, expiresAt: createdAt + DAY_MS };
      const mail = await outbox.seal(facts, { accountId, identityId, sendingId: id });
      const to = addressWithin(email ?? "", mail, MAILS_A_DAY);
      const [, [stored]] = await directory.run([insertMail(mail, to), selectMail(id)]);
      if (stored === undefined) return "limit";
      await outbox.send(directory, now());
      return "queued";
    },
  };
}

/** The back end of the organization sends: the event says by which channel, and of what. */
function webhookSender(
  env: Env,
  { accountId, identityId }: InboxKey,
  now: () => number,
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
