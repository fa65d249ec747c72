/** Backups and restores in the directory: the operator's tokens, and the progress of restores. */
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** The operator's permission by a token, for one organization. */
export const OPERATOR_PURPOSES = ["backup", "restore"] as const;
export type OperatorPurpose = (typeof OPERATOR_PURPOSES)[number];

/** The operator proves access by writing into this table. */
export const operatorTokens = sqliteTable(
  "operator_tokens",
  {
    accountId: text("account_id").notNull(),
    purpose: text({ enum: OPERATOR_PURPOSES }).notNull(),
    hash: text().notNull(),
    /** Epoch milliseconds. */
    expiresAt: integer("expires_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.purpose] }),
    index("operator_tokens_oldest").on(table.expiresAt),
  ],
);

export const restores = sqliteTable("restores", {
  accountId: text("account_id").primaryKey(),
  backupId: text("backup_id").notNull(),
  place: text().notNull(),
  /** Grows with each run that continues the restore, which only the latest may do. */
  fencingToken: integer("fencing_token").notNull(),
  /** The token epoch that the organization gets in the end. */
  tokenEpoch: integer("token_epoch").notNull(),
  position: text().notNull().default(""),
  startedAt: integer("started_at").notNull(),
});

export type RestoreRow = typeof restores.$inferSelect;
