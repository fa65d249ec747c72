/** API keys on the wire. */

import * as z from "zod";
import { Permission } from "../resources/permissions.ts";
import { RoomName } from "../resources/room-name.ts";
import { Name } from "../text.ts";
import { Timestamp } from "../time.ts";
import { narrowing } from "./access.ts";

export const ApiKey = z
  .object({
    id: z.uuid(),
    account_id: z.uuid(),
    name: z.string(),
    prefix: z.string().meta({ description: "The key's first characters." }),
    last_four: z.string().meta({ description: "The key's last four characters." }),
    created_at: Timestamp,
    last_used_at: Timestamp.nullable().meta({ description: "To the minute; null before the first use." }),
    created_by_key: z.uuid().nullable().meta({
      description: "The ID of the API key that made it, with which it ends; null if a person made it.",
    }),
    permissions: z.array(Permission).nullable().meta({
      description: "The most that it allows in a room; null for everything.",
    }),
    rooms: z.array(RoomName).nullable().meta({
      description:
        "The rooms that it opens: IDs, custom IDs, or the beginning of custom IDs before `*`; `{ customId }` for one that looks like another of these. Null for all.",
    }),
  })
  .meta({
    id: "ApiKey",
    example: {
      id: "0d8f5c3e-9f0a-4c57-8b39-1f6d2f0a7c55",
      account_id: "8c1a1f0e-5b7d-4c52-9d5e-2a7f3c9b6e40",
      name: "Back end",
      prefix: "atrium_sk_2Xv9",
      last_four: "k3Qz",
      created_at: "2026-01-31T09:00:00.000Z",
      last_used_at: null,
      created_by_key: null,
      permissions: null,
      rooms: null,
    },
  });
export type ApiKey = z.infer<typeof ApiKey>;

export const ApiKeyNarrowing = z.strictObject(narrowing("key", " in a room"));
export type ApiKeyNarrowing = z.input<typeof ApiKeyNarrowing>;

export const ApiKeyCreation = z
  .strictObject({ name: Name.default("API key"), ...ApiKeyNarrowing.shape })
  .meta({ id: "ApiKeyCreation", example: { name: "Back end" } });
export type ApiKeyCreation = z.infer<typeof ApiKeyCreation>;
