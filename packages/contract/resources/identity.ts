/** Identities and groups on the wire, and how they are presented. The SDK imports these types. */
import * as z from "zod";
import { presentTime, Timestamp } from "../time.ts";
import { ERASED_FIELDS, USER_KINDS } from "./user.ts";

export const IDENTITY_KINDS = ["person", ...USER_KINDS] as const;
export type IdentityKind = (typeof IDENTITY_KINDS)[number];

export const Identity = z
  .object({
    id: z.uuid(),
    account_id: z.uuid(),
    kind: z.enum(IDENTITY_KINDS).meta({ description: "A guest came by the link of a room." }),
    name: z.string(),
    custom_id: z.string().optional().meta({ description: "Your own identifier. Absent if not set." }),
    profile_picture: z.string().optional().meta({ description: "Absent if not set." }),
    email: z.string().optional().meta({ description: "Only your back end sees it. Absent if not set." }),
    created_at: Timestamp,
  })
  .meta({
    id: "Identity",
    example: {
      id: "7b0f2f64-8d3a-4f0d-9a55-0c1b9a3f6e11",
      account_id: "8c1a1f0e-5b7d-4c52-9d5e-2a7f3c9b6e40",
      kind: "person",
      name: "Ada",
      custom_id: "ada-1",
      created_at: "2026-01-31T09:30:00.000Z",
    },
  });
export type Identity = z.infer<typeof Identity>;

export const Group = z
  .object({
    id: z.uuid(),
    account_id: z.uuid(),
    name: z.string(),
    custom_id: z.string().optional().meta({ description: "Your own identifier. Absent if not set." }),
    created_at: Timestamp,
  })
  .meta({
    id: "Group",
    example: {
      id: "2f6d1c8a-4b0e-4a39-8f7c-5d9e0b1a3c77",
      account_id: "8c1a1f0e-5b7d-4c52-9d5e-2a7f3c9b6e40",
      name: "Designers",
      created_at: "2026-01-31T09:30:00.000Z",
    },
  });
export type Group = z.infer<typeof Group>;

export interface GroupRecord {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly customId: string | null;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

export interface IdentityRecord extends GroupRecord {
  readonly kind: Identity["kind"];
  readonly profilePicture: string | null;
  readonly email: string | null;
}

export const presentIdentity = (row: IdentityRecord): Identity => ({
  id: row.id,
  account_id: row.accountId,
  kind: row.kind,
  name: row.name,
  ...(row.customId === null ? {} : { custom_id: row.customId }),
  ...(row.profilePicture === null ? {} : { profile_picture: row.profilePicture }),
  ...(row.email === null ? {} : { email: row.email }),
  created_at: presentTime(row.createdAt),
});

export const presentGroup = (row: GroupRecord): Group => ({
  id: row.id,
  account_id: row.accountId,
  name: row.name,
  ...(row.customId === null ? {} : { custom_id: row.customId }),
  created_at: presentTime(row.createdAt),
});

/** The fields of a row in which a deleted identity can no longer be recognized. */
export const ERASED_IDENTITY = { ...ERASED_FIELDS, email: null } as const;
