/** What can be asked about an organization's API keys. */
import type { Ctx } from "../context/context.ts";
import { type PageShown, pageShown } from "../http/paginate.ts";
import type { Page } from "../platform/d1.ts";
import { type ApiKey, presentKey } from "./schema.ts";
import { countKeys, selectKeys } from "./store.ts";

/** The organization's keys, newest first. */
export async function listApiKeys(ctx: Ctx, page: Page): Promise<{ api_keys: ApiKey[] } & PageShown> {
  const [rows, counted] = await ctx.db.run([selectKeys(ctx, page), countKeys(ctx)]);
  return { api_keys: rows.map(presentKey), ...pageShown(page, counted) };
}
