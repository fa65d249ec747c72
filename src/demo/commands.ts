/** Creates visitors of the demo, each a user of a board, which the first one opens, renews their tokens, and lists their board's history. */

import { createRoom } from "../features/rooms/commands.ts";
import type { RoomContext } from "../features/rooms/context.ts";
import { findRoomRow } from "../features/rooms/queries.ts";
import { createToken, createUser } from "../features/users/commands.ts";
import type { UserContext } from "../features/users/context.ts";
import { selectUser } from "../features/users/statements.ts";
import { violatedConstraint } from "../platform/d1/d1.ts";
import { AppError } from "../platform/errors.ts";
import { presentTime } from "../platform/time.ts";
import type { Comment } from "../wire/comment.ts";
import { roleOf } from "../wire/permissions.ts";
import { BOARD, BOARD_PREFIX } from "./boards.ts";
import { countBoards } from "./store.ts";

/** The first content of a board: entries of stores, as the page reads them. */
const note = (x: number, y: number, text: string) => ({ x, y, text, picture: "" });
const shape = (kind: string, tint: number, ...points: number[]) => ({ kind, tint, points });

/** By store and key. The board's middle is 0, 0; keys sort in the order in which the entries are drawn. */
export const SEED = {
  notes: {
    "0-seed": note(-330, -200, "Welcome! This board is yours for a day."),
    "1-seed": note(-104, -226, "Press Share and scan the code with your phone: its finger appears here."),
    "2-seed": note(124, -196, "Drag a note by its upper edge, or type into it."),
    "3-seed": note(-240, 34, "Draw with the pen. Undo is yours alone: it never takes back what others did."),
  },
  shapes: {
    "0-seed": shape("box", 2, 34, 44, 322, 196),
    "1-seed": shape("arrow", 1, -30, 120, 28, 120),
    "2-seed": shape("oval", 4, 66, 76, 150, 160),
    "3-seed": shape("pen", 4, 92, 108, 92, 112),
    "4-seed": shape("pen", 4, 122, 108, 122, 112),
    "5-seed": shape("pen", 4, 88, 128, 94, 137, 102, 142, 112, 142, 120, 137, 126, 128),
    "6-seed": shape("pen", 0, 182, 96, 204, 92, 236, 97, 262, 92, 290, 95),
    "7-seed": shape("pen", 0, 182, 120, 210, 124, 240, 118, 268, 122),
    "8-seed": shape("pen", 0, 182, 146, 206, 142, 226, 147),
  },
};

/** The demo's context of a request: visitors become users of a room. */
export interface DemoContext extends RoomContext, UserContext {}

/** Anyone gets a visitor's token, so it does not last; a page that is open renews it. */
const VISITOR_TOKEN_SECONDS = 24 * 60 * 60;

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
 * Creates a user of the board, with a token for a day; a new board without its code. NOT_FOUND when `DEMO_ACCOUNT_ID` is
 * not the id of an organization, FORBIDDEN when the board has all its visitors, RATE_LIMITED when there are too many boards.
 */
export async function createVisitor(
  ctx: DemoContext,
  { room, name = `${oneOf(MOODS)} ${oneOf(ANIMALS)}` }: Visit,
): Promise<{ token: string; room: string }> {
  const code = room ?? ctx.newId().replaceAll("-", "").slice(0, CODE_LENGTH);
  const customId = `${BOARD_PREFIX}${code}`;
  const roomId = (await findBoard(ctx, customId)) ?? (await openBoard(ctx, customId));
  const { user } = await createUser(ctx, { name, roomId, role: "editor" });
  const { token } = await createToken(ctx, roomId, user.id, { ttl: VISITOR_TOKEN_SECONDS });
  return { token, room: code };
}

/** The visitor who makes the request. FORBIDDEN for other credentials, and for users of rooms that are no boards. */
async function requireVisitor(ctx: DemoContext) {
  const { actor } = ctx;
  const room = actor.type === "user" ? await findRoomRow(ctx, { id: actor.roomId }) : null;
  if (actor.type === "user" && room?.customId?.startsWith(BOARD_PREFIX)) return actor;
  throw new AppError("Users", "FORBIDDEN", "Only visitors of the demo can do this; send a visitor's token");
}

