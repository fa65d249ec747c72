/** The tables of mails: those to be sent, and for a while those that were; and the numbers of others. */
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const mails = sqliteTable(
  "mails",
  {
    /** The same for all recipients of a mail. */
    id: text().notNull(),
    /** An email address; empty for a mail that is to be sent to no one. */
    recipient: text().notNull(),
    /** The organization that it concerns; null for none. No foreign key: the row expires by itself. */
    accountId: text("account_id"),
    /** The topic, which a daily limit counts. */
    topic: text().notNull(),
    /** The sealing key's ID. */
    keyId: text("key_id").notNull(),
    /** The encrypted mail: links in it are secrets. Empty once it was sent. */
    sealed: text().notNull(),
    createdAt: integer("created_at").notNull(),
    /** It is not sent after this (epoch ms), and then deleted. */
    expiresAt: integer("expires_at").notNull(),
    /** When to send it, or to try again (epoch ms); null when there is nothing left to do. */
    dueAt: integer("due_at"),
    /** The number of attempts with an unknown outcome. */
    uncertain: integer().notNull().default(0),
    failures: integer().notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.id, table.recipient] }),
    index("mails_due").on(table.dueAt),
    index("mails_oldest").on(table.expiresAt),
    index("mails_recipient").on(table.recipient),
    index("mails_topic").on(table.accountId, table.topic, table.createdAt),
  ],
);

export type MailRow = typeof mails.$inferSelect;

/** The mails about notifications, which inboxes send, by the hour: of an organization, and to each address. */
export const mailCounts = sqliteTable(
  "mail_counts",
  {
    accountId: text("account_id").notNull(),
    /** A hash of the organization and the address; empty for all mails of the organization. */
    recipient: text().notNull(),
    /** Its begin (epoch ms). */
    hour: integer().notNull(),
    count: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.recipient, table.hour] }),
    index("mail_counts_oldest").on(table.hour),
  ],
);
