/** The statements about memberships and invitations that other features include in their batches. */
import { eq } from "drizzle-orm";
import { build, type Statement, statement, type Tenant } from "../../platform/d1/d1.ts";
import { apiKeys } from "../accounts/table.ts";
import { invitations } from "../members/table.ts";

const MEMBERSHIPS_AT_ONCE = 1_000;

/** Deletes up to `limit` memberships, those of owners first. A deleted organization gives no access by the others. */
export const deleteMembershipsOf = (
  { accountId }: Tenant,
  limit: number = MEMBERSHIPS_AT_ONCE,
): Statement<{ deleted: number }> => ({
  sql: `DELETE FROM memberships WHERE rowid IN (
          SELECT rowid FROM memberships WHERE account_id = ? ORDER BY role DESC, person_id DESC LIMIT ?
        ) RETURNING 1 AS deleted`,
  params: [accountId, limit],
});

/** Deletes all invitations of the organization: as many as its quota has allowed. */
export const deleteInvitationsOf = ({ accountId }: Tenant): Statement =>
  statement(build.delete(invitations).where(eq(invitations.accountId, accountId)));

/** Deletes all keys of the organization. */
export const deleteKeysOf = ({ accountId }: Tenant): Statement<{ hash: string }> =>
  statement(build.delete(apiKeys).where(eq(apiKeys.accountId, accountId)).returning({ hash: apiKeys.hash }));
