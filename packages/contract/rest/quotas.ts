/** Quotas on the wire. */

import * as z from "zod";
import { QUOTA_ENTRIES, QUOTAS, type QuotaUse } from "../resources/quota.ts";

export const Quota = z
  .object({
    name: z.enum(QUOTAS).meta({
      description: `What is counted: ${QUOTAS.map((quota) => QUOTA_ENTRIES[quota].counted).join(", ")}.`,
    }),
    used: z.int().meta({ minimum: 0 }),
    limit: z.int().meta({ minimum: 0 }),
  })
  .meta({ id: "Quota", example: { name: "rooms", used: 12, limit: 100_000 } });
export type Quota = z.infer<typeof Quota>;

export const presentQuota = ({ quota, used, limit }: QuotaUse): Quota => ({ name: quota, used, limit });
