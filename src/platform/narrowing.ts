/** The narrowing of a credential, a token of an identity or an API key, to rooms and permissions. */
import { AppError } from "@atrium/contract/errors.ts";
import { ALL_RIGHTS, Permission, type Rights, rightsIn } from "@atrium/contract/resources/permissions.ts";
import { RoomName } from "@atrium/contract/resources/room-name.ts";
import * as z from "zod";

const ROOM_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A room as callers name it for a credential. */
export type RoomNaming = RoomName | { readonly customIdPrefix: string };

/** The IDs that rooms must have for these names to mean them. */
export const idsIn = (names: readonly RoomNaming[]): string[] =>
  names.filter((name) => typeof name === "string" && ROOM_ID.test(name)) as string[];

/**
 * The rooms of a credential from those that its request names, of which `found` exist by these IDs. Another text in the form
 * of an ID is a custom ID.
 */
export function roomNamesOf(
  names: readonly RoomNaming[] | undefined,
  found: readonly { readonly id: string }[],
): RoomName[] | undefined {
  const ids = found.map(({ id }) => id);
  return names?.map((name) => roomNameOf(name, ids));
}

function roomNameOf(name: RoomNaming, ids: readonly string[]): RoomName {
  if (typeof name === "string") return ROOM_ID.test(name) && !ids.includes(name) ? { customId: name } : name;
  if ("customIdPrefix" in name) return `${name.customIdPrefix}*`;
  return ROOM_ID.test(name.customId) || name.customId.endsWith("*") ? name : name.customId;
}

function isNameOf(name: RoomName, { id, customId }: Named): boolean {
  if (typeof name === "object") return name.customId === customId;
  if (ROOM_ID.test(name)) return name === id;
  return name.endsWith("*") ? customId?.startsWith(name.slice(0, -1)) === true : name === customId;
}

interface Named {
  readonly id: string;
  readonly customId: string | null;
}

export const Narrowing = z.object({
  /** The rooms that the credential opens. Absent for all. */
  rooms: z.array(RoomName).optional(),
  /** The most that it allows. Absent for everything. */
  permissions: z.array(Permission).optional(),
});
export type Narrowing = z.infer<typeof Narrowing>;

/** The narrowing of a row, as JSON; null for all. */
interface StoredNarrowing {
  readonly permissions: string | null;
  readonly rooms: string | null;
}

/** The narrowing of a stored key; empty for one that may do everything. Permissions of a later version let it write nothing. */
export const narrowingOf = ({ permissions, rooms }: StoredNarrowing): Narrowing =>
  Narrowing.parse({
    ...(permissions !== null && {
      permissions: (JSON.parse(permissions) as unknown[]).filter(
        (each) => Permission.safeParse(each).success,
      ),
    }),
    ...(rooms !== null && { rooms: JSON.parse(rooms) }),
  });

/** {@link narrowingOf} in reverse. */
export const storedNarrowing = ({ permissions, rooms }: Narrowing): StoredNarrowing => ({
  permissions: permissions === undefined ? null : JSON.stringify(permissions),
  rooms: rooms === undefined ? null : JSON.stringify(rooms),
});

/** False for a credential that allows everything. */
export const isNarrowed = ({ rooms, permissions }: Narrowing): boolean =>
  rooms !== undefined || permissions !== undefined;

/** The rest of a credential's power: the rooms that it names, absent for all, and the most that it allows there. */
export interface Narrowed {
  readonly rooms?: readonly RoomName[];
  /** Rights as a bit set. */
  readonly rights: Rights;
}

export const narrowedBy = (narrowing: Narrowing): Narrowed => ({
  ...(narrowing.rooms && { rooms: narrowing.rooms }),
  rights: limitOf(narrowing),
});

interface NamingRooms {
  readonly rooms?: readonly RoomName[] | undefined;
}

/** True when the credential opens the room. */
export const opensRoom = ({ rooms }: NamingRooms, room: Named): boolean =>
  rooms === undefined || rooms.some((name) => isNameOf(name, room));

/** FORBIDDEN unless the credential opens the room. */
export function requireOpened(narrowing: NamingRooms, room: Named, credential: "token" | "API key"): void {
  if (!opensRoom(narrowing, room))
    throw new AppError("Auth", "FORBIDDEN", `The ${credential} is for another room`);
}

/** The most that the credential allows in a room. */
export const limitOf = ({ permissions }: Pick<Narrowing, "permissions">): Rights =>
  permissions === undefined ? ALL_RIGHTS : rightsIn(permissions);
