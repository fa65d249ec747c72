/** The query about an organization itself. */
import type { RequestContext } from "../../platform/d1/context.ts";
import { notFound } from "../../platform/errors.ts";
import { presentOrganization } from "./schema.ts";
import { selectOrganization } from "./store.ts";

/** NOT_FOUND once it is deleted. */
export async function getOrganization(ctx: RequestContext) {
  const [[row]] = await ctx.db.run([selectOrganization(ctx)]);
  if (row === undefined) throw notFound("Accounts", "Organization");
  return { organization: presentOrganization(row) };
}
