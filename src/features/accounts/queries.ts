/** The queries about API keys. */

import { type PresentedScroll, presentScroll } from "../../http/lists.ts";
import type { RequestContext } from "../../platform/d1/context.ts";
import type { Page } from "../../platform/d1/d1.ts";
import { type ApiKey, presentKey } from "./schema.ts";
import { countKeys, positionOf, selectKeys } from "./store.ts";

/** The organization's API keys, newest first unless the page says otherwise. */
export async function listApiKeys(
  ctx: RequestContext,
  page: Page,
): Promise<{ api_keys: ApiKey[] } & PresentedScroll> {
  const [rows, counted] = await ctx.db.run([selectKeys(ctx, page), countKeys(ctx, page)]);
  return { api_keys: rows.map(presentKey), ...presentScroll(page, counted, rows, positionOf(page)) };
}
