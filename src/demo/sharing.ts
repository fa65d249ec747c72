/**
 * The access to a board, as its page shows and changes it. Like an application's back end, it decides who may share,
 * those who may edit everything, and uses only what the API offers. Guests never share: they know no address.
 */
import * as z from "zod";
import { updateRoomAccess } from "../features/access/commands.ts";
import { getRoomAccess } from "../features/access/queries.ts";
import { addMember, createGroup, removeMember } from "../features/identities/commands.ts";
import { createRoomLink, listRoomLinks, revokeRoomLink } from "../features/identities/links.ts";
import { getGroup, listMembers } from "../features/identities/queries.ts";
import { RoomLinkCreation } from "../features/identities/schema.ts";
import { getRoomRow } from "../features/rooms/queries.ts";
import { toPage } from "../http/lists.ts";
import { AppError } from "../platform/errors.ts";
import { Timestamp } from "../platform/time.ts";
import { ALL_RIGHTS, BAN, mayWrite, type Permission, PRESETS, rightsIn } from "../wire/permissions.ts";
import { BOARD, ownedPrefix } from "./boards.ts";
import { createOnce, type DemoContext, isHelper, isOwner, requireVisitor } from "./commands.ts";
import { selectIdentities } from "./store.ts";

const Level = z.enum(["none", "viewer", "commenter", "editor"]);
export type Level = z.infer<typeof Level>;

export const Sharing = z.object({
  everyone: Level.meta({ description: "What those may do who open the board's address." }),
  people: z.array(
    z.object({
      id: z.uuid(),
      name: z.string(),
      is_owner: z.boolean().meta({ description: "Has opened the board, and keeps all rights." }),
      level: Level.nullable().meta({ description: "Null without an entry of its own." }),
    }),
  ),
  groups: z.array(
    z.object({
      id: z.uuid(),
      name: z.string(),
      level: Level.nullable().meta({ description: "Null without an entry." }),
      members: z.array(z.uuid()),
    }),
  ),
  links: z.array(
    z.object({
      id: z.uuid(),
      level: Level,
      uses: z.int(),
      max_uses: z.int(),
      expires_at: Timestamp.nullable(),
    }),
  ),
});
export type Sharing = z.infer<typeof Sharing>;

export const SharingChange = z.discriminatedUnion("of", [
  z.strictObject({ of: z.literal("everyone"), level: Level }),
  z.strictObject({ of: z.literal("person"), id: z.uuid(), level: Level.nullable() }),
  z.strictObject({ of: z.literal("group"), id: z.uuid(), level: Level.exclude(["none"]).nullable() }),
  z.strictObject({ of: z.literal("member"), id: z.uuid(), groupId: z.uuid(), isMember: z.boolean() }),
]);
type SharingChange = z.infer<typeof SharingChange>;

export const GuestLinkCreation = RoomLinkCreation.extend({
  maxUses: z.int().min(1).max(BOARD.maxVisitors),
});
type GuestLinkCreation = z.infer<typeof GuestLinkCreation>;

/** The groups of each board by the ends of their custom IDs. They have no entry until someone gives them one. */
const GROUPS = { design: "Design team", review: "Reviewers" };
/** The group that begins with the visitor who has opened the board. */
const FIRST = "design";

const forbidden = (message: string) => new AppError("Access", "FORBIDDEN", message);

/** The visitor who makes the request. FORBIDDEN unless they may edit everything. */
async function requireSharer(ctx: DemoContext): Promise<string> {
  const { roomId, rights } = await requireVisitor(ctx);
  if (rights !== ALL_RIGHTS) throw forbidden("Only those who can edit this board can share it");
  return roomId;
}

/** The level that comes closest to the permissions. */
function levelOf(permissions: readonly (Permission | typeof BAN)[]): Level {
  const rights = rightsIn(permissions.filter((each) => each !== BAN));
  if (rights === 0) return "none";
  if (mayWrite(rights, "stores")) return "editor";
  return mayWrite(rights, "comments") ? "commenter" : "viewer";
}

const permissionsOf = (level: Level): Permission[] => (level === "none" ? [] : [...PRESETS[level]]);

/** As many entries, members or links as a board can have. */
const ALL = toPage({ limit: 4 * BOARD.maxVisitors, offset: 0 });

/** The group of a board; the first request creates it. */
async function groupOf(
  ctx: DemoContext,
  roomId: string,
  [key, name]: readonly [string, string],
  ownerId: string | undefined,
) {
  const customId = ownedPrefix(roomId) + key;
  const find = () =>
    getGroup(ctx, { customId }).catch((error: unknown) => {
      if (error instanceof AppError && error.code === "NOT_FOUND") return null;
      throw error;
    });
  const create = async () => {
    const created = await createGroup(ctx, { name, customId });
    if (key === FIRST && ownerId !== undefined) await addMember(ctx, created.group.id, ownerId);
    return created;
  };
  const { group } = (await find()) ?? (await createOnce(create, find));
  const { members } = await listMembers(ctx, group.id, ALL);
  return { ...group, members: members.map(({ identity }) => identity.id) };
}

