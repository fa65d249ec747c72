/** Who writes to a document: a user of the room, or the organization. */
import type { Actor } from "../../../platform/context/actor.ts";
import { type RequestContext, requireRoomAccess } from "../../../platform/context/context.ts";
import { AppError } from "../../../platform/errors.ts";
import type { Author } from "../../../room/port/document-history.ts";
import type { LiveRoomContext } from "../../rooms/context.ts";
import { getRoomRow } from "../../rooms/queries.ts";

export type DocumentContext = RequestContext & LiveRoomContext;

/** As whom the actor may write. */
export async function requireEditor(ctx: DocumentContext, roomId: string): Promise<Author> {
  requireRoomAccess(ctx, roomId);
  const { actor } = ctx;
  if (actor.type === "user" && actor.role === "viewer")
    throw forbidden("A viewer cannot change documents; use the token of an editor");
  const room = await getRoomRow(ctx, roomId);
  if (actor.type === "user" && room.state === "closed") throw forbidden("The room is closed");
  return authorOf(actor);
}

function authorOf(actor: Actor): Author {
  switch (actor.type) {
    case "user":
      return { type: "user", id: actor.userId };
    case "key":
      return { type: "key", id: actor.keyId };
    case "person":
      return { type: "person", id: actor.personId };
    case "anyone":
      throw forbidden("Documents can be changed with a credential only");
  }
}

const forbidden = (why: string) => new AppError("Rooms", "FORBIDDEN", why);
