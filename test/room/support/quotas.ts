/** A quota of a room's organization, as the database has it. */
import { env } from "cloudflare:workers";
import type { TestRoom } from "./rooms.ts";

export const quotaOf = (quota: "online_users" | "store_bytes") => ({
  setLimit: ({ accountId }: TestRoom, max: number) =>
    env.DB.prepare("UPDATE quotas SET max = ? WHERE account_id = ? AND quota = ?")
      .bind(max, accountId, quota)
      .run(),
  used: ({ accountId }: TestRoom) =>
    env.DB.prepare("SELECT used FROM quotas WHERE account_id = ? AND quota = ?")
      .bind(accountId, quota)
      .first<number>("used"),
});
