/** The only SQL about memberships and invitations. */
import { and, count, eq, gt, lte, sql } from "drizzle-orm";
import { accounts } from "../accounts/table.ts";
import { people } from "../people/table.ts";
import { build, columnsOf, type Page, type Statement, statement, type Tenant } from "../platform/d1.ts";
import { type InvitationRow, invitations, type MemberRole, memberships } from "./table.ts";

type AccountRow = typeof accounts.$inferSelect;

/** A membership with the person it is of. */
export interface MemberRow {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly role: MemberRole;
  readonly joinedAt: number;
}

/** An invitation as its recipient sees it. */
export interface OpenInvitation {
  readonly accountId: string;
  readonly organization: string;
  readonly role: MemberRole;
  /** The only address that can accept it; null for any. */
  readonly email: string | null;
  readonly invitedBy: string | null;
}

const ofAccount = ({ accountId }: Pick<Tenant, "accountId">) => eq(memberships.accountId, accountId);
const whereIs = (tenant: Pick<Tenant, "accountId">, personId: string) =>
  and(ofAccount(tenant), eq(memberships.personId, personId));

const MEMBER_FIELDS = {
  id: sql<string>`${people.id}`.as("id"),
  name: sql<string>`${people.name}`.as("name"),
  email: sql<string>`${people.email}`.as("email"),
  role: sql<MemberRole>`${memberships.role}`.as("role"),
  joinedAt: sql<number>`${memberships.joinedAt}`.as("joinedAt"),
};

export const selectMember = (tenant: Tenant, personId: string): Statement<MemberRow> =>
  statement(
    build
      .select(MEMBER_FIELDS)
      .from(memberships)
      .innerJoin(people, eq(people.id, memberships.personId))
      .where(whereIs(tenant, personId)),
  );

/** The newest first, as in every list. */
export const selectMembers = (tenant: Tenant, page: Page): Statement<MemberRow> =>
  statement(
    build
      .select(MEMBER_FIELDS)
      .from(memberships)
      .innerJoin(people, eq(people.id, memberships.personId))
      .where(ofAccount(tenant))
      .orderBy(sql`${memberships.joinedAt} DESC`, sql`${memberships.personId} DESC`)
      .limit(page.limit)
      .offset(page.offset),
  );

export const countMembers = (tenant: Tenant): Statement<{ total: number }> =>
  statement(
    build
      .select({ total: count().as("total") })
      .from(memberships)
      .where(ofAccount(tenant)),
  );

export const selectMembership = (tenant: Tenant, personId: string): Statement<{ role: MemberRole }> =>
  statement(
    build
      .select({ role: sql<MemberRole>`${memberships.role}`.as("role") })
      .from(memberships)
      .where(whereIs(tenant, personId)),
  );

/** True for the membership of a person unless it is the last owner's. */
const isDispensable = (tenant: Tenant, personId: string) =>
  and(
    whereIs(tenant, personId),
    sql`(role <> 'owner' OR EXISTS (
      SELECT 1 FROM memberships AS others
      WHERE others.account_id = ${tenant.accountId} AND others.role = 'owner' AND others.person_id <> ${personId}
    ))`,
  );

/** Deletes a membership, unless it is the last owner's. */
export const deleteMembership = (tenant: Tenant, personId: string): Statement<{ personId: string }> =>
  statement(
    build
      .delete(memberships)
      .where(isDispensable(tenant, personId))
      .returning({ personId: memberships.personId }),
  );

/** Gives a member a role, unless that would leave the organization without an owner. */
export const updateRole = (tenant: Tenant, personId: string, role: MemberRole): Statement =>
  statement(
    build
      .update(memberships)
      .set({ role })
      .where(role === "owner" ? whereIs(tenant, personId) : isDispensable(tenant, personId)),
  );

/** Whether a member wants notices by mail: 0 or 1. */
export const selectNotices = (
  tenant: Pick<Tenant, "accountId">,
  personId: string,
): Statement<{ notices: number }> =>
  statement(
    build
      .select({ notices: columnsOf(memberships).notices })
      .from(memberships)
      .where(whereIs(tenant, personId)),
  );

/** Returns a row if the person is a member. */
export const updateNotices = (
  tenant: Pick<Tenant, "accountId">,
  personId: string,
  isWanted: boolean,
): Statement<{ notices: number }> =>
  statement(
    build
      .update(memberships)
      .set({ notices: Number(isWanted) })
      .where(whereIs(tenant, personId))
      .returning({ notices: memberships.notices }),
  );

/** A new organization with its first owner. */
export const insertOrganization = (
  { id, name, createdAt, database }: Pick<AccountRow, "id" | "name" | "createdAt" | "database">,
  personId: string,
): readonly [Statement, Statement] => [
  statement(build.insert(accounts).values({ id, name, createdAt, database })),
  statement(
    build.insert(memberships).values({ accountId: id, personId, role: "owner", joinedAt: createdAt }),
  ),
];

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

export const deleteExpiredInvitations = (now: number): Statement =>
  statement(build.delete(invitations).where(lte(invitations.expiresAt, now)));

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
