/** Identities and groups on the wire, and how they are presented. The SDK imports these types. */
import * as z from "zod";
import { CustomId, Name, WebUrl } from "../../platform/text.ts";
import { presentTime, Timestamp } from "../../platform/time.ts";
import { Email } from "../people/schema.ts";
import { type GroupRow, IDENTITY_KINDS, type IdentityRow } from "./table.ts";

const IdentityKind = z.enum(IDENTITY_KINDS);

const IDENTITY_EXAMPLE = {
  id: "7b0f2f64-8d3a-4f0d-9a55-0c1b9a3f6e11",
  account_id: "8c1a1f0e-5b7d-4c52-9d5e-2a7f3c9b6e40",
  kind: "person",
  name: "Ada",
  custom_id: "ada-1",
  created_at: "2026-01-31T09:30:00.000Z",
} as const;

export const Identity = z
  .object({
    id: z.uuid(),
    account_id: z.uuid(),
    kind: IdentityKind.meta({ description: "A guest came by the link of a room." }),
    name: z.string(),
    custom_id: z.string().optional().meta({ description: "Your own identifier. Absent if not set." }),
    profile_picture: z.string().optional().meta({ description: "Absent if not set." }),
    email: z.string().optional().meta({ description: "Only your back end sees it. Absent if not set." }),
    created_at: Timestamp,
  })
  .meta({ id: "Identity", example: IDENTITY_EXAMPLE });
export type Identity = z.infer<typeof Identity>;

const fields = {
  name: Name,
  customId: CustomId.meta({ description: "Your own identifier, unique among the identities." }),
  profilePicture: WebUrl.meta({ description: "An http or https URL." }),
  email: Email.meta({ description: "Only your back end sees it." }),
};

export const IdentityCreation = z
  .strictObject({
    name: fields.name,
    customId: fields.customId.optional(),
    kind: IdentityKind.exclude(["guest"]).default("person"),
    profilePicture: fields.profilePicture.optional(),
    email: fields.email.optional(),
  })
  .meta({ id: "IdentityCreation", example: { name: "Ada", customId: "ada-1" } });
export type IdentityCreation = z.infer<typeof IdentityCreation>;
export type IdentityInput = z.input<typeof IdentityCreation>;

/** Of an update: at least one field. */
const isChanging = (update: object): boolean => Object.keys(update).length > 0;

export const IdentityUpdate = z
  .strictObject({
    name: fields.name.optional(),
    customId: fields.customId.nullable().optional().meta({ description: "`null` removes it." }),
    profilePicture: fields.profilePicture.nullable().optional().meta({ description: "`null` removes it." }),
    email: fields.email.nullable().optional().meta({ description: "`null` removes it." }),
  })
  .refine(isChanging, "at least one of name, customId, profilePicture, email is required")
  .meta({ id: "IdentityUpdate", example: { name: "Ada L." }, minProperties: 1 });
export type IdentityUpdate = z.infer<typeof IdentityUpdate>;

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

const groupCustomId = CustomId.meta({ description: "Your own identifier, unique among the groups." });

export const GroupCreation = z
  .strictObject({ name: Name, customId: groupCustomId.optional() })
  .meta({ id: "GroupCreation", example: { name: "Designers" } });
export type GroupCreation = z.infer<typeof GroupCreation>;

export const GroupUpdate = z
  .strictObject({
    name: Name.optional(),
    customId: groupCustomId.nullable().optional().meta({ description: "`null` removes it." }),
  })
  .refine(isChanging, "at least one of name, customId is required")
  .meta({ id: "GroupUpdate", example: { name: "Design" }, minProperties: 1 });
export type GroupUpdate = z.infer<typeof GroupUpdate>;

export const GroupMember = z
  .object({
    identity: Identity.meta({ description: "The member." }),
    added_at: Timestamp.meta({ description: "When it was added to the group." }),
  })
  .meta({ id: "GroupMember", example: { identity: IDENTITY_EXAMPLE, added_at: "2026-01-31T09:31:00.000Z" } });
export type GroupMember = z.infer<typeof GroupMember>;

export const presentIdentity = (row: IdentityRow): Identity => ({
  id: row.id,
  account_id: row.accountId,
  kind: row.kind,
  name: row.name,
  ...(row.customId === null ? {} : { custom_id: row.customId }),
  ...(row.profilePicture === null ? {} : { profile_picture: row.profilePicture }),
  ...(row.email === null ? {} : { email: row.email }),
  created_at: presentTime(row.createdAt),
});

export const presentGroup = (row: GroupRow): Group => ({
  id: row.id,
  account_id: row.accountId,
  name: row.name,
  ...(row.customId === null ? {} : { custom_id: row.customId }),
  created_at: presentTime(row.createdAt),
});
