/** Quotas on the wire. */
import * as z from "zod";
import { COUNTED, QUOTAS, type QuotaUse } from "../../wire/quota.ts";

export const Quota = z
  .object({
    name: z.enum(QUOTAS).meta({
      description: `What is counted: ${Object.values(COUNTED).join(", ")}.`,
    }),
    used: z.int().meta({ minimum: 0 }),
    limit: z.int().meta({ minimum: 0 }),
  })
  .meta({ id: "Quota", example: { name: "rooms", used: 12, limit: 100_000 } });
export type Quota = z.infer<typeof Quota>;

export const presentQuota = ({ quota, used, limit }: QuotaUse): Quota => ({ name: quota, used, limit });
