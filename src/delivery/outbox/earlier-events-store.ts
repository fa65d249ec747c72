/** The SQL that finds the events that an earlier request of a room has left behind. */
import { getTableColumns } from "drizzle-orm";
import type { Statement } from "../../platform/d1/d1.ts";
import { type OutboxEventRow, outboxEvents } from "./table.ts";

/** A younger row is usually on its way: its request relays it. */
const LEFT_BEHIND_MS = 500;
/** The rows of an organization that are read, the oldest first: an outage may leave very many. */
const MAX_SEARCHED = 500;

type Placed = Pick<OutboxEventRow, "accountId" | "roomId" | "occurredAt">;

/** The part behind FROM: rows of the room that an earlier request has left behind, by their `number`. */
export const earlierEvents = ({
  accountId,
  roomId,
  occurredAt,
}: Placed): Pick<Statement, "sql" | "params"> => ({
  sql: `(SELECT rowid AS number, room_id AS room FROM outbox_events WHERE account_id = ? AND occurred_at < ?
         ORDER BY occurred_at, rowid LIMIT ${MAX_SEARCHED}) AS earlier WHERE earlier.room = ?`,
  params: [accountId, occurredAt - LEFT_BEHIND_MS, roomId],
});

/** The same rows, the oldest first, at most `limit`. */
export function selectEarlierEvents(event: Placed, limit: number): Statement<OutboxEventRow> {
  const { sql, params } = earlierEvents(event);
  const columns = Object.entries(getTableColumns(outboxEvents)).map(
    ([field, column]) => `${column.name} AS "${field}"`,
  );
  return {
    sql: `SELECT ${columns.join()} FROM outbox_events WHERE rowid IN (SELECT number FROM ${sql})
          ORDER BY occurred_at, rowid LIMIT ?`,
    params: [...params, limit],
  };
}
