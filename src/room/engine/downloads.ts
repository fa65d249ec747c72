/** Downloads of large stores: parts that a joined client reads over HTTP, one after the other, as fast as it takes them. */

import { LIMITS } from "@atrium/contract/limits.ts";
import { deliveryPoints } from "../protocol/costs.ts";
import type { Joined } from "../transport/connection.ts";
import type { RoomConnections } from "../transport/connections.ts";
import type { RoomPorts } from "../transport/room-ports.ts";
import type { RoomContent } from "./content/content.ts";
import type { MessageQueue } from "./message-queue.ts";

interface Download {
  readonly store: string;
  readonly userId: string;
  /** The socket that began it: the download ends with it. */
  readonly socketId: string;
  /** Whether one response has all parts, each on a line of its own. */
  readonly inLines: boolean;
  after: string | null;
  /** The bytes of the part so far; null between two parts. */
  partLength: number | null;
  /** When it began, or was last read (epoch ms). */
  readAt: number;
}

interface Piece {
  readonly texts: readonly Uint8Array[];
  readonly isLast: boolean;
}

/** Size of a piece. Between pieces, the room does other things. */
const PIECE_BYTES = 512 * 1024;

const encoder = new TextEncoder();

interface DownloadParts {
  readonly ports: Pick<RoomPorts, "now" | "newId">;
  readonly connections: RoomConnections;
  readonly content: Pick<RoomContent, "changes" | "stores">;
  readonly queue: Pick<MessageQueue, "canAfford" | "countDelivery">;
}

/** Memory only: a client whose download ends early reads on over its socket. */
export class Downloads {
  readonly #room: DownloadParts;
  readonly #byId = new Map<string, Download>();

  constructor(room: DownloadParts) {
    this.#room = room;
  }

  /** The id of a new download; null for a store that a socket can carry, and when too many are open. */
  open(store: string, { id: socketId, userId }: Joined, inLines = false): string | null {
    if (this.#room.content.stores.bytesOf(store) < LIMITS.minDownloadBytes) return null;
    this.#forget();
    const open = [...this.#byId.values()];
    const ofUser = open.filter((download) => download.userId === userId);
    if (open.length >= LIMITS.downloads || ofUser.length >= LIMITS.downloadsOfUser) return null;
    const id = this.#room.ports.newId();
    const readAt = this.#room.ports.now();
    this.#byId.set(id, { store, userId, socketId, inLines, after: null, partLength: null, readAt });
    return id;
  }

  /** Gives up downloads whose sockets are gone, or that are not read. */
  #forget(): void {
    const staleBefore = this.#room.ports.now() - LIMITS.downloadStallMs;
    for (const [id, { socketId, readAt }] of this.#byId)
      if (readAt < staleBefore || this.#room.connections.get(socketId) === undefined) this.#byId.delete(id);
  }

  /** Begins the next response. False for no open download, and while its user cannot afford it. */
  begin(id: string): boolean {
    this.#forget();
    const download = this.#byId.get(id);
    if (download?.partLength !== null || !this.#room.queue.canAfford(download.userId)) return false;
    download.partLength = 0;
    return true;
  }

  /**
   * Reads a piece of the response. A part is the JSON of `{ entries: [key, value, version, …], seq, next }`: `next` is
   * the last key, or null at the end of the store. In lines, the parts are the items of an array.
   * Null when the download was given up meanwhile.
   */
  read(id: string): Piece | null {
    this.#forget();
    const download = this.#byId.get(id);
    if (download === undefined || download.partLength === null) return null;
    const { store, userId, inLines, after, partLength } = download;
    const { content, queue } = this.#room;
    const { texts, bytes, lastKey } = content.stores.readTexts(store, after, PIECE_BYTES);
    const length = partLength + bytes;
    const isEnd = lastKey === null || !queue.canAfford(userId);
    const isPart = isEnd || length >= (inLines ? LIMITS.minLineBytes : LIMITS.partBytes);
    const isLast = isEnd || (isPart && !inLines);
    download.after = lastKey;
    download.partLength = isLast ? null : isPart ? 0 : length;
    download.readAt = this.#room.ports.now();
    if (isLast && (inLines || lastKey === null)) this.#byId.delete(id);
    queue.countDelivery(userId, deliveryPoints(bytes, 1), false);
    const item = inLines ? (after === null ? "[" : ",") : "";
    const newline = inLines ? (isLast ? "\n]" : "\n") : "";
    const end = `],"seq":${content.changes.lastSeq},"next":${JSON.stringify(lastKey)}}${newline}`;
    const framed = [
      ...(partLength === 0 ? begin(`${item}{"entries":[`, texts) : texts),
      ...(isPart ? [encoder.encode(end)] : []),
    ];
    return { texts: framed, isLast };
  }

  close(id: string): void {
    this.#byId.delete(id);
  }
}

/** The texts at the beginning of a part: the first one comes after a bracket instead of a comma. */
const begin = (start: string, [first, ...others]: readonly Uint8Array[]): readonly Uint8Array[] => [
  encoder.encode(start),
  ...(first === undefined ? [] : [first.subarray(1)]),
  ...others,
];
