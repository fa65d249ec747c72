/** Permissions in a room: their names, and the one function that decides the access of an identity. */
import * as z from "zod";
import { AppError, type Module } from "../errors.ts";
import type { Role } from "./user.ts";

/** In the order of their bits in {@link Rights}, which rooms store. */
export const RESOURCES = [
  "presence",
  "broadcasts",
  "stores",
  "documents",
  "comments",
  "files",
  "streams",
] as const;
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

/** An entry that bans an identity, whatever its groups and the room's default allow. */
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

/** True for rights to write nothing: also for none at all, which a permission of a later version leaves. */
export const onlyRead = (rights: Rights): boolean => (rights & ~READ) === 0;

const bitOf = (resource: Resource): Rights => 1 << (RESOURCES.indexOf(resource) + 1);

export const mayWrite = (rights: Rights, resource: Resource): boolean => (rights & bitOf(resource)) !== 0;

/**
 * The right that an operation needs from a subject that may enter the room: none beyond that to read, a
 * permission to write, a token that does not only read to change the subject's own state in the room, or to be
 * the organization.
 */
export type Right = "read" | `${Resource}:write` | "own:write" | "organization";

/** The one who asks: the organization, itself or by a workflow's run, or a user of the room. */
export interface Subject {
  readonly isOrganization: boolean;
  readonly rights: Rights;
  /** The token gives {@link READ} alone: of its user, the room keeps nothing by it but up to where it has read. */
  readonly readsOnly: boolean;
}

/** The organization may do everything. */
export const ORGANIZATION_SUBJECT: Subject = { isOrganization: true, rights: ALL_RIGHTS, readsOnly: false };

const forbidden = (module: Module, why: string) => new AppError(module, "FORBIDDEN", why);

/** The refusal of a write to a subject who may not write the resource. */
export const missing = (module: Module, resource: string): AppError =>
  forbidden(module, `You may not do this: the permission ${resource}:write is missing`);

/** The refusal of an operation to a subject that lacks its right; null for one that has it. */
export function refusalOf(right: Right, subject: Subject, module: Module): AppError | null {
  if (subject.isOrganization || right === "read") return null;
  if (right === "organization")
    return forbidden("Auth", "A user's token cannot call this endpoint; use the organization's API key");
  if (right === "own:write")
    return subject.readsOnly ? forbidden(module, "The credential only reads: it may write nothing") : null;
  const resource = right.slice(0, -":write".length) as Resource;
  return mayWrite(subject.rights, resource) ? null : missing(module, resource);
}

/** The entries of a room: its default, and those of the identity and its groups; null where there is no entry. */
export interface Access {
  readonly byDefault: readonly Permission[];
  readonly groups: readonly (readonly Permission[])[];
  readonly identity: readonly (Permission | typeof BAN)[] | null;
}

type Level = "none" | (typeof LEVELS)[number];

/** Source of a resource's level; null where nothing allows it. */
type AccessSource = "identity" | "groups" | "default" | null;

export interface DecidedLevel {
  readonly resource: Resource;
  readonly level: Level;
  readonly source: AccessSource;
  /** Indexes of the groups whose entries give this level, for the source `groups`. */
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
