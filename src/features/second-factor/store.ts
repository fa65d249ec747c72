/** The only SQL about second factors. Times are epoch milliseconds. */

import { and, eq, inArray, type SQL, sql } from "drizzle-orm";
import type { Sealed } from "../../platform/crypto/sealer.ts";
import { build, columnsOf, type Statement, statement } from "../../platform/d1/d1.ts";
import { recoveryCodes, secondFactors } from "./table.ts";

export type StoredFactor = typeof secondFactors.$inferSelect;

export const selectFactor = (personId: string): Statement<StoredFactor> =>
  statement(
    build.select(columnsOf(secondFactors)).from(secondFactors).where(eq(secondFactors.personId, personId)),
  );

/** The second factor of the person with an address. */
export const selectFactorOf = (email: string): Statement<StoredFactor> =>
  statement(
    build
      .select(columnsOf(secondFactors))
      .from(secondFactors)
      .where(sql`${secondFactors.personId} = (SELECT id FROM people WHERE email = ${email})`),
  );

export const selectRecoveryCode = (personId: string, codeHash: string): Statement<{ codeHash: string }> =>
  statement(
    build
      .select({ codeHash: recoveryCodes.codeHash })
      .from(recoveryCodes)
      .where(and(eq(recoveryCodes.personId, personId), eq(recoveryCodes.codeHash, codeHash))),
  );

/** Since when there is a second factor, and how many recovery codes are left; no row without one. */
export const selectFactorStatus = (
  personId: string,
): Statement<{ createdAt: number; left: number }> => statement`SELECT created_at AS createdAt,
    (SELECT count(*) FROM recovery_codes WHERE person_id = ${personId}) AS left
    FROM second_factors WHERE person_id = ${personId}`;

export const both = (one: SQL, other: SQL): SQL => sql`${one} AND ${other}`;

export const hasNoFactor = (personId: string): SQL =>
  sql`NOT EXISTS (SELECT 1 FROM second_factors WHERE person_id = ${personId})`;

/** Holds until a code of this time step, or of a later one, is used. */
export const stepIsUnused = ({ personId, createdAt }: StoredFactor, step: number): SQL =>
  sql`EXISTS (SELECT 1 FROM second_factors
        WHERE person_id = ${personId} AND created_at = ${createdAt} AND last_step < ${step})`;

export const spendStep = ({ personId, createdAt }: StoredFactor, step: number): Statement =>
  statement`UPDATE second_factors SET last_step = ${step}
      WHERE person_id = ${personId} AND created_at = ${createdAt} AND last_step < ${step}`;

/** Holds until the recovery code is used. */
export const recoveryCodeIsUnused = (personId: string, codeHash: string): SQL =>
  sql`EXISTS (SELECT 1 FROM recovery_codes WHERE person_id = ${personId} AND code_hash = ${codeHash})`;

export const spendRecoveryCode = (personId: string, codeHash: string): Statement =>
  statement`DELETE FROM recovery_codes WHERE person_id = ${personId} AND code_hash = ${codeHash}`;

/** Stores a second factor with its recovery codes, and returns a row; nothing where the person has one. */
export const insertFactor = (
  { personId, keyId, sealed, lastStep, createdAt }: StoredFactor,
  codeHashes: readonly string[],
): readonly [Statement<{ personId: string }>, Statement] => [
  statement`INSERT INTO second_factors (person_id, key_id, sealed, last_step, created_at)
      VALUES (${personId}, ${keyId}, ${sealed}, ${lastStep}, ${createdAt})
      ON CONFLICT DO NOTHING RETURNING person_id AS personId`,
  statement`INSERT INTO recovery_codes (person_id, code_hash)
      SELECT ${personId}, value FROM json_each(${JSON.stringify(codeHashes)})
      WHERE EXISTS (SELECT 1 FROM second_factors WHERE person_id = ${personId} AND sealed = ${sealed})`,
];

/** Replaces the recovery codes, and returns a row for each new one, while `proof` holds. */
export const replaceRecoveryCodes = (
  personId: string,
  codeHashes: readonly string[],
  proof: SQL,
): readonly [Statement<{ codeHash: string }>, Statement] => {
  const hashes = JSON.stringify(codeHashes);
  return [
    statement`INSERT INTO recovery_codes (person_id, code_hash)
        SELECT ${personId}, value FROM json_each(${hashes}) WHERE ${proof} RETURNING code_hash AS codeHash`,
    statement`DELETE FROM recovery_codes
        WHERE person_id = ${personId} AND code_hash NOT IN (SELECT value FROM json_each(${hashes}))
          AND EXISTS (SELECT 1 FROM recovery_codes WHERE person_id = ${personId} AND code_hash = ${codeHashes[0]})`,
  ];
};

/** Deletes a second factor with its recovery codes, and returns a row, while `proof` holds. */
export const deleteFactor = (personId: string, proof: SQL): Statement<{ personId: string }> =>
  statement`DELETE FROM second_factors WHERE person_id = ${personId} AND ${proof} RETURNING person_id AS personId`;

/** Some second factors, of all people, that these keys have sealed. */
export const selectSealedBy = (keyIds: readonly string[], limit: number): Statement<StoredFactor> =>
  statement(
    build
      .select(columnsOf(secondFactors))
      .from(secondFactors)
      .where(inArray(secondFactors.keyId, [...keyIds]))
      .limit(limit),
  );

/** Stores the same secret under another key, unless the second factor was replaced meanwhile. */
export const resealFactor = (
  { personId, sealed: before }: StoredFactor,
  { keyId, sealed }: Sealed,
): Statement =>
  statement(
    build
      .update(secondFactors)
      .set({ keyId, sealed })
      .where(and(eq(secondFactors.personId, personId), eq(secondFactors.sealed, before))),
  );
