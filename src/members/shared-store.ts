/** The statements about memberships and invitations that other features include in their batches. */
import { eq } from "drizzle-orm";
import { build, type Statement, statement, type Tenant } from "../platform/d1.ts";
import { invitations, memberships } from "./table.ts";

/** Deletes all memberships of the organization. */
export const deleteMembershipsOf = ({ accountId }: Tenant): Statement<{ personId: string }> =>
  statement(
    build
      .delete(memberships)
      .where(eq(memberships.accountId, accountId))
      .returning({ personId: memberships.personId }),
  );

/** Deletes all invitations of the organization. */
export const deleteInvitationsOf = ({ accountId }: Tenant): Statement =>
  statement(build.delete(invitations).where(eq(invitations.accountId, accountId)));
