/** The queries about API keys. */

import { presentScroll } from "../../http/lists.ts";
import type { RequestContext } from "../../platform/d1/context.ts";
import type { Page } from "../../platform/d1/d1.ts";
import { presentKey } from "./present.ts";

import { countKeys, positionOf, selectKeys } from "./store.ts";

export async function listApiKeys(ctx: RequestContext, page: Page) {
  const [rows, counted] = await ctx.db.run([selectKeys(ctx, page), countKeys(ctx, page)]);
  return { api_keys: rows.map(presentKey), ...presentScroll(page, counted, rows, positionOf(page)) };
}
