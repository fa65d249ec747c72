/** The SQL that reads everything that is kept of a person, and deletes the person. Times are epoch milliseconds. */
import { type SQL, sql } from "drizzle-orm";
import { type Statement, statement } from "../../platform/d1/d1.ts";
import type { MemberRole } from "../members/table.ts";

/** Sign-in sessions and mails end by themselves; no one has more. */
const MAX_EXPIRING = 1_000;

interface Made {
  readonly createdAt: number;
}
interface Expiring extends Made {
  readonly expiresAt: number;
}

interface OwnCredential extends Made {
  readonly provider: string;
  /** The provider's ID of the person. */
  readonly subject: string;
  readonly updatedAt: number;
}
interface OwnFactor extends Made {
  readonly left: number;
}
interface OwnSignIn extends Expiring {
  readonly id: string;
  readonly updatedAt: number;
  readonly browser: string | null;
}
interface OwnPerson extends Made {
  readonly id: string;
  readonly name: string;
  readonly email: string;
}
interface OwnInvitation extends Expiring {
  readonly id: string;
  readonly accountId: string;
  readonly email: string | null;
}
interface OwnPasskey extends Made {
  readonly name: string;
  readonly lastUsedAt: number | null;
}
interface OwnMail extends Expiring {
  readonly accountId: string | null;
  readonly topic: string;
  readonly isDone: number;
}

export interface MembershipOfPerson {
  readonly accountId: string;
  readonly organization: string;
  readonly role: MemberRole;
  readonly joinedAt: number;
}

/** Memberships, ordered by the organizations' IDs. */
export const selectMembershipsOf = (personId: string): Statement<MembershipOfPerson> =>
  statement`SELECT memberships.account_id AS accountId, accounts.name AS organization, memberships.role,
        memberships.joined_at AS joinedAt
      FROM memberships JOIN accounts ON accounts.id = memberships.account_id
      WHERE memberships.person_id = ${personId} ORDER BY memberships.account_id`;

export const selectPersonId = (email: string): Statement<{ id: string }> =>
  statement`SELECT id FROM people WHERE email = ${email}`;

/** The person, what they sign in by, sign-in sessions, the invitations that they made, links to a new password, and mails. */
export const selectOwnData = (id: string) =>
  [
    statement<OwnPerson>`SELECT id, name, email, created_at AS createdAt FROM people WHERE id = ${id}`,
    statement<OwnCredential>`SELECT provider_id AS provider, provider_account_id AS subject,
          created_at AS createdAt, updated_at AS updatedAt
        FROM credentials WHERE person_id = ${id} ORDER BY created_at, id`,
    statement<OwnPasskey>`SELECT name, created_at AS createdAt, last_used_at AS lastUsedAt FROM passkeys
        WHERE person_id = ${id} ORDER BY created_at`,
    statement<OwnFactor>`SELECT created_at AS createdAt,
          (SELECT count(*) FROM recovery_codes WHERE person_id = ${id}) AS left
        FROM second_factors WHERE person_id = ${id}`,
    statement<OwnSignIn>`SELECT id, browser, created_at AS createdAt, updated_at AS updatedAt,
          expires_at AS expiresAt
        FROM sessions
        WHERE person_id = ${id} ORDER BY created_at LIMIT ${MAX_EXPIRING}`,
    statement<OwnInvitation>`SELECT id, account_id AS accountId, email, created_at AS createdAt,
          expires_at AS expiresAt
        FROM invitations WHERE invited_by = ${id}`,
    statement<Expiring>`SELECT created_at AS createdAt, expires_at AS expiresAt FROM password_links
        WHERE person_id = ${id}`,
    // A mail that is done has no text any more.
    statement<OwnMail>`SELECT account_id AS accountId, topic, created_at AS createdAt, expires_at AS expiresAt,
          due_at IS NULL AS isDone
        FROM mails WHERE recipient = (SELECT email FROM people WHERE id = ${id})
        ORDER BY created_at LIMIT ${MAX_EXPIRING}`,
  ] as const;

/** The query of the organizations of which the person is the only owner. */
const soleOwnerships = (personId: string): SQL =>
  sql`(SELECT own.account_id FROM memberships AS own
      WHERE own.person_id = ${personId} AND own.role = 'owner' AND NOT EXISTS (
        SELECT 1 FROM memberships AS others
        WHERE others.account_id = own.account_id AND others.role = 'owner' AND others.person_id <> own.person_id))`;

export const selectOwnedAlone = (personId: string): Statement<{ name: string }> =>
  statement`SELECT name FROM accounts WHERE id IN ${soleOwnerships(personId)} ORDER BY name`;

const NEW_ID = sql`lower(printf('%s-%s-4%s-8%s-%s', hex(randomblob(4)), hex(randomblob(2)),
    substr(hex(randomblob(2)), 2), substr(hex(randomblob(2)), 2), hex(randomblob(6))))`;

/**
 * Deletes a person with all that they sign in by, sign-in sessions, memberships, open invitations and mails, and notes it
 * in the audit log of each organization; nothing of this while the person is the only owner of one, or `proof` does not
 * hold. The last statement returns a row if the person was deleted.
 */
export const deletePerson = (personId: string, now: number, proof: SQL = sql`true`) => {
  const ifAllowed = sql`AND ${proof} AND NOT EXISTS ${soleOwnerships(personId)}`;
  return [
    statement`INSERT INTO audit_entries (id, account_id, at, actor_type, actor_id, actor_name, operation, resource,
          resource_id, changes, in_directory, changes_before)
        SELECT ${NEW_ID}, account_id, ${now}, 'person', person_id, NULL, 'deletePerson', 'member', person_id, '{}', 1,
          0
        FROM memberships WHERE person_id = ${personId} ${ifAllowed}`,
    statement`DELETE FROM invitations WHERE invited_by = ${personId} ${ifAllowed}`,
    statement`DELETE FROM mails
        WHERE recipient = (SELECT email FROM people WHERE id = ${personId}) ${ifAllowed}`,
    statement<{ id: string }>`DELETE FROM people WHERE id = ${personId} ${ifAllowed} RETURNING id`,
  ] as const;
};
