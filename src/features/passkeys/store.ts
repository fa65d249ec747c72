/** The only SQL about passkeys. */

import { MAX_PASSKEYS } from "@atrium/contract/sign-in.ts";
import { and, desc, eq, type SQL, sql } from "drizzle-orm";
import { build, columnsOf, type Statement, statement } from "../../platform/d1/d1.ts";
import { passkeys } from "./table.ts";

export type PasskeyRow = typeof passkeys.$inferSelect;

const FIELDS = columnsOf(passkeys);
const ofPerson = (personId: string, id: string) => and(eq(passkeys.id, id), eq(passkeys.personId, personId));

/** The person's passkeys, newest first. */
export const selectPasskeys = (personId: string): Statement<PasskeyRow> =>
  statement(
    build
      .select(FIELDS)
      .from(passkeys)
      .where(eq(passkeys.personId, personId))
      .orderBy(desc(passkeys.createdAt), desc(passkeys.id)),
  );

/** What verifies the use of a passkey. */
export type KnownPasskey = Pick<PasskeyRow, "id" | "personId" | "credentialId" | "publicKey" | "counter"> & {
  readonly email: string;
};

export const selectPasskey = (credentialId: string): Statement<KnownPasskey> =>
  statement`SELECT passkeys.id, person_id AS personId, credential_id AS credentialId, public_key AS publicKey, counter,
        people.email
      FROM passkeys JOIN people ON people.id = passkeys.person_id WHERE credential_id = ${credentialId}`;

/** A verified use of a passkey. */
export interface PasskeyUse {
  readonly passkey: Pick<KnownPasskey, "id" | "counter">;
  /** The authenticator's count of signatures after it. */
  readonly counter: number;
  /** When its challenge was made. */
  readonly challengedAt: number;
}

/** A condition that holds while the passkey exists and has been used neither since nor for this challenge. */
export const isNew = ({ passkey, challengedAt }: PasskeyUse): SQL =>
  sql`EXISTS (SELECT 1 FROM passkeys WHERE id = ${passkey.id} AND counter = ${passkey.counter}
        AND challenged_at < ${challengedAt})`;

/** Notes the use, if it is new. */
export const updateUse = (use: PasskeyUse, now: number): Statement =>
  statement`UPDATE passkeys SET counter = ${use.counter}, challenged_at = ${use.challengedAt}, last_used_at = ${now}
      WHERE id = ${use.passkey.id} AND ${isNew(use)}`;

/** Inserts a passkey, and returns a row, while the session lasts and the person has fewer than they can have. */
export const insertPasskey = (row: PasskeyRow, tokenHash: string): Statement<{ id: string }> =>
  statement`INSERT INTO passkeys (id, person_id, name, credential_id, public_key, counter, transports, challenged_at,
        created_at)
      SELECT ${row.id}, ${row.personId}, ${row.name}, ${row.credentialId}, ${row.publicKey}, ${row.counter},
        ${row.transports}, ${row.challengedAt}, ${row.createdAt}
      WHERE EXISTS (SELECT 1 FROM sessions WHERE token_hash = ${tokenHash} AND person_id = ${row.personId})
        AND (SELECT count(*) FROM passkeys WHERE person_id = ${row.personId}) < ${MAX_PASSKEYS}
      RETURNING id`;

/** Renames a passkey, and returns its row. */
export const updatePasskey = (personId: string, id: string, name: string): Statement<PasskeyRow> =>
  statement(build.update(passkeys).set({ name }).where(ofPerson(personId, id)).returning(FIELDS));

export const selectPasskeyName = (personId: string, id: string): Statement<Pick<PasskeyRow, "name">> =>
  statement(build.select({ name: passkeys.name }).from(passkeys).where(ofPerson(personId, id)));

/**
 * Deletes a passkey, and returns a row, unless the person could not sign in without it. `issuer` is that of the
 * deployment's provider.
 */
export const deletePasskey = (
  personId: string,
  id: string,
  issuer: string | null,
): Statement<{ id: string }> =>
  statement`DELETE FROM passkeys WHERE id = ${id} AND person_id = ${personId} AND (
        EXISTS (SELECT 1 FROM credentials WHERE person_id = ${personId}
          AND (password IS NOT NULL OR provider_id = ${issuer}))
        OR EXISTS (SELECT 1 FROM passkeys AS other WHERE other.person_id = ${personId} AND other.id <> ${id}))
      RETURNING id`;

/** Ends the person's other sign-in sessions once the passkey is deleted. */
export const deleteOtherSignIns = (personId: string, tokenHash: string, deletedId: string): Statement =>
  statement`DELETE FROM sessions WHERE person_id = ${personId} AND token_hash <> ${tokenHash}
      AND NOT EXISTS (SELECT 1 FROM passkeys WHERE id = ${deletedId})`;
