/** The SQL that reads everything that is kept of a person, and deletes the person. */

import type { Statement } from "../../platform/d1/d1.ts";
import type { MemberRole } from "../members/table.ts";

/** Sign-in sessions and mails end by themselves; no one has more. */
const MAX_EXPIRING = 1_000;

interface Made {
  /** Epoch milliseconds, like all times here. */
  readonly createdAt: number;
}
interface Expiring extends Made {
  readonly expiresAt: number;
}

export interface MembershipOfPerson {
  readonly accountId: string;
  readonly organization: string;
  readonly role: MemberRole;
  readonly joinedAt: number;
}

/** By the organizations' IDs. */
export const selectMembershipsOf = (personId: string): Statement<MembershipOfPerson> => ({
  sql: `SELECT memberships.account_id AS accountId, accounts.name AS organization, memberships.role,
          memberships.joined_at AS joinedAt
        FROM memberships JOIN accounts ON accounts.id = memberships.account_id
        WHERE memberships.person_id = ? ORDER BY memberships.account_id`,
  params: [personId],
});

export const selectPersonId = (email: string): Statement<{ id: string }> => ({
  sql: "SELECT id FROM people WHERE email = ?",
  params: [email],
});

const selectPerson = (personId: string): Statement<Made & { id: string; name: string; email: string }> => ({
  sql: "SELECT id, name, email, created_at AS createdAt FROM people WHERE id = ?",
  params: [personId],
});

const selectPasswordTimes = (personId: string): Statement<Made & { updatedAt: number }> => ({
  sql: "SELECT created_at AS createdAt, updated_at AS updatedAt FROM credentials WHERE person_id = ?",
  params: [personId],
});

const selectSignIns = (personId: string): Statement<Expiring & { id: string }> => ({
  sql: `SELECT id, created_at AS createdAt, expires_at AS expiresAt FROM sessions WHERE person_id = ?
        ORDER BY created_at LIMIT ${MAX_EXPIRING}`,
  params: [personId],
});

const selectInvitationsBy = (
  personId: string,
): Statement<Expiring & { id: string; accountId: string; email: string | null }> => ({
  sql: `SELECT id, account_id AS accountId, email, created_at AS createdAt, expires_at AS expiresAt
        FROM invitations WHERE invited_by = ?`,
  params: [personId],
});

const selectPasswordLinks = (personId: string): Statement<Expiring> => ({
  sql: "SELECT created_at AS createdAt, expires_at AS expiresAt FROM password_links WHERE person_id = ?",
  params: [personId],
});

/** The mails to the person's address. `isDone`: nothing is left to send, and its text is forgotten. */
const selectMailsTo = (
  personId: string,
): Statement<Expiring & { accountId: string | null; topic: string; isDone: number }> => ({
  sql: `SELECT account_id AS accountId, topic, created_at AS createdAt, expires_at AS expiresAt, due_at IS NULL AS isDone
        FROM mails WHERE recipient = (SELECT email FROM people WHERE id = ?) ORDER BY created_at LIMIT ${MAX_EXPIRING}`,
  params: [personId],
});

/** The person, the password, sign-in sessions, the invitations that they made, links to a new password, and mails. */
export const selectOwnData = (personId: string) =>
  [
    selectPerson(personId),
    selectPasswordTimes(personId),
    selectSignIns(personId),
    selectInvitationsBy(personId),
    selectPasswordLinks(personId),
    selectMailsTo(personId),
  ] as const;

/** The memberships that make the person the only owner of an organization. */
const SOLE_OWNERSHIPS = `SELECT own.account_id FROM memberships AS own
  WHERE own.person_id = ? AND own.role = 'owner' AND NOT EXISTS (
    SELECT 1 FROM memberships AS others
    WHERE others.account_id = own.account_id AND others.role = 'owner' AND others.person_id <> own.person_id)`;

/** The organizations of which the person is the only owner. */
export const selectOwnedAlone = (personId: string): Statement<{ name: string }> => ({
  sql: `SELECT name FROM accounts WHERE id IN (${SOLE_OWNERSHIPS}) ORDER BY name`,
  params: [personId],
});

/** A random ID in the form of a UUID. */
const NEW_ID = `lower(printf('%s-%s-4%s-8%s-%s', hex(randomblob(4)), hex(randomblob(2)),
  substr(hex(randomblob(2)), 2), substr(hex(randomblob(2)), 2), hex(randomblob(6))))`;

const insertDeletionEntries = (personId: string, now: number): Statement => ({
  sql: `INSERT INTO audit_entries (id, account_id, at, actor_type, actor_id, actor_name, operation, resource,
          resource_id, changes, in_directory, changes_before)
        SELECT ${NEW_ID}, account_id, ?, 'person', person_id, NULL, 'deletePerson', 'member', person_id, '{}', 1, 0
        FROM memberships WHERE person_id = ? AND NOT EXISTS (${SOLE_OWNERSHIPS})`,
  params: [now, personId, personId],
});

const deleteInvitationsBy = (personId: string): Statement => ({
  sql: `DELETE FROM invitations WHERE invited_by = ? AND NOT EXISTS (${SOLE_OWNERSHIPS})`,
  params: [personId, personId],
});

const deleteMailsTo = (personId: string): Statement => ({
  sql: `DELETE FROM mails WHERE recipient = (SELECT email FROM people WHERE id = ?)
        AND NOT EXISTS (${SOLE_OWNERSHIPS})`,
  params: [personId, personId],
});

const deletePersonRow = (personId: string): Statement<{ id: string }> => ({
  sql: `DELETE FROM people WHERE id = ? AND NOT EXISTS (${SOLE_OWNERSHIPS}) RETURNING id`,
  params: [personId, personId],
});

/**
 * Deletes a person with password, sign-in sessions, memberships, open invitations and mails, and notes it in the audit log of
 * each organization; nothing of this while the person is the only owner of one. The last statement returns a row if the
 * person was deleted.
 */
export const deletePerson = (personId: string, now: number) =>
  [
    insertDeletionEntries(personId, now),
    deleteInvitationsBy(personId),
    deleteMailsTo(personId),
    deletePersonRow(personId),
  ] as const;
