/** What requests for identities and groups send, and a group's members on the wire. The SDK imports these types. */
import * as z from "zod";
import { CustomId, Name, WebUrl } from "../../platform/text.ts";
import { Timestamp } from "../../platform/time.ts";
import { Identity } from "../../wire/identity.ts";
import { Email } from "../people/schema.ts";

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
    kind: z.enum(["person", "agent"]).default("person"),
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
  .meta({
    id: "GroupMember",
    example: { identity: Identity.meta()?.example, added_at: "2026-01-31T09:31:00.000Z" },
  });
export type GroupMember = z.infer<typeof GroupMember>;
