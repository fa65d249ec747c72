/** Commands on an organization as a whole: renaming and deletion. */

import { AppError, notFound } from "@atrium/contract/errors.ts";
import type { OrganizationDeletion, OrganizationUpdate } from "@atrium/contract/rest/organizations.ts";
import { evictKey } from "../accounts/verify-key.ts";
import { deleteMailsOf } from "../mail/statements.ts";
import { evictMembersOf } from "../people/sessions.ts";
import { endAllTokens } from "../users/commands.ts";
import { continueDeletion, type OrganizationContext } from "./deletion.ts";
import { presentOrganization } from "./present.ts";
import { getOrganization } from "./queries.ts";
import { deleteInvitationsOf, deleteKeysOf, deleteMembershipsOf } from "./statements.ts";
import { markDeleted, updateOrganization as updateRow } from "./store.ts";

export async function updateOrganization(ctx: OrganizationContext, { name }: OrganizationUpdate) {
  const [[row]] = await ctx.commit([updateRow(ctx, name)]);
  if (row === undefined) throw notFound("Accounts", "Organization");
  return { organization: presentOrganization(row) };
}

/**
 * Ends every access, then deletes the organization's data in chunks. VALIDATION_ERROR unless `confirm` is its
 * name.
 */
export async function deleteOrganization(ctx: OrganizationContext, { confirm }: OrganizationDeletion) {
  const { organization } = await getOrganization(ctx);
  if (confirm !== organization.name) {
    const why = "confirm: this is not the organization's name; type it exactly as it is, in the same case";
    throw new AppError("Accounts", "VALIDATION_ERROR", why);
  }
  const { db } = ctx.openTenant(ctx.accountId);
  await endAllTokens({ ...ctx, db, commit: (statements) => db.run(statements) });
  const [, keys] = await ctx.commit([
    markDeleted(ctx, ctx.now()),
    deleteKeysOf(ctx),
    deleteMembershipsOf(ctx),
    deleteInvitationsOf(ctx),
    deleteMailsOf(ctx),
  ]);
  for (const { hash } of keys) evictKey(hash);
  evictMembersOf(ctx.accountId);
  ctx.defer(continueDeletion(ctx, ctx.accountId, ctx.now()));
  return {};
}
