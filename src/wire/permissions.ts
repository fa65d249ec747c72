/** Permissions in a room: their names, and the one function that decides what an identity may do there. */
import * as z from "zod";
import type { OperationContext } from "../platform/d1/context.ts";
import { AppError, type Module } from "../platform/errors.ts";
import type { Role } from "./user.ts";

export const RESOURCES = ["presence", "broadcasts", "stores", "documents", "comments", "files"] as const;
export type Resource = (typeof RESOURCES)[number];

const LEVELS = ["read", "write"] as const;
const NAMES = ["*", ...RESOURCES].flatMap((resource) => LEVELS.map((level) => `${resource}:${level}`));

/** `*:write`, `stores:read` and the others; of a resource and of all, the resource's own counts. */
export const Permission = z.enum(NAMES as [`${Resource | "*"}:${(typeof LEVELS)[number]}`]).meta({
  id: "Permission",
  description:
    "`*` means every resource, and a resource's own permission goes before it. Any permission lets its holder enter the room and read all of it.",
  example: "*:write",
});
export type Permission = z.infer<typeof Permission>;

/** Of an identity alone: it may not enter, whatever its groups and the room's default allow. */
export const BAN = "none";

export const PRESETS = {
  viewer: ["*:read", "presence:write"],
  commenter: ["*:read", "presence:write", "comments:write"],
  editor: ["*:write"],
} as const satisfies Readonly<Record<string, readonly Permission[]>>;

/** A bit set: {@link READ}, and a bit for each resource that may be written. 0 means that one may not enter. */
export type Rights = number;

export const READ: Rights = 1;
export const ALL_RIGHTS: Rights = (1 << (RESOURCES.length + 1)) - 1;

const bitOf = (resource: Resource): Rights => 1 << (RESOURCES.indexOf(resource) + 1);

export const mayWrite = (rights: Rights, resource: Resource): boolean => (rights & bitOf(resource)) !== 0;

/** The refusal of a write to a caller who may not write the resource. */
export const missing = (module: Module, resource: Resource): AppError =>
  new AppError(module, "FORBIDDEN", `You may not do this: the permission ${resource}:write is missing`);

/** The refusal of a change, of something that is no resource, by a token that gives {@link READ} alone. */
export const READS_ONLY = "The token only reads: it may write nothing";

/** FORBIDDEN for a user of a room who may not write the resource there. */
export function requireWrite(
  { actor }: Pick<OperationContext, "actor">,
  resource: Resource,
  module: Module = "Rooms",
): void {
  if (actor.type === "user" && !mayWrite(actor.rights, resource)) throw missing(module, resource);
}

/** The entries of a room: its default, and those of the identity and its groups; null where there is no entry. */
export interface Access {
  readonly byDefault: readonly Permission[];
  readonly groups: readonly (readonly Permission[])[];
  readonly identity: readonly (Permission | typeof BAN)[] | null;
}

type Level = "none" | (typeof LEVELS)[number];

/** Where a resource's level comes from; null where nothing allows it. */
type AccessSource = "identity" | "groups" | "default" | null;

export interface DecidedLevel {
  readonly resource: Resource;
  readonly level: Level;
  readonly source: AccessSource;
  /** Of the source `groups`: the indexes of those whose entries give this level. */
  readonly groups?: readonly number[];
}

/** The level that an entry gives a resource; null if it says nothing about it. */
function levelIn(entry: readonly string[], resource: Resource): Exclude<Level, "none"> | null {
  for (const name of [resource, "*"])
    for (const level of ["write", "read"] as const) if (entry.includes(`${name}:${level}`)) return level;
  return null;
}

function decideLevel({ identity, groups, byDefault }: Access, resource: Resource): DecidedLevel {
  if (identity?.includes(BAN)) return { resource, level: "none", source: "identity" };
  const own = identity && levelIn(identity, resource);
  if (own) return { resource, level: own, source: "identity" };
  const levels = groups.map((entry) => levelIn(entry, resource));
  const highest = levels.includes("write") ? "write" : levels.find((level) => level !== null);
  if (highest) {
    const deciding = levels.flatMap((level, index) => (level === highest ? index : []));
    return { resource, level: highest, source: "groups", groups: deciding };
  }
  const open = levelIn(byDefault, resource);
  return open ? { resource, level: open, source: "default" } : { resource, level: "none", source: null };
}

/** The identity's own entry goes before its groups', of which the highest counts, and these before the default. */
export const decideAccess = (access: Access): DecidedLevel[] =>
  RESOURCES.map((resource) => decideLevel(access, resource));

/** Reading is all or nothing: an identity that may read or write anything reads the whole room. */
export function rightsOf(levels: readonly DecidedLevel[]): Rights {
  if (levels.every(({ level }) => level === "none")) return 0;
  const written = levels.filter(({ level }) => level === "write");
  return written.reduce((rights, { resource }) => rights | bitOf(resource), READ);
}

/** The rights that a list of permissions gives by itself. */
export const rightsIn = (permissions: readonly Permission[]): Rights =>
  rightsOf(decideAccess({ byDefault: permissions, groups: [], identity: null }));

/** The shortest list of permissions that gives these rights. */
export function permissionsOf(rights: Rights): Permission[] {
  if (rights === 0) return [];
  if (rights === ALL_RIGHTS) return ["*:write"];
  return [
    "*:read",
    ...RESOURCES.filter((each) => mayWrite(rights, each)).map((each) => `${each}:write` as const),
  ];
}

const ROLE_RIGHTS: Readonly<Record<Role, Rights>> = {
  viewer: rightsIn(PRESETS.viewer),
  editor: ALL_RIGHTS,
};

export const rightsOfRole = (role: Role): Rights => ROLE_RIGHTS[role];

/** The role that clients see who know no permissions: an editor may write stores. */
export const roleOf = (rights: Rights): Role => (mayWrite(rights, "stores") ? "editor" : "viewer");
