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

/** From the lowest to the highest, which contains the others. Only documents can be suggested for. */
const LEVELS = ["read", "suggest", "write"] as const;
type Name = `${Resource | "*"}:${"read" | "write"}` | "documents:suggest";
const NAMES = ["*", ...RESOURCES].flatMap((resource) =>
  LEVELS.filter((level) => level !== "suggest" || resource === "documents").map(
    (level) => `${resource}:${level}` as Name,
  ),
);

/** `*:write`, `stores:read` and the others; of a resource and of all, the resource's own counts. */
export const Permission = z.enum(NAMES as [Name]).meta({
  id: "Permission",
  description:
    "`*` means every resource, and a resource's own permission goes before it. Any permission lets its holder enter the room and read all of it. `documents:suggest` lets it propose changes of documents, and `documents:write` accept them.",
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

/**
 * A bit set: {@link READ}, a bit for each resource that may be written, and {@link SUGGEST}. 0 means that one may not
 * enter.
 */
export type Rights = number;

export const READ: Rights = 1;
/** Follows the bits of the seven resources: a further resource has a bit above it. */
const SUGGEST: Rights = 1 << 8;

/** True for rights to write nothing: also for none at all, which a permission of a later version leaves. */
export const onlyRead = (rights: Rights): boolean => (rights & ~READ) === 0;

const bitOf = (resource: Resource): Rights => 1 << (RESOURCES.indexOf(resource) + 1);

export const ALL_RIGHTS: Rights = RESOURCES.reduce((rights, each) => rights | bitOf(each), READ | SUGGEST);

export const mayWrite = (rights: Rights, resource: Resource): boolean => (rights & bitOf(resource)) !== 0;

/** The right to write documents has that to suggest, also where the version before has stored it. */
export const maySuggest = (rights: Rights): boolean => (rights & (SUGGEST | bitOf("documents"))) !== 0;

/**
 * The right that an operation needs from a subject that may enter the room: none beyond that to read, a
 * permission to write or to suggest, a token that does not only read to change the subject's own state in the room,
 * or to be the organization.
 */
export type Right = "read" | `${Resource}:write` | "documents:suggest" | "own:write" | "organization";

/** True for a right that a room's access gives. */
export const isOfRooms = (right: string): right is Exclude<Right, "organization"> =>
  /^read$|:(suggest|write)$/.test(right);

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

/** The refusal of a write to a subject without the permission. */
export const missing = (module: Module, permission: Permission): AppError =>
  forbidden(module, `You may not do this: the permission ${permission} is missing`);

const has = (rights: Rights, permission: `${Resource}:write` | "documents:suggest"): boolean =>
  permission === "documents:suggest"
    ? maySuggest(rights)
    : mayWrite(rights, permission.slice(0, -":write".length) as Resource);

/** The refusal of an operation to a subject that lacks its right; null for one that has it. */
export function refusalOf(right: Right, subject: Subject, module: Module): AppError | null {
  if (subject.isOrganization || right === "read") return null;
  if (right === "organization")
    return forbidden("Auth", "A user's token cannot call this endpoint; use the organization's API key");
  if (right === "own:write")
    return subject.readsOnly ? forbidden(module, "The credential only reads: it may write nothing") : null;
  return has(subject.rights, right) ? null : missing(module, right);
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
  const levelOf = (name: string) => LEVELS.findLast((level) => entry.includes(`${name}:${level}`));
  return levelOf(resource) ?? levelOf("*") ?? null;
}

function decideLevel({ identity, groups, byDefault }: Access, resource: Resource): DecidedLevel {
  if (identity?.includes(BAN)) return { resource, level: "none", source: "identity" };
  const own = identity && levelIn(identity, resource);
  if (own) return { resource, level: own, source: "identity" };
  const levels = groups.map((entry) => levelIn(entry, resource));
  const highest = LEVELS.findLast((level) => levels.includes(level));
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
  return levels.reduce((rights, { resource, level }) => rights | bitsOf(resource, level), READ);
}

/** The right to write documents has that to suggest: credentials are narrowed bit by bit. */
function bitsOf(resource: Resource, level: Level): Rights {
  const suggested = resource === "documents" && (level === "suggest" || level === "write") ? SUGGEST : 0;
  return suggested | (level === "write" ? bitOf(resource) : 0);
}

/** The rights that a list of permissions gives by itself. */
export const rightsIn = (permissions: readonly Permission[]): Rights =>
  rightsOf(decideAccess({ byDefault: permissions, groups: [], identity: null }));

function permissionsTo(resource: Resource, rights: Rights): Permission[] {
  if (mayWrite(rights, resource)) return [`${resource}:write`];
  return resource === "documents" && maySuggest(rights) ? ["documents:suggest"] : [];
}

/** The shortest list of permissions that gives these rights. */
export function permissionsOf(rights: Rights): Permission[] {
  if (rights === 0) return [];
  if (RESOURCES.every((each) => mayWrite(rights, each))) return ["*:write"];
  return ["*:read", ...RESOURCES.flatMap((each) => permissionsTo(each, rights))];
}

const ROLE_RIGHTS: Readonly<Record<Role, Rights>> = {
  viewer: rightsIn(PRESETS.viewer),
  editor: ALL_RIGHTS,
};

export const rightsOfRole = (role: Role): Rights => ROLE_RIGHTS[role];

/** The role that clients see who know no permissions: an editor may write stores. */
export const roleOf = (rights: Rights): Role => (mayWrite(rights, "stores") ? "editor" : "viewer");