/** Another token for a day, for the visitor whose valid one the request has. FORBIDDEN for other credentials. */
export async function renewVisitor(ctx: DemoContext): Promise<{ token: string }> {
  const { roomId, userId, rights } = await requireVisitor(ctx);
  const { token } = await createToken(ctx, roomId, userId, {
    ttl: VISITOR_TOKEN_SECONDS,
    role: roleOf(rights),
  });
  return { token };
}

/**
 * A token of each helper of the visitor's board, for an hour; the first request creates them. FORBIDDEN for other
 * credentials.
 */
export async function admitHelpers(ctx: DemoContext): Promise<{ tokens: string[] }> {
  const { roomId } = await requireVisitor(ctx);
  const tokens: string[] = [];
  for (const [customId, name] of Object.entries(HELPERS)) {
    const find = () => findUserId(ctx, roomId, customId);
    const create = async () => (await createUser(ctx, { name, customId, roomId, role: "editor" })).user.id;
    const userId = (await find()) ?? (await createOnce(create, find));
    tokens.push((await createToken(ctx, roomId, userId, { ttl: HELPER_TOKEN_SECONDS })).token);
  }
  return { tokens };
}

/** The changes of one page of a board's history: all of them have a MiB. */
const CHANGES_PER_PAGE = 1_000;

/** A change as the room logs it: of a store, whose `value` is null for a deletion, or of a comment. */
interface LoggedChange {
  readonly store?: string;
  readonly key: string;
  readonly value: unknown;
  readonly comment?: Comment;
  readonly by: string | null;
}

const parseChange = (data: string): LoggedChange => JSON.parse(data) as LoggedChange;

/**
 * A page of the changes of the stores and comments of the visitor's own board after a seq, oldest first. FORBIDDEN for
 * other credentials.
 */
export async function listHistory(ctx: DemoContext, after: number) {
  const { roomId } = await requireVisitor(ctx);
  const limit = CHANGES_PER_PAGE;
  const page = await ctx.rooms.stub(roomId).listContentChanges(ctx.accountId, after, limit);
  const changes = page.changes.map(({ seq, at, event, data }) => {
    const { store = null, key, value, comment, by } = parseChange(data);
    const change = comment
      ? { key: comment.id, value: event === "commentDeleted" ? null : comment }
      : { key, value };
    return { seq, at: presentTime(at), store, ...change, by };
  });
  return { changes, dropped_seq: page.droppedSeq, has_more: changes.length === limit };
}

async function findUserId(ctx: DemoContext, roomId: string, customId: string): Promise<string | null> {
  const [[user]] = await ctx.db.run([selectUser(ctx, roomId, { customId })]);
  return user?.id ?? null;
}

/** Creates what has this custom ID; of several requests at once, one creates it and the others find it. */
async function createOnce(
  create: () => Promise<string>,
  find: () => Promise<string | null>,
): Promise<string> {
  try {
    return await create();
  } catch (error) {
    const made = error instanceof AppError && error.code === "CONFLICT" ? await find() : null;
    if (made === null) throw error;
    return made;
  }
}

/** The ID of the board's room; null if there is none. FORBIDDEN when it has all its visitors. */
async function findBoard(ctx: DemoContext, customId: string): Promise<string | null> {
  const row = await findRoomRow(ctx, { customId });
  if (row !== null && row.totalUsersCreated >= BOARD.maxVisitors) {
    const message = `This board has had its ${BOARD.maxVisitors} visitors; open one of your own at /demo`;
    throw new AppError("Users", "FORBIDDEN", message);
  }
  return row?.id ?? null;
}

async function openBoard(ctx: DemoContext, customId: string): Promise<string> {
  const [[counted]] = await ctx.db.run([countBoards(ctx)]);
  if ((counted?.total ?? 0) >= BOARD.maxBoards) {
    const message = "The demo has as many boards as it can keep; try again in a minute";
    throw new AppError("Rooms", "RATE_LIMITED", message, RETRY_SECONDS);
  }
  const create = async () => {
    const { room } = await createRoom(ctx, { name: "Demo board", customId });
    await seedBoard(ctx, room.id);
    return room.id;
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
