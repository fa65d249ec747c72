/** The SQL that webhooks and workflows share: their subscriptions, and how they are disabled. */
import type { Statement, Tenant } from "../../platform/d1/d1.ts";
import type { WebhookEventName } from "../../wire/events.ts";
import type { RoomSubscription, SubscriberKey } from "./subscription.ts";

const subscriptionsOf = (kind: SubscriberKey["kind"]): string =>
  `SELECT '${kind}' AS kind, id, updated_at AS version, events FROM ${kind}s
   WHERE account_id = ? AND enabled AND (room_id IS NULL OR room_id = ?)`;
const SUBSCRIPTIONS = `${subscriptionsOf("webhook")} UNION ALL ${subscriptionsOf("workflow")}`;
const subscriptionParams = ({ accountId }: Tenant, roomId: string) => [accountId, roomId, accountId, roomId];

const enabledOf = (kind: SubscriberKey["kind"]): string =>
  `SELECT '${kind}' AS kind, id, updated_at AS version, events, room_id AS roomId FROM ${kind}s
   WHERE account_id = ? AND enabled`;

export interface OrganizationSubscription extends RoomSubscription {
  readonly roomId: string | null;
}

export const selectAllSubscriptions = ({ accountId }: Tenant): Statement<OrganizationSubscription> => ({
  sql: `${enabledOf("webhook")} UNION ALL ${enabledOf("workflow")}`,
  params: [accountId, accountId],
});

/** A subquery for one event's subscriptions as JSON, in `owed`: the log's, and those of the subscribers that want it. */
export const subscriptionsAsJson = (
  tenant: Tenant,
  roomId: string,
  event: WebhookEventName,
  only: SubscriberKey["kind"] | "any" = "any",
): Statement => ({
  sql: `SELECT json_insert(
          json_group_array(json_object('kind', kind, 'id', id, 'version', version)),
          '$[#]', json_object('kind', 'log', 'id', '', 'version', 0)
        ) AS owed FROM (${SUBSCRIPTIONS}) WHERE instr(events, ?) AND ? IN (kind, 'any')`,
  params: [...subscriptionParams(tenant, roomId), JSON.stringify(event), only],
});

const DISABLE = "enabled = 0, updated_at = max(updated_at + 1, ?)";

export const disableAll = (kind: SubscriberKey["kind"], { accountId }: Tenant, now: number): Statement => ({
  sql: `UPDATE ${kind}s SET ${DISABLE} WHERE account_id = ? AND enabled = 1`,
  params: [now, accountId],
});

/** Disables a subscriber for this reason, unless it has changed since this version of it was read. */
export const disableSubscriber = (
  { kind, accountId, id }: SubscriberKey,
  version: number,
  reason: string,
  now: number,
): Statement<{ id: string }> => ({
  sql: `UPDATE ${kind}s SET ${DISABLE}, disabled_reason = ? WHERE account_id = ? AND id = ? AND updated_at = ? RETURNING id`,
  params: [now, reason, accountId, id, version],
});

export const selectSomeSubscribers = (
  kind: SubscriberKey["kind"],
  { accountId }: Tenant,
  limit: number,
): Statement<{ id: string }> => ({
  sql: `SELECT id FROM ${kind}s WHERE account_id = ? LIMIT ?`,
  params: [accountId, limit],
});
