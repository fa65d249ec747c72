/** The only SQL about idempotency receipts. */
import { and, eq, lt, lte } from "drizzle-orm";
import type { Database } from "../database.ts";
import { receipts } from "./table.ts";

export type ReceiptRow = typeof receipts.$inferSelect;

export const selectReceipt = (db: Database, scope: string, key: string) =>
  db
    .select()
    .from(receipts)
    .where(and(eq(receipts.scope, scope), eq(receipts.key, key)))
    .limit(1);

export const insertReceipt = (db: Database, row: ReceiptRow) => db.insert(receipts).values(row);

/** Makes way for a new receipt under a key whose old one has expired. */
export const deleteExpiredReceipt = (db: Database, scope: string, key: string, expiry: number) =>
  db
    .delete(receipts)
    .where(and(eq(receipts.scope, scope), eq(receipts.key, key), lte(receipts.createdAt, expiry)));

export const deleteExpiredReceipts = (db: Database, expiry: number) =>
  db.delete(receipts).where(lt(receipts.createdAt, expiry));
