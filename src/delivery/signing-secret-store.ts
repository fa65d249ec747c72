/** Signing secrets of webhooks and HTTP triggers: encrypted at rest, opened for use, and sealed again with a new key. */

import { DAY_MS } from "@atrium/contract/time.ts";
import { sql } from "drizzle-orm";
import { resealInChunks, type Sealer, sealerFor } from "../platform/crypto/sealer.ts";
import { createSecret } from "../platform/crypto/standard-webhooks.ts";
import { type Database, FENCED, type Statement, statement } from "../platform/d1/d1.ts";
import type { WorkBudget } from "../platform/flow/work-budget.ts";
import type { SubscriberKey } from "./outbox/subscription.ts";

interface StoredSecrets {
  readonly accountId: string;
  readonly id: string;
  readonly current: string | null;
  readonly previous: string | null;
}

const columnsOf = (table: string, current: string, previous: string) => ({
  table: sql.identifier(table),
  current: sql.identifier(current),
  previous: sql.identifier(previous),
});

const COLUMNS = {
  webhook: columnsOf("webhooks", "secret", "previous_secret"),
  workflow: columnsOf("workflows", "trigger_secret", "previous_trigger_secret"),
} satisfies Readonly<Record<SubscriberKey["kind"], object>>;

type TextRange = readonly [from: string, before: string];

/** Some subscribers, of organizations that are not {@link FENCED}, with a secret in one of these ranges. Indexes find them. */
export function selectSecretsWithin(
  kind: SubscriberKey["kind"],
  ranges: readonly TextRange[],
  limit: number,
): Statement<StoredSecrets> {
  const { table, current, previous } = COLUMNS[kind];
  const isWithin = [current, previous].flatMap((column) =>
    ranges.map(([from, before]) => sql`(${column} >= ${from} AND ${column} < ${before})`),
  );
  return statement`SELECT account_id AS accountId, id, ${current} AS current, ${previous} AS previous FROM ${table}
      WHERE (${sql.join(isWithin, sql` OR `)}) AND account_id NOT IN ${FENCED} LIMIT ${limit}`;
}

/** Stores the same secrets in another form, unless they were replaced meanwhile. The row's version stays. */
function replaceStoredSecrets(
  kind: SubscriberKey["kind"],
  before: StoredSecrets,
  after: Pick<StoredSecrets, "current" | "previous">,
): Statement {
  const { table, current, previous } = COLUMNS[kind];
  return statement`UPDATE ${table} SET ${current} = ${after.current}, ${previous} = ${after.previous}
      WHERE account_id = ${before.accountId} AND id = ${before.id}
        AND ${current} IS ${before.current} AND ${previous} IS ${before.previous}`;
}

const PURPOSE = "atrium signing secrets";
const MARK = "sealed:";
const UNREADABLE = "unreadable";
const KINDS = ["webhook", "workflow"] as const;

export const signingSealer = (secrets: readonly [current: string, ...replaced: string[]]): Sealer =>
  sealerFor(secrets, PURPOSE);

/** A sealed secret is of no use for another subscriber. */
const placeOf = ({ kind, accountId, id }: SubscriberKey): readonly string[] => [kind, accountId, id];

/** The secret as it is stored: `sealed:`, the key's ID, and the encrypted secret. */
export async function sealSecret(sealer: Sealer, secret: string, owner: SubscriberKey): Promise<string> {
  const { keyId, sealed } = await sealer.seal(secret, placeOf(owner));
  return `${MARK}${keyId}:${sealed}`;
}

/** The time for which a rotated secret is in force beside the new one. */
const OVERLAP_MS = DAY_MS;

/** A new secret, the same as it is stored, and until when (epoch ms) one that it replaces is in force. */
export async function newSecret(sealer: Sealer, owner: SubscriberKey, now: number) {
  const secret = createSecret();
  return { secret, sealed: await sealSecret(sealer, secret, owner), previousUntil: now + OVERLAP_MS };
}

/** The stored secrets that are in force, the newest first. */
export const secretsInForce = (
  current: string | null,
  previous: string | null,
  previousUntil: number | null,
  now: number,
): string[] => [current, now < (previousUntil ?? 0) ? previous : null].filter((one) => one !== null);

export async function openSecret(sealer: Sealer, stored: string, owner: SubscriberKey): Promise<string> {
  const [keyId = "", sealed = ""] = stored.slice(MARK.length).split(":");
  return sealer.open({ keyId, sealed }, placeOf(owner));
}

/** The secrets of `stored` that can be opened, in their order. */
export async function openSecrets(
  sealer: Sealer,
  stored: readonly string[],
  owner: SubscriberKey,
  log: (message: string, error: unknown) => void,
): Promise<readonly string[]> {
  const opened = stored.map((each) =>
    openSecret(sealer, each, owner).catch((error: unknown) => {
      log("A signing secret can no longer be decrypted, and must be rotated", error);
      return null;
    }),
  );
  return (await Promise.all(opened)).filter((each) => each !== null);
}

/** All texts that begin with this, whose last character is one of ASCII. */
const rangeOf = (prefix: string): TextRange => [
  prefix,
  prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1),
];

/**
 * Encrypts secrets of a replaced key with the current one, so that the former can be forgotten. A secret that no key
 * opens is marked.
 */
export async function resealSigningSecrets(
  db: Database,
  sealer: Sealer,
  log: (message: string, error: unknown) => void,
  queries: WorkBudget | null = null,
): Promise<void> {
  const replaced = (await sealer.replacedKeyIds()).map((id) => rangeOf(`${MARK}${id}:`));
  if (replaced.length === 0) return;
  for (const kind of KINDS) {
    const resealed = async (stored: string | null, owner: SubscriberKey): Promise<string | null> => {
      if (stored === null) return null;
      try {
        return await sealSecret(sealer, await openSecret(sealer, stored, owner), owner);
      } catch (error) {
        log(`A signing secret of ${kind} ${owner.id} can no longer be decrypted, and must be rotated`, error);
        return `${MARK}${UNREADABLE}:${stored.slice(MARK.length)}`;
      }
    };
    const rows = {
      select: (limit: number) => selectSecretsWithin(kind, replaced, limit),
      reseal: async (row: StoredSecrets) => {
        const owner = { kind, accountId: row.accountId, id: row.id };
        const [current, previous] = await Promise.all([
          resealed(row.current, owner),
          resealed(row.previous, owner),
        ]);
        return replaceStoredSecrets(kind, row, { current, previous });
      },
    };
    await resealInChunks(db, rows, queries);
  }
}
