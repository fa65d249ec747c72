/** Visitors of the demo, each an identity of a board that the first one opens, their helpers and names, and the sharing and history of a board. */

import { AppError } from "@atrium/contract/errors.ts";
import { ALL_RIGHTS, mayWrite, PRESETS, rightsIn } from "@atrium/contract/resources/permissions.ts";
import { presentTime } from "@atrium/contract/time.ts";
import * as z from "zod";
import { updateRoomAccess } from "../features/access/commands.ts";
import { getRoomAccess } from "../features/access/queries.ts";
import { type IdentityContext, planUpdate } from "../features/identities/commands.ts";
import { identify } from "../features/identities/identify.ts";
import { createRoom, updateRoom } from "../features/rooms/commands.ts";
import type { RoomContext } from "../features/rooms/context.ts";
import { refusalInRoom } from "../features/rooms/limits.ts";
import { findRoomRow } from "../features/rooms/queries.ts";
import { createUser, updateUser } from "../features/users/commands.ts";
import type { UserContext } from "../features/users/context.ts";
import { selectUser } from "../features/users/statements.ts";
import { toPage } from "../http/lists.ts";
import { violatedConstraint } from "../platform/d1/d1.ts";
import { BOARD, BOARD_PREFIX, ownedPrefix, QUICKSTART_PREFIX } from "./boards.ts";
import { SEED } from "./seed.ts";
import { type BoardKind, countBoards } from "./store.ts";

/** The demo's context of a request: visitors become identities with a user in a room. */
export interface DemoContext extends RoomContext, UserContext, IdentityContext {}

/** The board is deleted no later than its last token ends. */
const VISITOR_TOKEN_SECONDS = BOARD.lifetimeMs / 1_000;

/** The names of a board's helpers by their custom IDs, by which pages recognize them. */
const HELPERS = { "helper-1": "Helper Pip", "helper-2": "Helper Juno" };
const HELPER_TOKEN_SECONDS = 60 * 60;

/** The length of the codes of boards: hexadecimal digits, so that no one guesses one. */
const CODE_LENGTH = 12;

/** When a board can be opened again: the cron trigger deletes some each minute. */
const RETRY_SECONDS = 60;

/** Visitors without a name get one such as "Merry Otter". */
const MOODS = ["Brave", "Calm", "Clever", "Gentle", "Happy", "Merry", "Quiet", "Sunny"];
const ANIMALS = ["Badger", "Finch", "Hare", "Heron", "Lynx", "Otter", "Puffin", "Wren"];

const oneOf = (names: readonly string[]): string => names[Math.floor(Math.random() * names.length)] ?? "";

/** The ways in which a visitor can ask for a board and a name; both are optional. */
interface Visit {
  /** The room of a board that others have opened, or that this visitor opens. */
  readonly room?: string | undefined;
  readonly name?: string | undefined;
}

/**
 * Creates an identity and its user of the board, with a token of a day; a new board without its code. NOT_FOUND when
 * `DEMO_ACCOUNT_ID` is not the id of an organization, FORBIDDEN when the board has all its visitors or lets no one in,
 * RATE_LIMITED when there are too many boards.
 */
export async function createVisitor(
  ctx: DemoContext,
  { room, name = `${oneOf(MOODS)} ${oneOf(ANIMALS)}` }: Visit,
): Promise<{ token: string; room: string }> {
  const code = room ?? ctx.newId().replaceAll("-", "").slice(0, CODE_LENGTH);
  const customId = `${BOARD_PREFIX}${code}`;
  const { roomId, isNew } = (await findBoard(ctx, customId)) ?? (await openBoard(ctx, customId, "board"));
  const { identity, token } = await identify(ctx, {
    customId: ownedPrefix(roomId) + ctx.newId(),
    name,
    ttl: VISITOR_TOKEN_SECONDS,
    rooms: [roomId],
  });
  if (isNew) {
    await seedBoard(ctx, roomId);
    await updateRoomAccess(ctx, roomId, { identitiesAccesses: { [identity.id]: [...PRESETS.editor] } });
  }
  await createUser(ctx, { name, roomId, role: "editor", identityId: identity.id }).catch(refuse);
  return { token, room: code };
}

/**
 * Creates a user of a quickstart's room, as its own server would, with a token; the first one opens the room, empty and
 * for an hour. Errors as {@link createVisitor}.
 */
export async function createReader(
  ctx: DemoContext,
  { room, name }: { readonly room: string; readonly name: string },
): Promise<{ token: string }> {
  const customId = QUICKSTART_PREFIX + room;
  const { roomId } = (await findBoard(ctx, customId)) ?? (await openBoard(ctx, customId, "quickstart"));
  const { token } = await createUser(ctx, { name, roomId, role: "editor" }).catch(refuse);
  return { token };
}

