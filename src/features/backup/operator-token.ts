/** The operator's token authenticates a command, for one organization or all, one purpose and an hour. */

import { AppError } from "@atrium/contract/errors.ts";
import type { Env } from "../../env.ts";
import { bearerOf, limitAuthFailures } from "../../http/authenticate.ts";
import { equalInConstantTime } from "../../http/security.ts";
import { TtlCache } from "../../platform/cache.ts";
import type { Database } from "../../platform/d1/d1.ts";
import { openDirectory } from "../../platform/d1/databases.ts";
import { DEPLOYMENT } from "./format.ts";
import {
  deleteOperatorToken,
  isOperatorToken,
  operatorTokenHash,
  selectOperatorTokens,
} from "./statements.ts";
import type { OperatorPurpose } from "./table.ts";

/** Tokens verified lately: a command sends many requests. */
const verified = new TtlCache<string>({ ttlMs: 10_000, maxEntries: 100 });

const keyOf = (scope: string, purpose: OperatorPurpose): string => `${purpose} ${scope}`;

const refused = () =>
  new AppError(
    "Auth",
    "UNAUTHORIZED",
    "The operator's token is missing, wrong or expired, or another command has taken over; run the command again",
  );

/**
 * UNAUTHORIZED without the token of the organization or of the deployment; RATE_LIMITED before the database
 * is asked.
 */
export async function requireOperator(
  request: Request,
  env: Env,
  accountId: string,
  purpose: OperatorPurpose,
): Promise<void> {
  const token = bearerOf(request) ?? "";
  const hash = await operatorTokenHash(token);
  const scopes = [DEPLOYMENT, accountId] as const;
  for (const scope of scopes) {
    const known = verified.get(keyOf(scope, purpose), Date.now());
    if (known !== undefined && equalInConstantTime(known, hash)) return;
  }
  await limitAuthFailures(env, request);
  if (!isOperatorToken(token)) throw refused();
  const now = Date.now();
  const [rows] = await openDirectory(env).run([selectOperatorTokens(scopes, purpose, now)]);
  const row = rows.find((stored) => equalInConstantTime(stored.hash, hash));
  if (row === undefined) throw refused();
  verified.set(keyOf(row.scope, purpose), hash, now);
}

/** Evicts the token from this isolate; others follow within ten seconds. */
export const evictOperatorToken = (accountId: string, purpose: OperatorPurpose): boolean =>
  verified.delete(keyOf(accountId, purpose));

export async function endOperatorToken(
  directory: Database,
  accountId: string,
  purpose: OperatorPurpose,
): Promise<void> {
  await directory.run([deleteOperatorToken(accountId, purpose)]);
  evictOperatorToken(accountId, purpose);
}
