/** The audit log of an organization, kept for AUDIT_LOG_DAYS. */
import { AUDIT_ACTORS, AUDIT_RESOURCES, type AuditResource } from "@atrium/contract/resources/audit-names.ts";
import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const auditEntries = sqliteTable(
  "audit_entries",
  {
    id: text().primaryKey(),
    /** No reference: the entries of a deleted organization are deleted in chunks. */
    accountId: text("account_id").notNull(),
    at: integer().notNull(),
    actorType: text("actor_type", { enum: AUDIT_ACTORS }).notNull(),
    actorId: text("actor_id"),
    actorName: text("actor_name"),
    operation: text().notNull(),
    resource: text({ enum: AUDIT_RESOURCES }).notNull(),
    resourceId: text("resource_id"),
    /** The changed fields as a JSON object; null for a value that is not recorded. */
    changes: text().notNull(),
    address: text(),
    requestId: text("request_id"),
    /** The rows that the database's connection had changed before: shows whether the batch has changed any. */
    changesBefore: integer("changes_before").notNull(),
    /** 1 for a change in the directory: the entry stays there when its organization moves to another database. */
    inDirectory: integer("in_directory").notNull().default(0),
  },
  (table) => [
    index("audit_entries_newest").on(table.accountId, sql`at DESC`, sql`id DESC`),
    index("audit_entries_actor").on(table.accountId, table.actorId, sql`at DESC`, sql`id DESC`),
    index("audit_entries_resource").on(table.accountId, table.resource, sql`at DESC`, sql`id DESC`),
    index("audit_entries_oldest").on(table.at),
  ],
);

export type AuditRow = Omit<typeof auditEntries.$inferSelect, "accountId" | "changesBefore" | "inDirectory">;

/** The rule of an endpoint of any shape, as the pipeline sees it. */
export interface ErasedAuditRule {
  readonly resource: AuditResource;
  id?(input: object): string;
  created?(data: object): string;
  detail?(input: object): Readonly<Record<string, string>>;
  readonly shows?: readonly string[];
  readonly onlyCommitted?: true;
}