function refuse(error: unknown): never {
  const isFull = error instanceof AppError && error.code === "FORBIDDEN" && error.module === "Rooms";
  throw isFull ? full() : error;
}

const forbidden = (message: string) => new AppError("Users", "FORBIDDEN", message);

const full = () => forbidden("This board has as many visitors as it can have. Open one of your own.");

/** The user of a board who makes the request. FORBIDDEN for other credentials, and for users of other rooms, also those of quickstarts. */
async function requireUser(ctx: DemoContext) {
  const { actor } = ctx;
  const room = actor.type === "user" ? await findRoomRow(ctx, { id: actor.roomId }) : null;
  const { customId } = room ?? {};
  const isOfBoard = customId?.startsWith(BOARD_PREFIX) && !customId.startsWith(QUICKSTART_PREFIX);
  if (actor.type === "user" && isOfBoard) return actor;
  throw forbidden("Only users of the demo can do this; send the token of one");
}

/**
 * A token of each helper of the user's board, for an hour; the first request creates them. They may do what everyone
 * with the address may, and so the visitor learns of no way to do more. FORBIDDEN for other credentials.
 */
export async function admitHelpers(ctx: DemoContext): Promise<{ tokens: string[] }> {
  const { roomId } = await requireUser(ctx);
  const tokens: string[] = [];
  for (const [customId, name] of Object.entries(HELPERS)) {
    const terms = { ttl: HELPER_TOKEN_SECONDS, rooms: [roomId] };
    const { identity, token } = await identify(ctx, {
      customId: ownedPrefix(roomId) + customId,
      name,
      ...terms,
    });
    const user = { name, customId, roomId, role: "editor", identityId: identity.id } as const;
    const find = () => findUserId(ctx, roomId, customId);
    (await find()) ?? (await createOnce(async () => (await createUser(ctx, user)).user.id, find));
    tokens.push(token);
  }
  return { tokens };
}

/** The access of everyone with the address of a board; the visitor who has opened it keeps all rights. */
export const Level = z.enum(["none", "viewer", "commenter", "editor"]);
export type Level = z.infer<typeof Level>;

/** The user of a board who may edit everything. FORBIDDEN for all others. */
async function requireSharer(ctx: DemoContext) {
  const actor = await requireUser(ctx);
  if (actor.rights === ALL_RIGHTS) return actor;
  throw forbidden("Only those who can edit this board can share it");
}

const FIRST = toPage({ limit: 1, offset: 0 });

/** The level of everyone with the address of the user's board. FORBIDDEN for a user who may not share it. */
export async function getSharing(ctx: DemoContext): Promise<{ everyone: Level }> {
  const { roomId } = await requireSharer(ctx);
  const rights = rightsIn((await getRoomAccess(ctx, roomId, FIRST)).default_accesses);
  if (rights === 0) return { everyone: "none" };
  if (mayWrite(rights, "stores")) return { everyone: "editor" };
  return { everyone: mayWrite(rights, "comments") ? "commenter" : "viewer" };
}

/** Changes the level of everyone with the address, at once for those who are on the board. FORBIDDEN as {@link getSharing}. */
export async function changeSharing(ctx: DemoContext, everyone: Level): Promise<{ everyone: Level }> {
  const { roomId } = await requireSharer(ctx);
  const defaultAccesses = everyone === "none" ? [] : [...PRESETS[everyone]];
  await updateRoomAccess(ctx, roomId, { defaultAccesses });
  return { everyone };
}

/** Renames the user's board, for all who are on it. FORBIDDEN for those who may not edit its notes. */
export async function renameBoard(ctx: DemoContext, name: string): Promise<{ name: string }> {
  const { roomId, rights } = await requireUser(ctx);
  if (!mayWrite(rights, "stores")) throw forbidden("Only those who can edit this board can rename it");
  await updateRoom(ctx, roomId, { name });
  return { name };
}

/** Renames the visitor, for all who are on the board. FORBIDDEN for helpers, who keep their names, and other credentials. */
export async function renameVisitor(ctx: DemoContext, name: string): Promise<{ name: string }> {
  const { roomId, userId, identityId } = await requireUser(ctx);
  const [[user]] = await ctx.db.run([selectUser(ctx, roomId, { id: userId })]);
  if (user?.customId != null) throw forbidden("Helpers keep their names");
  // One batch: the identity and its user never have two names.
  await updateUser(ctx, roomId, userId, { name }, identityId ? planUpdate(ctx, identityId, { name }) : []);
  return { name };
}

