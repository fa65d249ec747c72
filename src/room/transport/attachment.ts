/** The attachment that a socket keeps through hibernation: its room and its connection. */
import type { Trace } from "../../platform/trace.ts";
import type { RoomIdentity } from "../storage/storage.ts";
import type { DocumentWire, Joined, Waiting } from "./connection.ts";

interface Attachment {
  readonly identity: RoomIdentity;
  readonly connection: Waiting | Omit<Joined, "presence" | "subscriptions" | "documents">;
  /** UTF-8, so that limits in bytes bound the attachment (16 KiB): a string beyond Latin 1 would take twice its length. */
  readonly presence: Uint8Array | null;
  readonly subscriptions: Uint8Array;
  readonly documents?: {
    readonly wire: DocumentWire["wire"];
    readonly opened: Uint8Array;
    /** A document as its position in `opened`. */
    readonly shown: readonly (readonly [document: number, client: number, clock: number])[];
  };
  readonly trace: Trace | null;
}

type Documents = NonNullable<Attachment["documents"]>;

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const encodeNames = (names: readonly string[]): Uint8Array => encoder.encode(JSON.stringify(names));
const parseNames = (json: Uint8Array): string[] => JSON.parse(decoder.decode(json)) as string[];

/** Null for a socket that the room has closed. */
export function readAttachment(socket: WebSocket) {
  const attachment = socket.deserializeAttachment() as Attachment | null;
  if (attachment === null) return null;
  const { identity, connection: attached, presence, subscriptions, documents, trace } = attachment;
  if (attached.phase === "waiting") return { identity, connection: attached, trace };
  const connection: Joined = {
    ...attached,
    presence: presence === null ? null : decoder.decode(presence),
    subscriptions: parseNames(subscriptions),
    ...(documents && { documents: parseDocuments(documents) }),
  };
  return { identity, connection, trace };
}

function parseDocuments({ wire, opened, shown }: Documents): DocumentWire {
  const keys = parseNames(opened);
  return {
    wire,
    opened: keys,
    shown: shown.map(([index, client, clock]) => ({ key: keys[index] ?? "", client, clock })),
  };
}

const encodeDocuments = ({ wire, opened, shown = [] }: DocumentWire): Documents => ({
  wire,
  opened: encodeNames(opened),
  shown: shown.map(({ key, client, clock }) => [opened.indexOf(key), client, clock]),
});

export function writeAttachment(
  socket: WebSocket,
  identity: RoomIdentity,
  connection: Waiting | Joined,
  trace: Trace | null,
): void {
  const attachment = { ...attachmentOf(connection), identity, trace } satisfies Attachment;
  socket.serializeAttachment(attachment);
}

function attachmentOf(connection: Waiting | Joined): Omit<Attachment, "identity" | "trace"> {
  if (connection.phase === "waiting") return { connection, presence: null, subscriptions: new Uint8Array() };
  const { presence, subscriptions, documents, ...rest } = connection;
  return {
    connection: rest,
    presence: presence === null ? null : encoder.encode(presence),
    subscriptions: encodeNames(subscriptions),
    ...(documents && { documents: encodeDocuments(documents) }),
  };
}
