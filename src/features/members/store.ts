/** The SQL about memberships and invitations. */
import { and, count, eq, gt, type Placeholder, type SQL, sql } from "drizzle-orm";
import {
  build,
  columnsOf,
  type Page,
  prepared,
  type Statement,
  statement,
  type Tenant,
} from "../../platform/d1/d1.ts";
import { countOnce, ordering } from "../../platform/d1/ordering.ts";
import { accounts } from "../../platform/d1/table.ts";
import { SETUP_PREFIX } from "../people/links.ts";
import { countUsed } from "../quotas/statements.ts";
import {
  type InvitationRow,
  invitations,
  type MemberRole,
  type MembershipRow,
  memberships,
} from "./table.ts";

type Account = Pick<Tenant, "accountId">;

const whereIs = ({ accountId }: Account, personId: string) =>
  and(eq(memberships.accountId, accountId), eq(memberships.personId, personId));

export const selectMember = (account: Account, personId: string): Statement<MembershipRow> =>
  statement(build.select(columnsOf(memberships)).from(memberships).where(whereIs(account, personId)));

const memberOrder = ordering({
  table: memberships,
  by: { joined_at: "joinedAt", name: "name", email: "email", role: "role" },
  time: "joinedAt",
  id: "personId",
  ignoringCase: ["name"],
});

export const positionOfMember = memberOrder.positionOf;

const memberPage = memberOrder.pages(columnsOf(memberships), (_: "all", placed) =>
  and(eq(memberships.accountId, sql.placeholder("accountId")), placed),
);

export const selectMembers = ({ accountId }: Tenant, page: Page): Statement<MembershipRow> =>
  memberPage("all", page, { accountId });

export const countMembers = (tenant: Tenant, page: Page): Statement<{ total: number }> =>
  countOnce(page, () => countUsed(tenant, "members"));

/** True for the membership of a person unless it is the last owner's. */
const isDispensable = (tenant: Tenant, personId: string) =>
  and(
    whereIs(tenant, personId),
    sql`(role <> 'owner' OR EXISTS (
          SELECT 1 FROM memberships AS others
          WHERE others.account_id = ${tenant.accountId} AND others.role = 'owner' AND others.person_id <> ${personId}
        ))`,
  );

export const deleteMembership = (tenant: Tenant, personId: string) =>
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

/** Sets whether a person wants notices by mail. Returns a row if the person is a member. */
export const updateNotices = (account: Account, personId: string, isWanted: boolean) =>
  statement(
    build
      .update(memberships)
      .set({ notices: Number(isWanted) })
      .where(whereIs(account, personId))
      .returning({ notices: memberships.notices }),
  );

export const insertOrganization = (
  account: Pick<typeof accounts.$inferSelect, "id" | "name" | "createdAt" | "database">,
  personId: string,
): readonly [Statement, Statement] => {
  const owner = { accountId: account.id, personId, role: "owner", joinedAt: account.createdAt } as const;
  return [
    statement(build.insert(accounts).values(account)),
    statement(build.insert(memberships).values(owner)),
  ];
};

export const insertInvitation = (row: InvitationRow): Statement =>
  statement(build.insert(invitations).values(row));

/** True while the person who invited is an owner, or the API key that invited is valid. */
const INVITER_IS_OWNER = sql`((invitations.invited_by IS NULL OR EXISTS (
      SELECT 1 FROM memberships AS inviters
      WHERE inviters.account_id = invitations.account_id AND inviters.person_id = invitations.invited_by
        AND inviters.role = 'owner'
    )) AND (invitations.invited_by_key IS NULL OR EXISTS (
      SELECT 1 FROM api_keys WHERE api_keys.id = invitations.invited_by_key
    )))`;

/** True for an invitation, and for the first owner's code as long as no one can sign in: one row of an index says so. */
const IS_FIRST = sql`(invitations.token_hash NOT GLOB ${`${SETUP_PREFIX}*`} OR NOT EXISTS (
      SELECT 1 FROM memberships WHERE account_id > ''
    ))`;

const openOfAccount = (accountId: string | Placeholder, now: number | Placeholder) =>
  and(eq(invitations.accountId, accountId), gt(invitations.expiresAt, now), INVITER_IS_OWNER);

const invitationOrder = ordering({ table: invitations, by: {}, time: "createdAt", id: "id" });

export const positionOfInvitation = invitationOrder.positionOf;

const listed = openOfAccount(sql.placeholder("accountId"), sql.placeholder("now"));

const invitationPage = invitationOrder.pages(columnsOf(invitations), (_: "all", placed) =>
  and(listed, placed),
);

export const selectInvitations = ({ accountId }: Tenant, now: number, page: Page): Statement<InvitationRow> =>
  invitationPage("all", page, { accountId, now });

const invitationCount = prepared(() =>
  build
    .select({ total: count().as("total") })
    .from(invitations)
    .where(listed),
);

/** Counts the invitations on all pages of {@link selectInvitations}: the quota's counter has expired ones as well. */
export const countInvitations = ({ accountId }: Tenant, now: number, page: Page) =>
  countOnce(page, () => invitationCount({ accountId, now }));

export const deleteInvitation = (tenant: Tenant, id: string, now: number) =>
  statement(
    build
      .delete(invitations)
      .where(and(openOfAccount(tenant.accountId, now), eq(invitations.id, id)))
      .returning({ id: invitations.id }),
  );

interface OpenInvitation {
  readonly accountId: string;
  readonly organization: string;
  readonly role: MemberRole;
  /** The only address that can accept it; null for any. */
  readonly email: string | null;
  readonly invitedBy: string | null;
  /** Says whether the organization is being restored. */
  readonly accountTokenEpoch: number;
}

/** Across organizations: the hash determines the organization. */
export const selectOpenInvitation = (
  tokenHash: string,
  now: number,
): Statement<OpenInvitation> => statement`SELECT accounts.id AS accountId, accounts.name AS organization,
    invitations.role, invitations.email,
      people.name AS invitedBy, accounts.token_epoch AS accountTokenEpoch
    FROM invitations JOIN accounts ON accounts.id = invitations.account_id
    LEFT JOIN people ON people.id = invitations.invited_by
    WHERE invitations.token_hash = ${tokenHash} AND invitations.expires_at > ${now} AND ${INVITER_IS_OWNER}
      AND ${IS_FIRST}`;

/** Adds a member and uses up the invitation. A missing invitation gives NULL columns, which fails the whole batch. */
export const acceptInvitation = (
  tokenHash: string,
  personId: string,
  now: number,
): readonly [Statement, Statement] => {
  const invited = (column: SQL) =>
    sql`(SELECT ${column} FROM invitations WHERE token_hash = ${tokenHash} AND expires_at > ${now}
        AND ${INVITER_IS_OWNER} AND ${IS_FIRST})`;
  return [
    statement`INSERT INTO memberships (account_id, person_id, role, joined_at)
        VALUES (${invited(sql`account_id`)}, ${personId}, ${invited(sql`role`)}, ${now})`,
    statement(build.delete(invitations).where(eq(invitations.tokenHash, tokenHash))),
  ];
};

/** Deletes the invitations that a former owner of the organization made: they have ended. */
export const deleteInvitationsOf = ({ accountId }: Tenant, personId: string): Statement =>
  statement`DELETE FROM invitations WHERE account_id = ${accountId} AND invited_by = ${personId}
      AND NOT ${INVITER_IS_OWNER}`;
