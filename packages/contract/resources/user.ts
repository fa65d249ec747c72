/** A user and its sessions on the wire, and how they are presented. The SDK imports these types. */
import * as z from "zod";
import { parseStored } from "../stored.ts";
import { fold } from "../text.ts";
import { presentNullableTime, presentTime, Timestamp } from "../time.ts";
import type { LastSeen, UserSnapshot } from "./snapshots.ts";

export const ROLES = ["editor", "viewer"] as const;
export const Role = z.enum(ROLES);
export type Role = z.infer<typeof Role>;

/** The kinds of users beside persons, as their identities say. A guest came by the link of a room. */
export const USER_KINDS = ["agent", "guest"] as const;
export type UserKind = (typeof USER_KINDS)[number];

/** The role that may do less. */
export const lowerRole = (a: Role, b: Role): Role => (a === "viewer" || b === "viewer" ? "viewer" : "editor");

export const User = z
  .object({
    id: z.uuid().meta({ example: "b5f1f7d2-0f5e-4d3c-8a57-6f2f0f3f9c21" }),
    room_id: z.uuid(),
    name: z.string().meta({ example: "Ada" }),
    profile_picture: z.string().optional().meta({
      description: "Absent if not set.",
      example: "https://example.com/ada.png",
    }),
    custom_id: z.string().optional().meta({
      description: "Your own identifier. Absent if not set.",
      example: "ada-1",
    }),
    kind: z
      .enum(USER_KINDS)
      .optional()
      .meta({ description: "The kind of the user's identity. Absent for a person." }),
    role: Role.meta({ description: "The highest role that the user can join with." }),
    status: z.enum(["online", "offline"]),
    created_at: Timestamp,
    joined_at: Timestamp.optional().meta({
      description: "The user's latest join. Absent before the first one.",
    }),
  })
  .meta({
    id: "User",
    example: {
      id: "b5f1f7d2-0f5e-4d3c-8a57-6f2f0f3f9c21",
      room_id: "3f0c8a52-6a0e-4f6b-9a53-0d1f6a4f2b11",
      name: "Ada",
      role: "editor",
      status: "offline",
      created_at: "2026-01-31T09:31:00.000Z",
    },
  });
export type User = z.infer<typeof User>;

/** A user's stay in a room: from the join of its first tab until the last one leaves. */
export const UserSession = z
  .object({
    id: z.uuid().meta({ example: "e2a64f0b-7c1d-4b9e-a3f5-94d80c6b1a72" }),
    user_id: z.uuid().meta({ example: "b5f1f7d2-0f5e-4d3c-8a57-6f2f0f3f9c21" }),
    room_id: z.uuid(),
    joined_at: Timestamp,
    left_at: Timestamp.nullable().meta({
      description: "`null` while the session is open.",
      example: "2026-01-31T10:15:00.000Z",
    }),
  })
  .meta({ id: "UserSession" });
export type UserSession = z.infer<typeof UserSession>;

export interface UserRecord {
  readonly id: string;
  readonly accountId: string;
  readonly roomId: string;
  readonly name: string;
  readonly profilePicture: string | null;
  readonly customId: string | null;
  /** Null for a person. */
  readonly kind: UserKind | null;
  readonly role: Role;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

export const parseUser = (json: string) =>
  parseStored<UserRecord>(json, { profilePicture: null, customId: null, kind: null });

export function presentUser(row: UserRecord, lastSeen?: LastSeen): User {
  return {
    id: row.id,
    room_id: row.roomId,
    name: row.name,
    ...(row.profilePicture === null ? {} : { profile_picture: row.profilePicture }),
    ...(row.customId === null ? {} : { custom_id: row.customId }),
    ...(row.kind === null ? {} : { kind: row.kind }),
    role: row.role,
    status: lastSeen?.online ? "online" : "offline",
    created_at: presentTime(row.createdAt),
    ...(lastSeen === undefined ? {} : { joined_at: presentTime(lastSeen.joinedAt) }),
  };
}

export const presentSession = (session: UserSnapshot["sessions"][number]): UserSession => ({
  id: session.id,
  user_id: session.userId,
  room_id: session.roomId,
  joined_at: presentTime(session.joinedAt),
  left_at: presentNullableTime(session.leftAt),
});

const NAME = "Deleted user";

/** The fields of a row in which an erased user can no longer be recognized. */
export const ERASED_FIELDS = {
  name: NAME,
  nameFolded: fold(NAME),
  profilePicture: null,
  customId: null,
} as const;
