/** The SQL about memberships. */
import { and, eq, sql } from "drizzle-orm";
import { build, columnsOf, type Page, type Statement, statement, type Tenant } from "../../platform/d1/d1.ts";
import { countOnce, ordering, pageValues } from "../../platform/d1/ordering.ts";
import { preparedByShape } from "../../platform/d1/prepared-statement.ts";
import { accounts } from "../accounts/organization/table.ts";
import { countUsed } from "../quotas/shared-store.ts";
import { type MemberRole, type MembershipRow, memberships } from "./table.ts";

type AccountRow = typeof accounts.$inferSelect;

const ofAccount = ({ accountId }: Pick<Tenant, "accountId">) => eq(memberships.accountId, accountId);
export const whereIs = (tenant: Pick<Tenant, "accountId">, personId: string) =>
  and(ofAccount(tenant), eq(memberships.personId, personId));

export const selectMember = (tenant: Tenant, personId: string): Statement<MembershipRow> =>
  statement(build.select(columnsOf(memberships)).from(memberships).where(whereIs(tenant, personId)));

const order = ordering({
  table: memberships,
  by: { joined_at: "joinedAt", name: "name", email: "email", role: "role" },
  time: "joinedAt",
  id: "personId",
  ignoringCase: ["name"],
});

/** Where a page of {@link selectMembers} ends that has this member last. */
export const positionOf = order.positionOf;

const memberPage = preparedByShape((ordered: string) =>
  build
    .select(columnsOf(memberships))
    .from(memberships)
    .where(and(eq(memberships.accountId, sql.placeholder("accountId")), order.where(ordered)))
    .orderBy(...order.orderBy(ordered))
    .limit(sql.placeholder("limit"))
    .offset(sql.placeholder("offset")),
);

export const selectMembers = ({ accountId }: Tenant, page: Page): Statement<MembershipRow> =>
  memberPage(order.shapeOf(page), { accountId, ...pageValues(page) });

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
