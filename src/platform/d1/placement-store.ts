/** The only SQL about where organizations are placed. */
import { type Statement, statement } from "./d1.ts";

/** The binding in the directory; no row without the organization. */
export const selectPlacement = (accountId: string): Statement<{ database: string }> =>
  statement`SELECT database FROM accounts WHERE id = ${accountId}`;

/** Fails the batch with {@link isElsewhere} if the organization is placed elsewhere. */
export const requireHere = (accountId: string, name: string): Statement =>
  statement`SELECT CASE database WHEN ${name} THEN database ELSE json(database) END FROM accounts
      WHERE id = ${accountId}`;

/** True for the failure of {@link requireHere}: the name of no binding is JSON. */
export const isElsewhere = (error: unknown): boolean =>
  error instanceof Error && error.message.includes("malformed JSON");

export const insertPlaced = (accountId: string, name: string, now: number): Statement =>
  statement`INSERT INTO accounts (id, name, created_at) VALUES (${accountId}, ${name}, ${now})`;

/** Returns a row while the organization still owns something there. */
export const deletePlaced = (accountId: string): readonly [Statement, Statement<{ id: string }>] => [
  statement`DELETE FROM accounts WHERE id = ${accountId}
      AND NOT EXISTS (SELECT 1 FROM rooms WHERE account_id = accounts.id)
      AND NOT EXISTS (SELECT 1 FROM webhooks WHERE account_id = accounts.id)
      AND NOT EXISTS (SELECT 1 FROM workflows WHERE account_id = accounts.id)`,
  statement`SELECT id FROM accounts WHERE id = ${accountId}`,
];
