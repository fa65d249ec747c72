/** Creates visitors of the demo, each a user of the demo room, which the first one creates, and renews their tokens. */
import { violatedConstraint } from "../platform/d1-errors.ts";
import { AppError } from "../platform/errors.ts";
import { createRoom } from "../rooms/commands.ts";
import type { RoomContext } from "../rooms/context.ts";
import { findRoomRow } from "../rooms/queries.ts";
import { createUser } from "../users/commands.ts";
import type { UserContext } from "../users/context.ts";
import { createToken } from "../users/token-commands.ts";
import { DEMO_ROOM_ID } from "./uploads.ts";

/** What the demo needs of a request: its visitors become users of a room. */
export interface DemoContext extends RoomContext, UserContext {}

/** The demo room of the demo organization. */
const ROOM = { name: "Demo", customId: DEMO_ROOM_ID };

/** Anyone gets a visitor's token, so it does not last; a page that is open renews it. */
const VISITOR_TOKEN_SECONDS = 24 * 60 * 60;

/** Visitors without a name get one such as "Merry Otter". */
const MOODS = ["Brave", "Calm", "Clever", "Gentle", "Happy", "Merry", "Quiet", "Sunny"];
const ANIMALS = ["Badger", "Finch", "Hare", "Heron", "Lynx", "Otter", "Puffin", "Wren"];

const oneOf = (names: readonly string[]): string => names[Math.floor(Math.random() * names.length)] ?? "";

/** Creates a user of the demo room, with a token for a day. NOT_FOUND when `DEMO_ACCOUNT_ID` is not the id of an organization. */
export async function createVisitor(
  ctx: DemoContext,
  name = `${oneOf(MOODS)} ${oneOf(ANIMALS)}`,
): Promise<{ token: string }> {
  const roomId = (await findRoomId(ctx)) ?? (await createRoomOnce(ctx));
  const { user } = await createUser(ctx, { name, roomId, role: "editor" });
  const { token } = await createToken(ctx, roomId, user.id, { ttl: VISITOR_TOKEN_SECONDS });
  return { token };
}

/** Another token for a day, for the visitor whose valid one the request has. FORBIDDEN for other credentials. */
export async function renewVisitor(ctx: DemoContext): Promise<{ token: string }> {
  if (ctx.actor.type !== "user")
    throw new AppError(
      "Users",
      "FORBIDDEN",
      "Only a visitor's own token can be renewed; send it as the bearer",
    );
  const { roomId, userId, role } = ctx.actor;
  const { token } = await createToken(ctx, roomId, userId, { ttl: VISITOR_TOKEN_SECONDS, role });
  return { token };
}

async function findRoomId(ctx: DemoContext): Promise<string | null> {
  const row = await findRoomRow(ctx, { customId: ROOM.customId });
  return row?.id ?? null;
}

/** Of several first visitors at once, one creates the room and the others find it. */
async function createRoomOnce(ctx: DemoContext): Promise<string> {
  try {
    const { room } = await createRoom(ctx, ROOM);
    return room.id;
  } catch (error) {
    if (violatedConstraint(error) === "foreign") {
      throw new AppError(
        "Accounts",
        "NOT_FOUND",
        "DEMO_ACCOUNT_ID is not the id of an organization; set it to one of this service",
      );
    }
    const made = error instanceof AppError && error.code === "CONFLICT" ? await findRoomId(ctx) : null;
    if (made === null) throw error;
    return made;
  }
}
