/** The statements about idempotency receipts. */
import { and, eq, lte, sql } from "drizzle-orm";
import { build, columnsOf, FENCED, type Statement, statement } from "../../platform/d1/d1.ts";
import type { Expiring } from "../../platform/d1/expiry.ts";
import { receipts } from "./table.ts";

type ReceiptRow = typeof receipts.$inferSelect;

const whereIs = (scope: string, key: string) => and(eq(receipts.scope, scope), eq(receipts.key, key));

export const selectReceipt = (scope: string, key: string): Statement<ReceiptRow> =>
  statement(build.select(columnsOf(receipts)).from(receipts).where(whereIs(scope, key)).limit(1));

export const insertReceipt = (row: ReceiptRow): Statement => statement(build.insert(receipts).values(row));

/** Deletes an expired receipt, so that its key can be used again before the cron trigger runs. */
export const deleteExpiredReceipt = (scope: string, key: string, expiry: number): Statement =>
  statement(build.delete(receipts).where(and(whereIs(scope, key), lte(receipts.createdAt, expiry))));

export const RECEIPTS: Expiring = {
  table: receipts,
  column: receipts.createdAt,
  and: sql`(in_directory = 1 OR substr(scope, 1, 36) NOT IN ${FENCED})`,
};
