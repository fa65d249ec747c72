/** The bodies of requests for identities and groups, and a group's members on the wire. The SDK imports these types. */

import * as z from "zod";
import { Identity } from "../resources/identity.ts";
import { Permission } from "../resources/permissions.ts";
import { Room } from "../resources/room.ts";
import { CustomId, Name, text, updateOf, WebUrl } from "../text.ts";
import { Timestamp, timeInput } from "../time.ts";
import { IDENTITY_TOKEN_SECONDS } from "../token-seconds.ts";
import { narrowing, permissionsOrPreset } from "./access.ts";
import { Email } from "./people.ts";

/** The groups that an identity can be in: a join reads them all. */
export const MAX_GROUPS = 200;

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

export const IdentityUpdate = updateOf({
  name: fields.name.optional(),
  customId: fields.customId.nullable().optional().meta({ description: "`null` removes it." }),
  profilePicture: fields.profilePicture.nullable().optional().meta({ description: "`null` removes it." }),
  email: fields.email.nullable().optional().meta({ description: "`null` removes it." }),
}).meta({ id: "IdentityUpdate", example: { name: "Ada L." } });
export type IdentityUpdate = z.infer<typeof IdentityUpdate>;

const groupCustomId = CustomId.meta({ description: "Your own identifier, unique among the groups." });

export const GroupCreation = z
  .strictObject({ name: Name, customId: groupCustomId.optional() })
  .meta({ id: "GroupCreation", example: { name: "Designers" } });
export type GroupCreation = z.infer<typeof GroupCreation>;

export const GroupUpdate = updateOf({
  name: Name.optional(),
  customId: groupCustomId.nullable().optional().meta({ description: "`null` removes it." }),
}).meta({ id: "GroupUpdate", example: { name: "Design" } });
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
/** Field of the response to a change of access. */
export const pendingRooms = {
  pending_rooms: z.int().meta({
    description: "The live rooms that the change has not reached yet; they follow within a minute.",
    example: 0,
  }),
};

const tokenTerms = {
  ttl: z
    .int()
    .min(IDENTITY_TOKEN_SECONDS.min)
    .max(IDENTITY_TOKEN_SECONDS.max)
    .default(IDENTITY_TOKEN_SECONDS.usual)
    .meta({ description: "How many seconds the token is valid." }),
  ...narrowing("token", ", whatever access the identity has"),
};

export const IdentityTokenCreation = z
  .strictObject(tokenTerms)
  .meta({ id: "IdentityTokenCreation", example: { ttl: 900 } });
export type IdentityTokenInput = z.input<typeof IdentityTokenCreation>;
export type IdentityTokenCreation = z.infer<typeof IdentityTokenCreation>;

export const Identification = z
  .strictObject({
    customId: fields.customId,
    name: fields.name,
    profilePicture: fields.profilePicture.nullable().optional().meta({ description: "`null` removes it." }),
    email: fields.email.nullable().optional().meta({ description: "`null` removes it." }),
    groups: z
      .array(text(1, 255))
      .max(MAX_GROUPS)
      .optional()
      .meta({
        description: "The identity is in these groups from now on, and in no other: their IDs or custom IDs.",
        example: ["designers"],
      }),
    ...tokenTerms,
  })
  .meta({ id: "Identification", example: { customId: "ada-1", name: "Ada" } });
export type Identification = z.infer<typeof Identification>;
export type IdentificationInput = z.input<typeof Identification>;

export const IdentityToken = z
  .object({
    token: z.string().meta({
      description: "Send it in `JOIN_ROOM`, to any room that it opens.",
      example: "eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl",
    }),
    expires_at: Timestamp,
  })
  .meta({ id: "IdentityToken" });
export type IdentityToken = z.infer<typeof IdentityToken>;

export const Identified = z.object({
  identity: Identity.meta({ description: "The identity as it is now." }),
  ...IdentityToken.shape,
  ...pendingRooms,
});
export type Identified = z.infer<typeof Identified>;

export const RoomOfIdentity = z
  .object({
    room: Room.meta({ description: "The room. Its stats may be two seconds old." }),
    user_id: z.uuid().meta({ description: "The identity's user in the room." }),
  })
  .meta({ id: "RoomOfIdentity" });
export type RoomOfIdentity = z.infer<typeof RoomOfIdentity>;

/** The guests that come by one link: revoking it ends them all at once. */
const MAX_USES = 10_000;

export const RoomLinkCreation = z
  .strictObject({
    permissions: permissionsOrPreset(1).meta({
      description: "What guests may do in the room: permissions, or the name of a preset.",
    }),
    expiresAt: timeInput("to").optional().meta({
      description:
        "When the link and its guests end: at least a minute from now. Absent: when the link is revoked.",
    }),
    maxUses: z.int().min(1).max(MAX_USES).default(MAX_USES).meta({
      description: "How many guests can come by the link.",
    }),
  })
  .meta({ id: "RoomLinkCreation", example: { permissions: "commenter", maxUses: 20 } });
export type RoomLinkCreation = z.infer<typeof RoomLinkCreation>;
export type RoomLinkInput = z.input<typeof RoomLinkCreation>;

export const RoomLink = z
  .object({
    id: z.uuid(),
    room_id: z.uuid().meta({ description: "The room that guests enter." }),
    permissions: z.array(Permission).meta({ description: "What guests may do there." }),
    created_at: Timestamp,
    expires_at: Timestamp.nullable().meta({
      description: "`null` for a link that lasts until it is revoked.",
    }),
    max_uses: z.int().meta({ description: "How many guests can come by it." }),
    uses: z.int().meta({ description: "How many guests have come by it." }),
  })
  .meta({
    id: "RoomLink",
    example: {
      id: "5a3f8f0e-91d4-4a0e-8a52-63d1c7b9f025",
      room_id: "0f8e7a52-1c4d-4b7f-9a37-2f5c3d6e8b19",
      permissions: ["*:read", "presence:write", "comments:write"],
      created_at: "2026-01-31T09:30:00.000Z",
      expires_at: null,
      max_uses: 20,
      uses: 3,
    },
  });
export type RoomLink = z.infer<typeof RoomLink>;

export const EXAMPLE_SECRET = "atrium_link_0MoJZBnYOnPqGZ6cPZM5sP0vQ9yJt3mWkE7hXrD2fLs1aBcDe";

export const LinkRedemption = z
  .strictObject({
    secret: text(1, 128).meta({ description: "The link's secret." }),
    name: fields.name.meta({ description: "What others in the room see." }),
    profilePicture: fields.profilePicture.optional(),
    token: text(1, 2_048).optional().meta({
      description:
        "An earlier token of a guest of this link, also one that has expired: the guest stays the same, and gets another token.",
    }),
  })
  .meta({
    id: "LinkRedemption",
    example: { secret: EXAMPLE_SECRET, name: "Ada" },
  });
export type LinkRedemption = z.infer<typeof LinkRedemption>;

export const RedeemedLink = z.object({
  identity: Identity.meta({ description: "The guest." }),
  ...IdentityToken.shape,
  room_id: z.uuid().meta({ description: "The room that the token opens." }),
});
export type RedeemedLink = z.infer<typeof RedeemedLink>;
