/** The quotas of an organization: their use over REST, and their limits as the operator sets them. */
import { env } from "cloudflare:workers";
import type { Quota } from "@atrium/contract/rest/quotas.ts";
import type { Account } from "./api.ts";

export async function usesOf({ api }: Pick<Account, "api">): Promise<Record<string, number>> {
  const { data } = await api.get<{ quotas: Quota[] }>("/quotas");
  return Object.fromEntries(data.quotas.map(({ name, used }) => [name, used]));
}

export const setLimit = ({ id }: Pick<Account, "id">, quota: string, max: number | null) =>
  env.DB.prepare("UPDATE quotas SET max = ? WHERE account_id = ? AND quota = ?").bind(max, id, quota).run();