async function readSharing(ctx: DemoContext, roomId: string): Promise<Sharing> {
  const [identities] = await ctx.db.run([selectIdentities(ctx, roomId)]);
  const ownerId = identities.find(({ customId }) => isOwner(customId))?.id;
  const [access, groups, { links }] = await Promise.all([
    getRoomAccess(ctx, roomId, ALL),
    Promise.all(Object.entries(GROUPS).map((entry) => groupOf(ctx, roomId, entry, ownerId))),
    listRoomLinks(ctx, roomId, ALL, ctx.now()),
  ]);
  const entries = [...access.identities_accesses, ...access.groups_accesses];
  const levels = new Map(entries.map(({ id, permissions }) => [id, levelOf(permissions)]));
  return {
    everyone: levelOf(access.default_accesses),
    people: identities
      .filter(({ customId }) => !isHelper(customId))
      .map(({ id, name, customId }) => ({
        id,
        name,
        is_owner: isOwner(customId),
        level: levels.get(id) ?? null,
      })),
    groups: groups.map(({ id, name, members }) => ({ id, name, level: levels.get(id) ?? null, members })),
    links: links.map(({ id, permissions, uses, max_uses, expires_at }) => ({
      id,
      level: levelOf(permissions),
      uses,
      max_uses,
      expires_at,
    })),
  };
}

/** The access to the visitor's board. FORBIDDEN for a visitor who may not share it. */
export async function getSharing(ctx: DemoContext): Promise<Sharing> {
  return readSharing(ctx, await requireSharer(ctx));
}

/** Changes one thing. NOT_FOUND for people and groups of other boards, FORBIDDEN for the one who opened the board. */
export async function changeSharing(ctx: DemoContext, change: SharingChange): Promise<Sharing> {
  const roomId = await requireSharer(ctx);
  if (change.of === "everyone")
    await updateRoomAccess(ctx, roomId, { defaultAccesses: permissionsOf(change.level) });
  else await changeEntry(ctx, roomId, change);
  return readSharing(ctx, roomId);
}

async function changeEntry(
  ctx: DemoContext,
  roomId: string,
  change: Exclude<SharingChange, { of: "everyone" }>,
): Promise<void> {
  const { people, groups } = await readSharing(ctx, roomId);
  const groupId = change.of === "member" ? change.groupId : change.of === "group" ? change.id : null;
  const group = groups.find(({ id }) => id === groupId);
  const person = people.find(({ id }) => id === change.id);
  if (groupId !== null && group === undefined) throw new AppError("Access", "NOT_FOUND", "Group not found");
  if (change.of !== "group" && person === undefined)
    throw new AppError("Access", "NOT_FOUND", "Person not found");
  if (change.of === "member") {
    if (change.isMember) await addMember(ctx, change.groupId, change.id);
    else if (group?.members.includes(change.id)) await removeMember(ctx, change.groupId, change.id);
    return;
  }
  if (person?.is_owner) throw forbidden("The person who opened the board can always edit it");
  const { id, level } = change;
  const permissions = level === null ? null : permissionsOf(level);
  await updateRoomAccess(
    ctx,
    roomId,
    change.of === "group"
      ? { groupsAccesses: { [id]: permissions } }
      : { identitiesAccesses: { [id]: level === "none" ? [BAN] : permissions } },
  );
}

/** Creates a link for guests, whose secret only this response has. FORBIDDEN when the board has no room for so many. */
export async function createGuestLink(ctx: DemoContext, creation: GuestLinkCreation) {
  const roomId = await requireSharer(ctx);
  const [room, { links }] = await Promise.all([
    getRoomRow(ctx, roomId),
    listRoomLinks(ctx, roomId, ALL, ctx.now()),
  ]);
  const promised = links.reduce((total, { max_uses, uses }) => total + max_uses - uses, 0);
  const left = BOARD.maxVisitors - room.totalUsersCreated - promised;
  if (creation.maxUses > left)
    throw forbidden(
      `This board has room for ${Math.max(left, 0)} more guests; revoke a link, or let in fewer`,
    );
  const { secret } = await createRoomLink(ctx, roomId, creation);
  return { secret, ...(await readSharing(ctx, roomId)) };
}

/** Revokes a link for guests, and ends the guests who have come by it. */
export async function revokeGuestLink(ctx: DemoContext, linkId: string): Promise<Sharing> {
  const roomId = await requireSharer(ctx);
  await revokeRoomLink(ctx, roomId, linkId);
  return readSharing(ctx, roomId);
}
