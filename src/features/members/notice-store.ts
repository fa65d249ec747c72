/** The only SQL about which members want notices by mail. */
import { build, columnsOf, type Statement, statement, type Tenant } from "../../platform/d1/d1.ts";
import { whereIs } from "./store.ts";
import { memberships } from "./table.ts";

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
