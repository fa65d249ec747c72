/** The workflows of all organizations, and the scripts that they have left behind. */
import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { accounts } from "../accounts/table.ts";

export const workflows = sqliteTable(
  "workflows",
  {
    accountId: text("account_id")
      .notNull()
      .references(() => accounts.id, { onDelete: "cascade" }),
    id: text().notNull(),
    /** A JSON array of names of events. */
    events: text().notNull(),
    /** Null for all rooms. No foreign key: when the room goes, what happens at its end must still be reacted to. */
    roomId: text("room_id"),
    /** 0 or 1. */
    enabled: integer().notNull(),
    createdAt: integer("created_at").notNull(),
    /** Greater after each change: also the row's version. */
    updatedAt: integer("updated_at").notNull(),
    /** SHA-256 of `module` in hexadecimal. */
    hash: text().notNull(),
    /** Where this service was reached when the workflow was saved, as in `https://atrium.example`. */
    origin: text().notNull(),
    name: text().notNull(),
    /** `fold(name)`: SQLite folds ASCII only. */
    nameFolded: text("name_folded").notNull(),
    /** Why every run fails before it begins (its `message` and where, as JSON); null when it can begin. */
    problemAtRun: text("problem_at_run"),
    // The large ones come last: whoever asks who listens then reads no further than what it needs.
    /** As it was sent. */
    code: text().notNull(),
    /** What the compiler has made of it. */
    module: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.id] }),
    index("workflows_newest").on(table.accountId, sql`created_at DESC`, sql`id DESC`),
  ],
);

export type StoredWorkflow = typeof workflows.$inferSelect;
/** A workflow as it is run. */
export type RunnableWorkflow = Omit<StoredWorkflow, "code">;
/** A workflow as it is shown: without what only runs need. */
export type WorkflowRow = Omit<StoredWorkflow, "hash" | "origin" | "problemAtRun" | "module">;

/** Scripts that no run asks for any more. Without a foreign key: they outlive their workflows. */
export const retiredScripts = sqliteTable(
  "retired_scripts",
  {
    accountId: text("account_id").notNull(),
    workflowId: text("workflow_id").notNull(),
    hash: text().notNull(),
    retiredAt: integer("retired_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.workflowId, table.hash] }),
    index("retired_scripts_oldest").on(table.retiredAt),
  ],
);

export type RetiredScript = typeof retiredScripts.$inferSelect;
