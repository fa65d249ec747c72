/** Downloads of large stores: parts that a joined client reads over HTTP, one after the other, as fast as it takes them. */

import {
  DOWNLOAD_STALL_MS,
  MAX_DOWNLOADS,
  MAX_DOWNLOADS_OF_USER,
  MAX_PART_BYTES,
  MIN_DOWNLOAD_BYTES,
  MIN_LINE_BYTES,
} from "../protocol/limits.ts";
import type { Joined } from "../transport/connection.ts";
import type { Connections } from "../transport/connections.ts";
import type { RoomContent } from "./content/content.ts";

interface Download {
  readonly store: string;
  readonly userId: string;
  /** The socket that began it: when that is gone, so is the right to read on. */
  readonly socketId: string;
  /** Whether one response has all parts, each on a line of its own. */
  readonly inLines: boolean;
  /** The last key that was read. */
  after: string | null;
  /** What the part that is being read has so far; null between two parts. */
  partLength: number | null;
  /** When it began, or was last read (epoch ms). */
  readAt: number;
}

/** Some text of a part, in UTF-8. */
interface Piece {
  readonly texts: readonly Uint8Array[];
  readonly isLast: boolean;
}

/** How much is read at once: in between, the room does other things. */
const PIECE_BYTES = 512 * 1024;

const encoder = new TextEncoder();

interface DownloadPorts {
  now(): number;
  newId(): string;
  /** True while a user may ask more of the room. */
  canAfford(userId: string): boolean;
  /** Counts what was sent to a user. */
  countSent(userId: string, bytes: number): void;
}

type DownloadContent = Pick<RoomContent, "changes" | "stores">;

/** Memory only: a client whose download ends early reads on over its socket. */
export class Downloads {
  readonly #ports: DownloadPorts;
  readonly #content: DownloadContent;
  readonly #connections: Connections;
  readonly #byId = new Map<string, Download>();

  constructor(ports: DownloadPorts, content: DownloadContent, connections: Connections) {
    this.#ports = ports;
    this.#content = content;
    this.#connections = connections;
  }

  /** The id of a new download; null for a store that a socket can carry, and when too many are open. */
  open(store: string, { id: socketId, userId }: Joined, inLines = false): string | null {
    if (this.#content.stores.bytesOf(store) < MIN_DOWNLOAD_BYTES) return null;
    this.#forget();
    const open = [...this.#byId.values()];
    const ofUser = open.filter((download) => download.userId === userId);
    if (open.length >= MAX_DOWNLOADS || ofUser.length >= MAX_DOWNLOADS_OF_USER) return null;
    const id = this.#ports.newId();
    const readAt = this.#ports.now();
    this.#byId.set(id, { store, userId, socketId, inLines, after: null, partLength: null, readAt });
    return id;
  }

  /** Gives up those whose sockets are gone, and those that are not read. */
  #forget(): void {
    const staleBefore = this.#ports.now() - DOWNLOAD_STALL_MS;
    for (const [id, { socketId, readAt }] of this.#byId)
      if (readAt < staleBefore || this.#connections.get(socketId) === undefined) this.#byId.delete(id);
  }

  /** Begins the next response. False if there is nothing to read, or nothing that the user can afford now. */
  begin(id: string): boolean {
    this.#forget();
    const download = this.#byId.get(id);
    if (download?.partLength !== null || !this.#ports.canAfford(download.userId)) return false;
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
    const { texts, bytes, lastKey } = this.#content.stores.readTexts(store, after, PIECE_BYTES);
    const length = partLength + bytes;
    const isEnd = lastKey === null || !this.#ports.canAfford(userId);
    const isPart = isEnd || length >= (inLines ? MIN_LINE_BYTES : MAX_PART_BYTES);
    const isLast = isEnd || (isPart && !inLines);
    download.after = lastKey;
    download.partLength = isLast ? null : isPart ? 0 : length;
    download.readAt = this.#ports.now();
    if (isLast && (inLines || lastKey === null)) this.#byId.delete(id);
    this.#ports.countSent(userId, bytes);
    const item = inLines ? (after === null ? "[" : ",") : "";
    const newline = inLines ? (isLast ? "\n]" : "\n") : "";
    const end = `],"seq":${this.#content.changes.lastSeq},"next":${JSON.stringify(lastKey)}}${newline}`;
    const framed = [
      ...(partLength === 0 ? begin(`${item}{"entries":[`, texts) : texts),
      ...(isPart ? [encoder.encode(end)] : []),
    ];
    return { texts: framed, isLast };
  }

  /** The client reads no more. */
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