/** The changes of one page of a board's history: all of them have a MiB. */
const CHANGES_PER_PAGE = 1_000;

/** A change of a store as the room logs it; `value` is null for a deletion. */
interface LoggedChange {
  readonly store: string;
  readonly key: string;
  readonly value: unknown;
  readonly by: string | null;
}

const parseChange = (data: string): LoggedChange => JSON.parse(data) as LoggedChange;

/** A page of the changes of the stores of the user's own board after a seq, oldest first. FORBIDDEN for other credentials. */
export async function listHistory(ctx: DemoContext, after: number) {
  const { roomId } = await requireUser(ctx);
  const limit = CHANGES_PER_PAGE;
  const page = await ctx.rooms.stub(roomId).listContentChanges(ctx.accountId, after, limit);
  const changes = page.changes.map(({ seq, at, data }) => {
    const { store, key, value, by } = parseChange(data);
    return { seq, at: presentTime(at), store, key, value, by };
  });
  return { changes, dropped_seq: page.droppedSeq, has_more: changes.length === limit };
}

async function findUserId(ctx: DemoContext, roomId: string, customId: string): Promise<string | null> {
  const [[user]] = await ctx.db.run([selectUser(ctx, roomId, { customId })]);
  return user?.id ?? null;
}

/** Creates what has this custom ID; of several requests at once, one creates it and the others find it. */
async function createOnce<Made>(
  create: () => Promise<Made>,
  find: () => Promise<Made | null>,
): Promise<Made> {
  try {
    return await create();
  } catch (error) {
    const made = error instanceof AppError && error.code === "CONFLICT" ? await find() : null;
    if (made === null) throw error;
    return made;
  }
}

interface Board {
  readonly roomId: string;
  /** True for the request that has opened it. */
  readonly isNew: boolean;
}

/** The board's room; null if there is none. FORBIDDEN when it has all its visitors, or does not let in everyone. */
async function findBoard(ctx: DemoContext, customId: string): Promise<Board | null> {
  const row = await findRoomRow(ctx, { customId });
  if (row === null) return null;
  if (refusalInRoom(row, "users", 1) !== null) throw full();
  const access = await getRoomAccess(ctx, row.id, FIRST);
  if (access.default_accesses.length === 0)
    throw forbidden("You have no access to this board. Ask the person who shared it.");
  return { roomId: row.id, isNew: false };
}

const OPENED = {
  board: { name: "Demo board", lifetimeMs: BOARD.lifetimeMs },
  quickstart: { name: "Quickstart", lifetimeMs: BOARD.quickstartMs },
} as const;

async function openBoard(ctx: DemoContext, customId: string, kind: BoardKind): Promise<Board> {
  const { name, lifetimeMs } = OPENED[kind];
  const [[counted]] = await ctx.db.run([countBoards(ctx, kind)]);
  if ((counted?.total ?? 0) >= BOARD.maxBoards) {
    const message = "The demo has as many boards as it can keep; try again in a minute";
    throw new AppError("Rooms", "RATE_LIMITED", message, RETRY_SECONDS);
  }
  const create = async (): Promise<Board> => {
    const { room } = await createRoom(
      ctx,
      { name, customId, expiresAt: ctx.now() + lifetimeMs, limits: BOARD.limits },
      PRESETS.editor,
    );
    return { roomId: room.id, isNew: true };
  };
  return createOnce(create, () => findBoard(ctx, customId)).catch((error: unknown) => {
    if (violatedConstraint(error) === "foreign") {
      throw new AppError(
        "Accounts",
        "NOT_FOUND",
        "DEMO_ACCOUNT_ID is not the id of an organization; set it to one of this service",
      );
    }
    throw error;
  });
}

/** Has the room keep its history, and puts the first notes and drawings on it. A board without them is as good. */
async function seedBoard({ rooms, accountId, log }: DemoContext, roomId: string): Promise<void> {
  await rooms
    .stub(roomId)
    .keepEveryChange(accountId)
    .catch((error: unknown) => log("A board of the demo keeps no history", error));
  const operations = Object.entries(SEED).flatMap(([store, entries]) =>
    Object.entries(entries).map(([key, value]) => ({ type: "STORE_SET", store, key, value })),
  );
  const batch = { type: "STORE_BATCH", requestId: "seed", data: { operations, atomic: true } };
  const [response] = await rooms
    .writeStores(roomId, accountId, null, [batch])
    .catch((error: unknown) => [{ success: false, error }]);
  if (response?.success !== true) log("A board of the demo is empty", response?.error);
}
