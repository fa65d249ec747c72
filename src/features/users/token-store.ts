/** The statements that end tokens. */
import { eq } from "drizzle-orm";
import { build, nextVersion, type Statement, statement, type Tenant } from "../../platform/d1/d1.ts";
import { accounts } from "../accounts/organization/table.ts";
import { whereIs } from "./store.ts";
import { users } from "./table.ts";

/** Begins a new token epoch of a user. Returns its ID if it exists. */
export const endTokensOfUser = (
  tenant: Tenant,
  roomId: string,
  userId: string,
  now: number,
): Statement<{ id: string }> =>
  statement(
    build
      .update(users)
      .set({ tokenEpoch: nextVersion(users.tokenEpoch, now) })
      .where(whereIs(tenant, roomId, userId))
      .returning({ id: users.id }),
  );

/** Begins a new token epoch of an organization. */
export const endTokensOfAccount = ({ accountId }: Tenant, now: number): Statement =>
  statement(
    build
      .update(accounts)
      .set({ tokenEpoch: nextVersion(accounts.tokenEpoch, now) })
      .where(eq(accounts.id, accountId)),
  );
