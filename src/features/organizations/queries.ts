/** The query about an organization itself. */

import { notFound } from "@atrium/contract/errors.ts";
import type { RequestContext } from "../../platform/d1/context.ts";
import { presentOrganization } from "./present.ts";
import { selectOrganization } from "./store.ts";

/** NOT_FOUND once it is deleted. */
export async function getOrganization(ctx: RequestContext) {
  const [[row]] = await ctx.db.run([selectOrganization(ctx)]);
  if (row === undefined) throw notFound("Accounts", "Organization");
  return { organization: presentOrganization(row) };
}
