/** What a socket keeps through hibernation: its room, and its connection as the room last saw it. */
import type { RoomIdentity } from "../storage/storage.ts";
import type { Joined, Waiting } from "./connection.ts";

/** Null once the room has closed the socket. */
interface Attachment {
  readonly identity: RoomIdentity;
  readonly connection: Waiting | Omit<Joined, "presence" | "subscriptions">;
  /**
   * The presence state, and the list of subscriptions as JSON, both as UTF-8: a string with one character beyond
   * Latin 1 would take twice its length. So their limits bound the attachment (16 KiB).
   */
  readonly presence: Uint8Array | null;
  readonly subscriptions: Uint8Array;
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
  const { identity, connection, presence, subscriptions } = attachment;
  if (connection.phase === "waiting") return { identity, connection };
  const state = presence === null ? null : decoder.decode(presence);
  return {
    identity,
    connection: { ...connection, presence: state, subscriptions: parseSubscriptions(subscriptions) },
  };
}

/** As {@link attachmentOf} wrote them. */
const parseSubscriptions = (json: Uint8Array): string[] => JSON.parse(decoder.decode(json)) as string[];

export function writeAttachment(
  socket: WebSocket,
  identity: RoomIdentity,
  connection: Waiting | Joined,
): void {
  socket.serializeAttachment(attachmentOf(identity, connection));
}

function attachmentOf(identity: RoomIdentity, connection: Waiting | Joined): Attachment {
  if (connection.phase === "waiting")
    return { identity, connection, presence: null, subscriptions: new Uint8Array() };
  const { presence, subscriptions, ...rest } = connection;
  return {
    identity,
    connection: rest,
    presence: presence === null ? null : encoder.encode(presence),
    subscriptions: encoder.encode(JSON.stringify(subscriptions)),
  };
}

export function clearAttachment(socket: WebSocket): void {
  socket.serializeAttachment(null);
}
