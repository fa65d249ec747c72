/** The SQL about invitations. */
import { and, count, eq, gt, sql } from "drizzle-orm";
import { accounts } from "../accounts/table.ts";
import { people } from "../people/table.ts";
import { build, columnsOf, type Page, type Statement, statement, type Tenant } from "../platform/d1.ts";
import type { Expiring } from "../platform/expiry.ts";
import { type InvitationRow, invitations, type MemberRole } from "./table.ts";

/** An invitation as its recipient sees it. */
export interface OpenInvitation {
  readonly accountId: string;
  readonly organization: string;
  readonly role: MemberRole;
  /** The only address that can accept it; null for any. */
  readonly email: string | null;
  readonly invitedBy: string | null;
}

export const insertInvitation = (row: InvitationRow): Statement =>
  statement(build.insert(invitations).values(row));

/** True while the person who invited is an owner, and for the invitations of API keys. */
const INVITER_IS_OWNER = `(invitations.invited_by IS NULL OR EXISTS (
  SELECT 1 FROM memberships AS inviters
  WHERE inviters.account_id = invitations.account_id AND inviters.person_id = invitations.invited_by
    AND inviters.role = 'owner'
))`;

const isOpen = (now: number) => and(gt(invitations.expiresAt, now), sql.raw(INVITER_IS_OWNER));

const openOfAccount = ({ accountId }: Tenant, now: number) =>
  and(eq(invitations.accountId, accountId), isOpen(now));

export const selectInvitations = (tenant: Tenant, now: number, page: Page): Statement<InvitationRow> =>
  statement(
    build
      .select(columnsOf(invitations))
      .from(invitations)
      .where(openOfAccount(tenant, now))
      .orderBy(sql`${invitations.createdAt} DESC`, sql`${invitations.id} DESC`)
      .limit(page.limit)
      .offset(page.offset),
  );

export const countInvitations = (tenant: Tenant, now: number): Statement<{ total: number }> =>
  statement(
    build
      .select({ total: count().as("total") })
      .from(invitations)
      .where(openOfAccount(tenant, now)),
  );

export const deleteInvitation = (tenant: Tenant, id: string, now: number): Statement<{ id: string }> =>
  statement(
    build
      .delete(invitations)
      .where(and(openOfAccount(tenant, now), eq(invitations.id, id)))
      .returning({ id: invitations.id }),
  );

/** Across organizations: the token determines the organization. */
export const selectOpenInvitation = (tokenHash: string, now: number): Statement<OpenInvitation> =>
  statement(
    build
      .select({
        accountId: sql<string>`${accounts.id}`.as("accountId"),
        organization: sql<string>`${accounts.name}`.as("organization"),
        role: sql<MemberRole>`${invitations.role}`.as("role"),
        email: sql<string | null>`${invitations.email}`.as("email"),
        invitedBy: sql<string | null>`${people.name}`.as("invitedBy"),
      })
      .from(invitations)
      .innerJoin(accounts, eq(accounts.id, invitations.accountId))
      .leftJoin(people, eq(people.id, invitations.invitedBy))
      .where(and(eq(invitations.tokenHash, tokenHash), isOpen(now))),
  );

/**
 * Adds the person as a member and uses up the invitation. If it is gone, the columns read from it are NULL, which
 * violates the table's constraints, so the whole batch of the second person to accept it fails.
 */
export const acceptInvitation = (
  tokenHash: string,
  personId: string,
  now: number,
): readonly [Statement, Statement] => {
  const invited = (column: "account_id" | "role") =>
    `(SELECT ${column} FROM invitations WHERE token_hash = ? AND expires_at > ? AND ${INVITER_IS_OWNER})`;
  return [
    {
      sql: `INSERT INTO memberships (account_id, person_id, role, joined_at)
            VALUES (${invited("account_id")}, ?, ${invited("role")}, ?)`,
      params: [tokenHash, now, personId, tokenHash, now, now],
    },
    statement(build.delete(invitations).where(eq(invitations.tokenHash, tokenHash))),
  ];
};

export const INVITATIONS: Expiring = { table: "invitations", column: "expires_at" };

/** Deletes the invitations that a former owner of the organization made: they have ended. */
export const deleteInvitationsOf = ({ accountId }: Tenant, personId: string): Statement =>
  statement(
    build
      .delete(invitations)
      .where(
        and(
          eq(invitations.accountId, accountId),
          eq(invitations.invitedBy, personId),
          sql.raw(`NOT ${INVITER_IS_OWNER}`),
        ),
      ),
  );
