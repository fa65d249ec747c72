/** Who listens: the enabled webhooks of an organization, for all of its rooms or for one. */
import type { Statement, Tenant } from "../database.ts";
import type { EventName } from "./schema.ts";
import type { SubscriberKey } from "./subscriber.ts";

/** A subscriber as it was when an event happened. */
export interface Listener {
  readonly kind: SubscriberKey["kind"];
  readonly id: string;
  /** Changes with its row: what was remembered of an earlier version is out of date. */
  readonly version: number;
}

/** `events` is a JSON array of names. */
const LISTENERS = `SELECT 'webhook' AS kind, id, updated_at AS version, events FROM webhooks
  WHERE account_id = ? AND enabled AND (room_id IS NULL OR room_id = ?)`;

/** All that listen to anything in a room. */
export const selectListeners = (
  { accountId }: Tenant,
  roomId: string,
): Statement<Listener & { events: string }> => ({ sql: LISTENERS, params: [accountId, roomId] });

/** As a subquery: one row with those that listen to this event as JSON, in `owed`; no row without any. */
export const listenersAsJson = (
  { accountId }: Tenant,
  roomId: string,
  event: EventName,
): Statement<{ owed: string }> => ({
  sql: `SELECT json_group_array(json_object('kind', kind, 'id', id, 'version', version)) AS owed
        FROM (${LISTENERS}) WHERE instr(events, ?) HAVING count(*) > 0`,
  params: [accountId, roomId, quoted(event)],
});

/** True when a listener's `events` name this one. */
export const listensTo = (events: string, event: EventName): boolean => events.includes(quoted(event));

/** A name as it stands in a JSON array: none of them is then part of another one. */
const quoted = (event: EventName): string => `"${event}"`;

/** Listeners as {@link listenersAsJson} or a room wrote them. */
export const parseListeners = (json: string): Listener[] => JSON.parse(json) as Listener[];
