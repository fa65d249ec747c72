/** The outbox's only SQL: rows are written in the batch that makes a change, and deleted once handed on. */
import { asc, eq, lt, type SQLWrapper, sql } from "drizzle-orm";
import type { Database, Tenant } from "../database.ts";
import type { Change } from "./event.ts";
import { outbox } from "./table.ts";

/** A change on its way to its room. */
export interface OutboxEntry {
  readonly id: string;
  readonly accountId: string;
  readonly roomId: string;
  readonly change: Change;
}

/**
 * Writes the entry if `subject` selects a row, which it must be asked before a statement removes that row.
 * Without this a change to something that is not there, or is another organization's, would still be told.
 */
export const insertOutboxEntry = (tenant: Tenant, entry: OutboxEntry, subject: SQLWrapper, now: number) =>
  tenant.db.insert(outbox).select(
    sql`SELECT ${entry.id}, ${entry.accountId}, ${entry.roomId}, ${JSON.stringify(entry.change)}, ${now}
        WHERE EXISTS ${subject}`,
  );

export const deleteOutboxEntry = (db: Database, id: string) => db.delete(outbox).where(eq(outbox.id, id));

/** The oldest entries written before `before` (epoch ms): their hand-on was cut off. */
export const selectLeftBehind = (db: Database, before: number, limit: number) =>
  db.select().from(outbox).where(lt(outbox.createdAt, before)).orderBy(asc(outbox.createdAt)).limit(limit);
