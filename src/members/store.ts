/** The SQL about memberships. */
import { and, count, eq, sql } from "drizzle-orm";
import { accounts } from "../accounts/table.ts";
import { people } from "../people/table.ts";
import { build, type Page, type Statement, statement, type Tenant } from "../platform/d1.ts";
import { shortListOrder } from "../platform/ordering.ts";
import { type MemberRole, memberships } from "./table.ts";

type AccountRow = typeof accounts.$inferSelect;

/** A membership with the person it is of. */
export interface MemberRow {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly role: MemberRole;
  readonly joinedAt: number;
}

const ofAccount = ({ accountId }: Pick<Tenant, "accountId">) => eq(memberships.accountId, accountId);
export const whereIs = (tenant: Pick<Tenant, "accountId">, personId: string) =>
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

const memberOrder = shortListOrder({
  newest: sql`${memberships.joinedAt}`,
  name: sql`${people.name} COLLATE NOCASE`,
  email: sql`${people.email}`,
  role: sql`${memberships.role}`,
  id: sql`${memberships.personId}`,
});

export const selectMembers = (tenant: Tenant, page: Page): Statement<MemberRow> =>
  statement(
    build
      .select(MEMBER_FIELDS)
      .from(memberships)
      .innerJoin(people, eq(people.id, memberships.personId))
      .where(ofAccount(tenant))
      .orderBy(...memberOrder(page))
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
