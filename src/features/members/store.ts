/** The SQL about memberships. */
import { and, count, eq, gt, type Placeholder, sql } from "drizzle-orm";
import {
  build,
  columnsOf,
  type Page,
  prepared,
  preparedByShape,
  type Statement,
  statement,
  type Tenant,
} from "../../platform/d1/d1.ts";
import type { Expiring } from "../../platform/d1/expiry.ts";
import { countOnce, ordering, pageValues } from "../../platform/d1/ordering.ts";
import { accounts } from "../../platform/d1/table.ts";
import { people } from "../people/table.ts";
import { countUsed } from "../quotas/statements.ts";
import {
  type InvitationRow,
  invitations,
  type MemberRole,
  type MembershipRow,
  memberships,
} from "./table.ts";

type AccountRow = typeof accounts.$inferSelect;

const ofAccount = ({ accountId }: Pick<Tenant, "accountId">) => eq(memberships.accountId, accountId);
const whereIs = (tenant: Pick<Tenant, "accountId">, personId: string) =>
  and(ofAccount(tenant), eq(memberships.personId, personId));

export const selectMember = (tenant: Tenant, personId: string): Statement<MembershipRow> =>
  statement(build.select(columnsOf(memberships)).from(memberships).where(whereIs(tenant, personId)));

const memberOrder = ordering({
  table: memberships,
  by: { joined_at: "joinedAt", name: "name", email: "email", role: "role" },
  time: "joinedAt",
  id: "personId",
  ignoringCase: ["name"],
});

/** Where a page of {@link selectMembers} ends that has this member last. */
export const positionOfMember = memberOrder.positionOf;

const memberPage = preparedByShape((ordered: string) =>
  build
    .select(columnsOf(memberships))
    .from(memberships)
    .where(and(eq(memberships.accountId, sql.placeholder("accountId")), memberOrder.where(ordered)))
    .orderBy(...memberOrder.orderBy(ordered))
    .limit(sql.placeholder("limit"))
    .offset(sql.placeholder("offset")),
);

export const selectMembers = ({ accountId }: Tenant, page: Page): Statement<MembershipRow> =>
  memberPage(memberOrder.shapeOf(page), { accountId, ...pageValues(page) });

/** Counts the members on all pages of {@link selectMembers}. */
export const countMembers = (tenant: Tenant, page: Page): Statement<{ total: number }> =>
  countOnce(page, () => countUsed(tenant, "members"));

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

/** An invitation as its recipient sees it. */
export interface OpenInvitation {
  readonly accountId: string;
  readonly organization: string;
  readonly role: MemberRole;
  /** The only address that can accept it; null for any. */
  readonly email: string | null;
  readonly invitedBy: string | null;
  /** Says whether the organization is being restored. */
  readonly accountTokenEpoch: number;
}

export const insertInvitation = (row: InvitationRow): Statement =>
  statement(build.insert(invitations).values(row));

/** True while the person who invited is an owner, or the API key that invited is valid. */
const INVITER_IS_OWNER = `((invitations.invited_by IS NULL OR EXISTS (
  SELECT 1 FROM memberships AS inviters
  WHERE inviters.account_id = invitations.account_id AND inviters.person_id = invitations.invited_by
    AND inviters.role = 'owner'
)) AND (invitations.invited_by_key IS NULL OR EXISTS (
  SELECT 1 FROM api_keys WHERE api_keys.id = invitations.invited_by_key
)))`;

const INVITED_BY_OWNER = sql.raw(INVITER_IS_OWNER);
const isOpen = (now: number | Placeholder) => and(gt(invitations.expiresAt, now), INVITED_BY_OWNER);

const openOfAccount = (accountId: string | Placeholder, now: number | Placeholder) =>
  and(eq(invitations.accountId, accountId), isOpen(now));

const invitationOrder = ordering({ table: invitations, by: {}, time: "createdAt", id: "id" });

/** Where a page of {@link selectInvitations} ends that has this invitation last. */
export const positionOfInvitation = invitationOrder.positionOf;

const listed = openOfAccount(sql.placeholder("accountId"), sql.placeholder("now"));

const invitationPage = preparedByShape((ordered: string) =>
  build
    .select(columnsOf(invitations))
    .from(invitations)
    .where(and(listed, invitationOrder.where(ordered)))
    .orderBy(...invitationOrder.orderBy(ordered))
    .limit(sql.placeholder("limit"))
    .offset(sql.placeholder("offset")),
);

export const selectInvitations = ({ accountId }: Tenant, now: number, page: Page): Statement<InvitationRow> =>
  invitationPage(invitationOrder.shapeOf(page), { accountId, now, ...pageValues(page) });

const invitationCount = prepared(() =>
  build
    .select({ total: count().as("total") })
    .from(invitations)
    .where(listed),
);

/**
 * Counts the invitations on all pages of {@link selectInvitations}, once for the first: as many rows as the quota allows,
 * because its counter also has those that have ended by themselves, until they are deleted.
 */
export const countInvitations = (
  { accountId }: Tenant,
  now: number,
  page: Page,
): Statement<{ total: number }> => countOnce(page, () => invitationCount({ accountId, now }));

export const deleteInvitation = (tenant: Tenant, id: string, now: number): Statement<{ id: string }> =>
  statement(
    build
      .delete(invitations)
      .where(and(openOfAccount(tenant.accountId, now), eq(invitations.id, id)))
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
        accountTokenEpoch: sql<number>`${accounts.tokenEpoch}`.as("accountTokenEpoch"),
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
