/** What a socket keeps through hibernation: its room, and its connection as the room last saw it. */
import type { Trace } from "../../platform/trace.ts";
import type { RoomIdentity } from "../storage/storage.ts";
import type { DocumentWire, Joined, Waiting } from "./connection.ts";

/** Null once the room has closed the socket. */
interface Attachment {
  readonly identity: RoomIdentity;
  readonly connection: Waiting | Omit<Joined, "presence" | "subscriptions" | "documents">;
  /**
   * The presence state, and the lists of subscriptions and of open documents as JSON, all as UTF-8: a string with one
   * character beyond Latin 1 would take twice its length. So their limits bound the attachment (16 KiB).
   */
  readonly presence: Uint8Array | null;
  readonly subscriptions: Uint8Array;
  /** Of a joined socket. */
  readonly documents?: {
    readonly wire: DocumentWire["wire"];
    readonly opened: Uint8Array;
    /** A document as its position in `opened`. */
    readonly shown: readonly (readonly [document: number, client: number, clock: number])[];
  };
  /** The trace of the request that has opened the socket. */
  readonly trace: Trace | null;
}

type Documents = NonNullable<Attachment["documents"]>;

/** A socket that was found again after hibernation. */
interface AttachedSocket {
  readonly identity: RoomIdentity;
  readonly connection: Waiting | Joined;
  readonly trace: Trace | null;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Null for a socket that the room has closed. */
export function readAttachment(socket: WebSocket): AttachedSocket | null {
  const attachment = socket.deserializeAttachment() as Attachment | null;
  if (attachment === null) return null;
  const { identity, connection, presence, subscriptions, documents, trace } = attachment;
  if (connection.phase === "waiting") return { identity, connection, trace };
  const state = presence === null ? null : decoder.decode(presence);
  return {
    identity,
    trace,
    connection: {
      ...connection,
      ...{ presence: state, subscriptions: parseNames(subscriptions) },
      ...(documents && { documents: parseDocuments(documents) }),
    },
  };
}

function parseDocuments({ wire, opened, shown }: Documents): DocumentWire {
  const keys = parseNames(opened);
  return {
    ...{ wire, opened: keys },
    shown: shown.map(([index, client, clock]) => ({ key: keys[index] ?? "", client, clock })),
  };
}

const encodeDocuments = ({ wire, opened, shown = [] }: DocumentWire): Documents => ({
  ...{ wire, opened: encodeNames(opened) },
  shown: shown.map(({ key, client, clock }) => [opened.indexOf(key), client, clock]),
});

/** As {@link attachmentOf} wrote them. */
const parseNames = (json: Uint8Array): string[] => JSON.parse(decoder.decode(json)) as string[];
const encodeNames = (names: readonly string[]): Uint8Array => encoder.encode(JSON.stringify(names));

export function writeAttachment(
  socket: WebSocket,
  identity: RoomIdentity,
  connection: Waiting | Joined,
  trace: Trace | null,
): void {
  socket.serializeAttachment({ ...attachmentOf(identity, connection), trace });
}

function attachmentOf(identity: RoomIdentity, connection: Waiting | Joined): Omit<Attachment, "trace"> {
  if (connection.phase === "waiting")
    return { identity, connection, presence: null, subscriptions: new Uint8Array() };
  const { presence, subscriptions, documents, ...rest } = connection;
  return {
    identity,
    connection: rest,
    presence: presence === null ? null : encoder.encode(presence),
    subscriptions: encodeNames(subscriptions),
    ...(documents && { documents: encodeDocuments(documents) }),
  };
}
