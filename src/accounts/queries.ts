/** The queries about API keys. */
import type { RequestContext } from "../context/context.ts";
import { type PresentedPage, presentPage } from "../http/presented-page.ts";
import type { Page } from "../platform/d1.ts";
import { type ApiKey, presentKey } from "./schema.ts";
import { countKeys, selectKeys } from "./store.ts";

/** The organization's API keys, newest first unless the page says otherwise. */
export async function listApiKeys(
  ctx: RequestContext,
  page: Page,
): Promise<{ api_keys: ApiKey[] } & PresentedPage> {
  const [rows, counted] = await ctx.db.run([selectKeys(ctx, page), countKeys(ctx)]);
  return { api_keys: rows.map(presentKey), ...presentPage(page, counted) };
}
