/** Secrets of authenticator apps at rest: encrypted, and sealed again with a new key. */

import { resealInChunks, type Sealer, sealerFor } from "../../platform/crypto/sealer.ts";
import type { Database } from "../../platform/d1/d1.ts";
import type { WorkBudget } from "../../platform/flow/work-budget.ts";
import { resealFactor, type StoredFactor, selectSealedBy } from "./store.ts";

const PURPOSE = "atrium second factors";

export const factorSealer = (secrets: readonly [current: string, ...replaced: string[]]): Sealer =>
  sealerFor(secrets, PURPOSE);

/** A sealed secret is of no use for another person. */
export const placeOf = (personId: string): readonly string[] => ["second factor", personId];

/**
 * Seals secrets of replaced keys with the current one, so that the old keys can go. An unreadable secret is marked: only
 * recovery codes prove that person from then on.
 */
export async function resealFactors(
  db: Database,
  sealer: Sealer,
  log: (message: string, error: unknown) => void,
  queries: WorkBudget | null = null,
): Promise<void> {
  const replaced = await sealer.replacedKeyIds();
  if (replaced.length === 0) return;
  const resealed = async (row: StoredFactor) => {
    try {
      return await sealer.seal(await sealer.open(row, placeOf(row.personId)), placeOf(row.personId));
    } catch (error) {
      log(`The second factor of person ${row.personId} cannot be decrypted and must be set up again`, error);
      return { keyId: `unreadable ${row.keyId}`, sealed: row.sealed };
    }
  };
  const rows = {
    select: (limit: number) => selectSealedBy(replaced, limit),
    reseal: async (row: StoredFactor) => resealFactor(row, await resealed(row)),
  };
  await resealInChunks(db, rows, queries);
}
