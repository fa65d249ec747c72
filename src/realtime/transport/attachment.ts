/** What a socket keeps through hibernation: its room, and its connection as the room last saw it. */
import type { RoomIdentity } from "../storage/storage.ts";
import type { Joined, Waiting } from "./connection.ts";

/** Null once the room has closed the socket. */
interface Attachment {
  readonly identity: RoomIdentity;
  readonly connection: Waiting | Omit<Joined, "presence">;
  /** The presence state as UTF-8: a string with one character beyond Latin 1 would take twice its length. */
  readonly presence: Uint8Array | null;
}

/** A socket that was found again after hibernation. */
interface AttachedSocket {
  readonly identity: RoomIdentity;
  readonly connection: Waiting | Joined;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Null for a socket that the room has closed. */
export function readAttachment(socket: WebSocket): AttachedSocket | null {
  const attachment = socket.deserializeAttachment() as Attachment | null;
  if (attachment === null) return null;
  const { identity, connection, presence } = attachment;
  if (connection.phase === "waiting") return { identity, connection };
  const state = presence === null ? null : decoder.decode(presence);
  return { identity, connection: { ...connection, presence: state } };
}

export function writeAttachment(
  socket: WebSocket,
  identity: RoomIdentity,
  connection: Waiting | Joined,
): void {
  socket.serializeAttachment(attachmentOf(identity, connection));
}

function attachmentOf(identity: RoomIdentity, connection: Waiting | Joined): Attachment {
  if (connection.phase === "waiting") return { identity, connection, presence: null };
  const { presence, ...rest } = connection;
  return { identity, connection: rest, presence: presence === null ? null : encoder.encode(presence) };
}

export function clearAttachment(socket: WebSocket): void {
  socket.serializeAttachment(null);
}
