/** Bodies, lists and tokens of users on the wire. The SDK imports these types. */

import * as z from "zod";
import { Role, User } from "../resources/user.ts";
import { CustomId, Name, text, updateOf, WebUrl } from "../text.ts";
import { Timestamp } from "../time.ts";
import { TOKEN_LIFETIME_SECONDS } from "../token-seconds.ts";

export const InRoom = z.object({
  roomId: z.string().min(1).meta({ description: "The ID of the user's room." }),
});

export const Token = z.string().meta({
  description:
    "The user's JWT. It is always the same until it is ended, and expires 90 days after the user's creation or that ending. Signed-in members get one for an hour instead.",
  example: "eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl",
});

export const UserWithToken = User.extend({ token: Token }).meta({ id: "UserWithToken" });
export type UserWithToken = z.infer<typeof UserWithToken>;

export const ListedUser = User.extend({ token: Token.optional() }).meta({ id: "ListedUser" });
export type ListedUser = z.infer<typeof ListedUser>;

export const FoundUser = User.omit({ status: true, joined_at: true })
  .extend({ room_name: z.string().meta({ description: "The room's name.", example: "Planning" }) })
  .meta({ id: "FoundUser" });
export type FoundUser = z.infer<typeof FoundUser>;

export const UserCreation = z
  .strictObject({
    name: Name,
    roomId: text(1, 255).meta({ description: "The ID of the room that the user can join." }),
    profilePicture: WebUrl.optional().meta({ description: "An http or https URL." }),
    customId: CustomId.optional().meta({ description: "Unique in the room." }),
    role: Role.default("editor"),
    identityId: z.uuid().optional().meta({
      description: "The identity whose user this is. Its access to the room holds for the user as well.",
    }),
  })
  .meta({ id: "UserCreation", example: { name: "Ada", roomId: "3f0c8a52-6a0e-4f6b-9a53-0d1f6a4f2b11" } });
export type UserCreation = z.infer<typeof UserCreation>;
export type UserInput = z.input<typeof UserCreation>;

/** Body of `PATCH /users/:userId`. */
export const UserUpdate = updateOf({
  name: Name.optional(),
  profilePicture: WebUrl.nullable().optional().meta({ description: "`null` removes it." }),
  customId: CustomId.nullable().optional().meta({ description: "`null` removes it." }),
  role: Role.optional().meta({ description: "Holds at once, also on the user's open connections." }),
}).meta({ id: "UserUpdate", example: { name: "Ada L." } });
export type UserUpdate = z.infer<typeof UserUpdate>;
export type UserUpdateInput = z.input<typeof UserUpdate>;

export const TokenCreation = z
  .strictObject({
    ttl: z.int().min(TOKEN_LIFETIME_SECONDS.min).max(TOKEN_LIFETIME_SECONDS.max).meta({
      description: "How many seconds the token is valid.",
    }),
    role: Role.optional().meta({ description: "At most the user's own role, which is the default." }),
  })
  .meta({ id: "TokenCreation", example: { ttl: 900 } });
export type TokenCreation = z.infer<typeof TokenCreation>;

export const IssuedToken = z
  .object({
    token: z.string().meta({ example: "eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl" }),
    role: Role,
    expires_at: Timestamp,
  })
  .meta({ id: "IssuedToken" });
export type IssuedToken = z.infer<typeof IssuedToken>;
