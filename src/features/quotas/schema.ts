/** Quotas on the wire. */
import * as z from "zod";
import { QUOTAS, type QuotaUse } from "../../wire/quota.ts";

export const Quota = z
  .object({
    name: z.enum(QUOTAS).meta({
      description:
        "What is counted: rooms, users of all rooms, webhooks, workflows, members of the organization, invitations that wait to be accepted, API keys, bytes of stored files, bytes of the stores and documents of all rooms, users who are online in a room, events that wait for webhooks and workflows, their bytes, requests to the API in a second.",
    }),
    used: z.int().meta({ minimum: 0 }),
    limit: z.int().meta({ minimum: 0 }),
  })
  .meta({ id: "Quota", example: { name: "rooms", used: 12, limit: 100_000 } });
export type Quota = z.infer<typeof Quota>;

export const presentQuota = ({ quota, used, limit }: QuotaUse): Quota => ({ name: quota, used, limit });
