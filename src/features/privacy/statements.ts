/** The SQL that reads everything that is kept of a person, and deletes the person. Times are epoch milliseconds. */
import type { Statement } from "../../platform/d1/d1.ts";
import type { MemberRole } from "../members/table.ts";

/** Sign-in sessions and mails end by themselves; no one has more. */
const MAX_EXPIRING = 1_000;

interface Made {
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

const about = <Row>(personId: string, sql: string): Statement<Row> => ({ sql, params: [personId] });

/** By the organizations' IDs. */
export const selectMembershipsOf = (personId: string) =>
  about<MembershipOfPerson>(
    personId,
    `SELECT memberships.account_id AS accountId, accounts.name AS organization, memberships.role,
       memberships.joined_at AS joinedAt
     FROM memberships JOIN accounts ON accounts.id = memberships.account_id
     WHERE memberships.person_id = ? ORDER BY memberships.account_id`,
  );

export const selectPersonId = (email: string): Statement<{ id: string }> => ({
  sql: "SELECT id FROM people WHERE email = ?",
  params: [email],
});

/** The person, the password, sign-in sessions, the invitations that they made, links to a new password, and mails. */
export const selectOwnData = (id: string) =>
  [
    about<Made & { id: string; name: string; email: string }>(
      id,
      "SELECT id, name, email, created_at AS createdAt FROM people WHERE id = ?",
    ),
    about<Made & { updatedAt: number }>(
      id,
      "SELECT created_at AS createdAt, updated_at AS updatedAt FROM credentials WHERE person_id = ?",
    ),
    about<Expiring & { id: string }>(
      id,
      `SELECT id, created_at AS createdAt, expires_at AS expiresAt FROM sessions WHERE person_id = ?
       ORDER BY created_at LIMIT ${MAX_EXPIRING}`,
    ),
    about<Expiring & { id: string; accountId: string; email: string | null }>(
      id,
      `SELECT id, account_id AS accountId, email, created_at AS createdAt, expires_at AS expiresAt
       FROM invitations WHERE invited_by = ?`,
    ),
    about<Expiring>(
      id,
      "SELECT created_at AS createdAt, expires_at AS expiresAt FROM password_links WHERE person_id = ?",
    ),
    // A mail that is done has no text any more.
    about<Expiring & { accountId: string | null; topic: string; isDone: number }>(
      id,
      `SELECT account_id AS accountId, topic, created_at AS createdAt, expires_at AS expiresAt, due_at IS NULL AS isDone
       FROM mails WHERE recipient = (SELECT email FROM people WHERE id = ?) ORDER BY created_at LIMIT ${MAX_EXPIRING}`,
    ),
  ] as const;

const SOLE_OWNERSHIPS = `SELECT own.account_id FROM memberships AS own
  WHERE own.person_id = ? AND own.role = 'owner' AND NOT EXISTS (
    SELECT 1 FROM memberships AS others
    WHERE others.account_id = own.account_id AND others.role = 'owner' AND others.person_id <> own.person_id)`;

export const selectOwnedAlone = (personId: string) =>
  about<{ name: string }>(
    personId,
    `SELECT name FROM accounts WHERE id IN (${SOLE_OWNERSHIPS}) ORDER BY name`,
  );

const NEW_ID = `lower(printf('%s-%s-4%s-8%s-%s', hex(randomblob(4)), hex(randomblob(2)),
  substr(hex(randomblob(2)), 2), substr(hex(randomblob(2)), 2), hex(randomblob(6))))`;

/**
 * Deletes a person with password, sign-in sessions, memberships, open invitations and mails, and notes it in the audit log of
 * each organization; nothing of this while the person is the only owner of one. The last statement returns a row if the
 * person was deleted.
 */
export const deletePerson = (personId: string, now: number) => {
  const unlessSoleOwner = (sql: string, ...params: readonly number[]): Statement<{ id: string }> => ({
    sql: `${sql} AND NOT EXISTS (${SOLE_OWNERSHIPS})`,
    params: [...params, personId, personId],
  });
  const noted = unlessSoleOwner(
    `INSERT INTO audit_entries (id, account_id, at, actor_type, actor_id, actor_name, operation, resource,
       resource_id, changes, in_directory, changes_before)
     SELECT ${NEW_ID}, account_id, ?, 'person', person_id, NULL, 'deletePerson', 'member', person_id, '{}', 1, 0
     FROM memberships WHERE person_id = ?`,
    now,
  );
  const deleted = unlessSoleOwner("DELETE FROM people WHERE id = ?");
  return [
    noted,
    unlessSoleOwner("DELETE FROM invitations WHERE invited_by = ?"),
    unlessSoleOwner("DELETE FROM mails WHERE recipient = (SELECT email FROM people WHERE id = ?)"),
    { ...deleted, sql: `${deleted.sql} RETURNING id` },
  ] as const;
};
