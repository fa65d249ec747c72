/** What backups and restores of organizations need in the directory: the operator's tokens, and how far restores are. */
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** What the operator may do with a token, to one organization. */
export const OPERATOR_PURPOSES = ["backup", "restore"] as const;
export type OperatorPurpose = (typeof OPERATOR_PURPOSES)[number];

/** Written by the operator's command: that it can write here is what proves that it is the operator's. */
export const operatorTokens = sqliteTable(
  "operator_tokens",
  {
    accountId: text("account_id").notNull(),
    purpose: text({ enum: OPERATOR_PURPOSES }).notNull(),
    /** SHA-256 of the token in hexadecimal. */
    hash: text().notNull(),
    /** Epoch milliseconds. */
    expiresAt: integer("expires_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.purpose] }),
    index("operator_tokens_oldest").on(table.expiresAt),
  ],
);

/** The restores that are not complete. */
export const restores = sqliteTable("restores", {
  accountId: text("account_id").primaryKey(),
  /** Which backup it is restored from. */
  backupId: text("backup_id").notNull(),
  /** The binding of the database that it is restored to. */
  place: text().notNull(),
  /** Grows with each run that continues the restore, which only the latest may do. */
  turn: integer().notNull(),
  /** The token epoch that the organization gets in the end. */
  tokenEpoch: integer("token_epoch").notNull(),
  /** How far it is, as the command that restores wrote it. */
  position: text().notNull().default(""),
  startedAt: integer("started_at").notNull(),
});

export type RestoreRow = typeof restores.$inferSelect;
