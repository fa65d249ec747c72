/** The SQL that says who subscribes to a room's events. */
import type { Statement, Tenant } from "../../platform/d1/d1.ts";
import type { EventName } from "../../wire/event-name.ts";
import type { RoomSubscription, SubscriberKey } from "../port/subscriber.ts";

/** `events` is a JSON array of names. */
const subscriptionsOf = (kind: SubscriberKey["kind"]): string =>
  `SELECT '${kind}' AS kind, id, updated_at AS version, events FROM ${kind}s
   WHERE account_id = ? AND enabled AND (room_id IS NULL OR room_id = ?)`;
const SUBSCRIPTIONS = `${subscriptionsOf("webhook")} UNION ALL ${subscriptionsOf("workflow")}`;
const subscriptionParams = ({ accountId }: Tenant, roomId: string) => [accountId, roomId, accountId, roomId];

/** All subscriptions to events of the room: those for all rooms, and those for this one. */
export const selectSubscriptions = (tenant: Tenant, roomId: string): Statement<RoomSubscription> => ({
  sql: SUBSCRIPTIONS,
  params: subscriptionParams(tenant, roomId),
});

const enabledOf = (kind: SubscriberKey["kind"]): string =>
  `SELECT '${kind}' AS kind, id, updated_at AS version, events, room_id AS roomId FROM ${kind}s
   WHERE account_id = ? AND enabled`;

/** A subscription with the room that it is for. */
export interface OrganizationSubscription extends RoomSubscription {
  /** Null for all rooms. */
  readonly roomId: string | null;
}

/** All subscriptions of the organization. */
export const selectAllSubscriptions = ({ accountId }: Tenant): Statement<OrganizationSubscription> => ({
  sql: `${enabledOf("webhook")} UNION ALL ${enabledOf("workflow")}`,
  params: [accountId, accountId],
});

/** A subquery for one event's subscriptions as JSON, in `owed`: the log's, and those of the subscribers that want it. */
export const subscriptionsAsJson = (
  tenant: Tenant,
  roomId: string,
  event: EventName,
  only: SubscriberKey["kind"] | "any" = "any",
): Statement => ({
  sql: `SELECT json_insert(
          json_group_array(json_object('kind', kind, 'id', id, 'version', version)),
          '$[#]', json_object('kind', 'log', 'id', '', 'version', 0)
        ) AS owed FROM (${SUBSCRIPTIONS}) WHERE instr(events, ?) AND ? IN (kind, 'any')`,
  params: [...subscriptionParams(tenant, roomId), JSON.stringify(event), only],
});
