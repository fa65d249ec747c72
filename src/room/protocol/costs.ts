/** The cost of each message to its room, and how much a user, a socket and an address may spend. */

import { type MessageCost, POINTS_PER_READ, WRITE } from "@atrium/contract/operations/operation.ts";
import { type ClientMessage, costOf as costOfType, rowsOf } from "@atrium/contract/operations/room.ts";
import type { Rate } from "@atrium/contract/pacing/token-bucket.ts";
import type { RoomRequest } from "./room-request.ts";

interface DocumentMessage {
  readonly type: "DOCUMENT";
  readonly bytes: Uint8Array;
}

/** A message or binary frame of a joined socket. */
export type SocketMessage = ClientMessage | DocumentMessage;

export const RATES = {
  /** Frames: 1, and 1 more for each full 64 KiB. A socket or user that sends more is closed. */
  framesOfSocket: { perSecond: 200, burst: 1_000 },
  framesOfUser: { perSecond: 400, burst: 2_000 },
  /** Lower burst after a flood, as each return would be another one. */
  framesAfterFlood: { perSecond: 400, burst: 400 },
  joinsOfUser: { perSecond: 2, burst: 64 },
  /** Lower burst after a flood, as all sockets of a user come back at once. */
  joinsAfterFlood: { perSecond: 2, burst: 2 },
  /** Connections of one address to one room. A bound on its debt bounds its refusal: others may share it. */
  connectionsOfAddress: { perSecond: 20, burst: 1_000, maxDebt: 100 },
  /**
   * Work, in points: a point is about the cost of one row of the room's storage. Messages that a user cannot
   * afford wait.
   */
  workOfUser: { perSecond: 10_000, burst: 30_000 },
  /** Broadcasts of one user: 60 small ones a second to a thousand receivers are 3,750 points. More would delay everyone. */
  broadcastsOfUser: { perSecond: 4_000, burst: 10_000 },
  broadcastsOfRoom: { perSecond: 64_000, burst: 128_000 },
} as const satisfies Readonly<Record<string, Rate>>;

/** A connection, and a socket that closed before it joined: a hundred people's sockets may break at once. */
export const CONNECTION_COSTS = { opened: 1, unjoined: 3 };

const FRAME_BYTES = 64 * 1024;
/** A refused frame counts once more for each of these. */
const REFUSED_FRAME_BYTES = 8 * 1024;
const DELIVERED_BYTES_PER_POINT = 4 * 1024;
/** Bytes of a document that a point reads, or merges for an answer. */
const DOCUMENT_BYTES_PER_POINT = 512;
/** A delivery costs as much as this many bytes, however small it is. */
const MIN_DELIVERY_BYTES = 256;

/** Points to read, or to merge, `bytes` of a document. */
export const documentPoints = (bytes: number): number => Math.floor(bytes / DOCUMENT_BYTES_PER_POINT);

const DOCUMENT = {
  ...WRITE,
  rows: ({ bytes }: DocumentMessage) => 1 + documentPoints(bytes.length),
};

export const costOf = (type: SocketMessage["type"]): MessageCost<never> =>
  type === "DOCUMENT" ? DOCUMENT : costOfType(type);

/** Points of a message that runs, or of a user's request over REST, without its deliveries. */
export const pointsOf = (message: SocketMessage | RoomRequest): number =>
  message.type === "DOCUMENT"
    ? DOCUMENT.rows(message)
    : rowsOf(message) + costOfType(message.type).reads * POINTS_PER_READ;

export const deliveryPoints = (bytes: number, receivers: number): number =>
  (Math.max(bytes, MIN_DELIVERY_BYTES) * receivers) / DELIVERED_BYTES_PER_POINT;

export const framesOf = (bytes: number): number => 1 + Math.floor(bytes / FRAME_BYTES);

/** Frames that a refused or unreadable frame of `bytes` counts for besides. */
export const framesOfRefused = (bytes: number): number => Math.floor(bytes / REFUSED_FRAME_BYTES);
