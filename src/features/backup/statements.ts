/** The only SQL about the operator's tokens. Commands write them by {@link upsertOperatorToken} through wrangler. */
import { and, eq } from "drizzle-orm";
import { hex, sha256 } from "../../platform/crypto/encoding.ts";
import { build, type Statement, statement } from "../../platform/d1/d1.ts";
import { type OperatorPurpose, operatorTokens } from "./table.ts";

/** Replaces the token for the same purpose, if there is one: the command that had it gives way. `DEPLOYMENT` stands for all. */
export const upsertOperatorToken = (
  accountId: string,
  purpose: OperatorPurpose,
  hash: string,
  expiresAt: number,
): Statement => statement`INSERT INTO operator_tokens (account_id, purpose, hash, expires_at)
    VALUES (${accountId}, ${purpose}, ${hash}, ${expiresAt})
    ON CONFLICT (account_id, purpose) DO UPDATE SET hash = excluded.hash, expires_at = excluded.expires_at`;

/** The hashes of the tokens of an organization and of the deployment, unless they have expired. */
export const selectOperatorTokens = (
  scopes: readonly [string, string],
  purpose: OperatorPurpose,
  now: number,
): Statement<{ scope: string; hash: string }> =>
  statement`SELECT account_id AS scope, hash FROM operator_tokens
      WHERE account_id IN ${scopes} AND purpose = ${purpose} AND expires_at > ${now}`;

export const deleteOperatorToken = (accountId: string, purpose: OperatorPurpose): Statement =>
  statement(
    build
      .delete(operatorTokens)
      .where(and(eq(operatorTokens.accountId, accountId), eq(operatorTokens.purpose, purpose))),
  );

const PREFIX = "atrium_op_";
const TOKEN = new RegExp(`^${PREFIX}[0-9a-f]{64}$`);

export const createOperatorToken = (): string => PREFIX + hex(crypto.getRandomValues(new Uint8Array(32)));

export const isOperatorToken = (token: string): boolean => TOKEN.test(token);

export const operatorTokenHash = (token: string): Promise<string> => sha256(new TextEncoder().encode(token));
