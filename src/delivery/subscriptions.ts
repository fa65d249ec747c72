/** Who listens: the enabled webhooks and workflows of an organization, for all of its rooms or for one. */
import type { Statement, Tenant } from "../platform/d1.ts";
import type { EventName } from "./events.ts";
import type { SubscriberKey } from "./subscriber-port.ts";

/** A subscriber as it was when an event happened. */
export interface Subscription {
  readonly kind: SubscriberKey["kind"];
  readonly id: string;
  /** Changes with its row: what was remembered of an earlier version is out of date. */
  readonly version: number;
}

/** `events` is a JSON array of names. */
const listenersIn = (kind: SubscriberKey["kind"]): string =>
  `SELECT '${kind}' AS kind, id, updated_at AS version, events FROM ${kind}s
   WHERE account_id = ? AND enabled AND (room_id IS NULL OR room_id = ?)`;
const LISTENERS = `${listenersIn("webhook")} UNION ALL ${listenersIn("workflow")}`;
const parametersOf = ({ accountId }: Tenant, roomId: string) => [accountId, roomId, accountId, roomId];

/** All that listen to anything in a room. */
export const selectSubscriptions = (
  tenant: Tenant,
  roomId: string,
): Statement<Subscription & { events: string }> => ({ sql: LISTENERS, params: parametersOf(tenant, roomId) });

/** As a subquery: one row with those that listen to this event as JSON, in `owed`; no row without any. */
export const subscriptionsAsJson = (
  tenant: Tenant,
  roomId: string,
  event: EventName,
): Statement<{ owed: string }> => ({
  sql: `SELECT json_group_array(json_object('kind', kind, 'id', id, 'version', version)) AS owed
        FROM (${LISTENERS}) WHERE instr(events, ?) HAVING count(*) > 0`,
  params: [...parametersOf(tenant, roomId), quoted(event)],
});

/** True when a listener's `events` name this one. */
export const matchesEvent = (events: string, event: EventName): boolean => events.includes(quoted(event));

/** A name as it stands in a JSON array: none of them is then part of another one. */
const quoted = (event: EventName): string => `"${event}"`;

/** Listeners as {@link subscriptionsAsJson} or a room wrote them. */
export const parseSubscriptions = (json: string): Subscription[] => JSON.parse(json) as Subscription[];
