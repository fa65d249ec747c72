/** The tables of workflows, and of scripts that are no longer used. */
import { sql } from "drizzle-orm";
import { foreignKey, index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { accounts } from "../../platform/d1/table.ts";

/** Too much waited for it, or its last runs had to be ended by force. */
const DISABLED_REASONS = ["backlogged", "killed"] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

export const workflows = sqliteTable(
  "workflows",
  {
    accountId: text("account_id")
      .notNull()
      .references(() => accounts.id, { onDelete: "cascade" }),
    id: text().notNull(),
    events: text().notNull(),
    /** Null for all rooms. No foreign key: a workflow still runs on the events of a deleted room. */
    roomId: text("room_id"),
    enabled: integer().notNull(),
    createdAt: integer("created_at").notNull(),
    /** Grows with each change; also the row's version. */
    updatedAt: integer("updated_at").notNull(),
    /** SHA-256 of `module` in hexadecimal. */
    hash: text().notNull(),
    /** The origin of this service when the workflow was saved, such as `https://atrium.example`. */
    origin: text().notNull(),
    name: text().notNull(),
    nameFolded: text("name_folded").notNull(),
    /** Why every run fails before it starts (a problem with `message` and position, as JSON); null when runs can start. */
    problemAtRun: text("problem_at_run"),
    /** Counts the codes that were saved, from 1. */
    version: integer().notNull().default(1),
    /** Number of repetitions of a failed run; 0 means that a workflow runs at most once per event. */
    retries: integer().notNull().default(0),
    /** Why the service has disabled the workflow; null while it is enabled, or was disabled by a request. */
    disabledReason: text("disabled_reason", { enum: DISABLED_REASONS }),
    /** When it runs by the clock, as JSON (`Schedule`); null when it does not. */
    schedule: text(),
    httpTrigger: integer("http_trigger").notNull().default(0),
    /** When the secret of its HTTP trigger was created (epoch ms); null without one. */
    triggerSecretAt: integer("trigger_secret_at"),
    /** Verifies signed requests of its HTTP trigger; encrypted (`delivery/signing-secrets`). Only those requests read it. */
    triggerSecret: text("trigger_secret"),
    /** The rotated secret, which is accepted until then (epoch ms); both null before the first rotation. */
    previousTriggerSecret: text("previous_trigger_secret"),
    previousTriggerSecretUntil: integer("previous_trigger_secret_until"),
    // Large columns come last, so that reading subscriptions does not read them.
    code: text().notNull(),
    module: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.id] }),
    index("workflows_trigger_secret").on(table.triggerSecret),
    index("workflows_previous_trigger_secret").on(table.previousTriggerSecret),
    index("workflows_newest").on(table.accountId, sql`created_at DESC`, sql`id DESC`),
    index("workflows_by_name").on(table.accountId, table.nameFolded, table.id),
    index("workflows_updated").on(table.accountId, table.updatedAt, table.id),
  ],
);

export type StoredWorkflow = typeof workflows.$inferSelect;
type TriggerSecrets = "triggerSecret" | "previousTriggerSecret" | "previousTriggerSecretUntil";
export interface RunnableWorkflow extends Omit<StoredWorkflow, "code" | TriggerSecrets> {
  /** The sealed secrets: a JSON array of `[name, keyId, sealed]`. */
  readonly secrets: string;
}
/** Columns of the API, without secrets and data of runs. */
export type WorkflowRow = Omit<
  StoredWorkflow,
  "hash" | "origin" | "problemAtRun" | "module" | TriggerSecrets
>;
/** The columns for a signed request of the HTTP trigger. */
export interface TriggerableWorkflow
  extends Pick<
    StoredWorkflow,
    TriggerSecrets | "id" | "name" | "roomId" | "enabled" | "httpTrigger" | "updatedAt"
  > {
  /** The token epoch of the organization: shows that it is being restored. */
  readonly accountTokenEpoch: number;
}

/** The author of code: a member in the dashboard, or the organization with an API key. */
const AUTHOR_TYPES = ["person", "key"] as const;
export type AuthorType = (typeof AUTHOR_TYPES)[number];

/** The latest codes of each workflow, the current one included. */
export const workflowVersions = sqliteTable(
  "workflow_versions",
  {
    accountId: text("account_id").notNull(),
    workflowId: text("workflow_id").notNull(),
    version: integer().notNull(),
    savedAt: integer("saved_at").notNull(),
    /** Null for code that was saved before versions were kept. */
    authorType: text("author_type", { enum: AUTHOR_TYPES }),
    /** The person's or the API key's id. No foreign key: a version outlives its author. */
    authorId: text("author_id"),
    code: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.workflowId, table.version] }),
    foreignKey({
      columns: [table.accountId, table.workflowId],
      foreignColumns: [workflows.accountId, workflows.id],
    }).onDelete("cascade"),
  ],
);

/** Named values that only the runs of a workflow can read. */
export const workflowSecrets = sqliteTable(
  "workflow_secrets",
  {
    accountId: text("account_id").notNull(),
    workflowId: text("workflow_id").notNull(),
    name: text().notNull(),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
    /** The sealing key's ID; unknown when the value can no longer be opened. */
    keyId: text("key_id").notNull(),
    /** The value, encrypted for this organization, workflow and name. */
    sealed: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.workflowId, table.name] }),
    foreignKey({
      columns: [table.accountId, table.workflowId],
      foreignColumns: [workflows.accountId, workflows.id],
    }).onDelete("cascade"),
    index("workflow_secrets_by_key").on(table.keyId),
  ],
);

/** Scripts that no run uses any more. They have no foreign key, as they outlive their workflows. */
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
