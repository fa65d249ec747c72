/** The cost of each message to its room. A message type without an entry here does not compile. */
import type { Rate } from "../../platform/flow/token-bucket.ts";
import type { ClientMessage, CommentEdit, CommentPage, ThreadPage } from "./messages.ts";

interface DocumentMessage {
  readonly type: "DOCUMENT";
  readonly bytes: Uint8Array;
}

/** A message or binary frame of a joined socket. */
export type SocketMessage = ClientMessage | DocumentMessage;
type MessageOf<Type extends SocketMessage["type"]> = Extract<SocketMessage, { readonly type: Type }>;

export const RATES = {
  /** Frames: 1, and 1 more for each full 64 KiB. A socket or user that sends more is closed. */
  framesOfSocket: { perSecond: 200, burst: 1_000 },
  framesOfUser: { perSecond: 400, burst: 2_000 },
  /** After a flood, each return would be another burst. */
  framesAfterFlood: { perSecond: 400, burst: 400 },
  joinsOfUser: { perSecond: 2, burst: 64 },
  /** After a flood, all sockets of a user would come back at once. */
  joinsAfterFlood: { perSecond: 2, burst: 2 },
  /** Connections of one address to one room. A bound on its debt bounds its refusal: others may share it. */
  connectionsOfAddress: { perSecond: 20, burst: 1_000, maxDebt: 100 },
  /** Work, in points: a point is about what one row of the room's storage costs. Messages that a user cannot afford wait. */
  workOfUser: { perSecond: 10_000, burst: 30_000 },
  /** Broadcasts of one user: 60 small ones a second to a thousand receivers are 3,750 points. More would delay everyone. */
  broadcastsOfUser: { perSecond: 4_000, burst: 10_000 },
  broadcastsOfRoom: { perSecond: 64_000, burst: 128_000 },
} as const satisfies Readonly<Record<string, Rate>>;

/** A connection, and a socket that closed before it joined: a hundred people's sockets may break at once. */
export const CONNECTION_COSTS = { opened: 1, unjoined: 3 };

const FRAME_BYTES = 64 * 1024;
/** A frame that was read for nothing counts once more for each full one of these. */
const REFUSED_FRAME_BYTES = 8 * 1024;
const POINTS_PER_READ = 200;
const DELIVERED_BYTES_PER_POINT = 4 * 1024;
/** Bytes of a document that a point reads, or merges for an answer. */
const DOCUMENT_BYTES_PER_POINT = 512;
/** A delivery costs as much as this many bytes, however small it is. */
const MIN_DELIVERY_BYTES = 256;

/** The cost of a message beside its frame and deliveries; `excess` is its fate when its user cannot afford it. */
interface MessageCost<Message> {
  readonly rows: number | ((message: Message) => number);
  readonly reads: number;
  readonly excess: "runs" | "waits" | "refused" | "follows";
  /** Its answer may be large: it waits while its sender has much to read. */
  readonly isQuestion: boolean;
}

/** Points to read, or to merge, `bytes` of a document. */
export const documentPoints = (bytes: number): number => Math.floor(bytes / DOCUMENT_BYTES_PER_POINT);

const free = { rows: 0, reads: 0, excess: "runs", isQuestion: false } as const;
const write = { rows: 3, reads: 0, excess: "waits", isQuestion: false } as const;

/** Rows for a filter, because all matching comments are counted. */
const COUNTED_COMMENTS = 100;

const rowsOfThreads = ({ resolved, unread, subscribed, limit, offset }: ThreadPage): number =>
  2 * limit +
  offset / 20 +
  [resolved, unread, subscribed].filter((filter) => filter !== undefined).length * COUNTED_COMMENTS;

/** With mentions the room reads the database, and writes a row for each reader. */
const rowsOfComment = ({ mentions = [] }: Pick<CommentEdit, "mentions">): number =>
  write.rows + (mentions.length === 0 ? 0 : POINTS_PER_READ + mentions.length);

const rowsOfComments = ({ threadId, resolved, limit, offset }: CommentPage): number =>
  limit + offset / 20 + (threadId === undefined && resolved === undefined ? 0 : COUNTED_COMMENTS);

const COSTS: { readonly [Type in SocketMessage["type"]]: MessageCost<MessageOf<Type>> } = {
  DOCUMENT: { ...write, rows: ({ bytes }) => 1 + documentPoints(bytes.length) },
  JOIN_ROOM: { ...free, reads: 1 },
  LEAVE_ROOM: { ...free, excess: "follows" },
  TOKEN_REFRESH: { ...free, reads: 1 },
  MARK: free,
  PRESENCE_UPDATE: free,
  PRESENCE_SUBSCRIBE: free,
  BROADCAST: { ...free, excess: "refused" },
  STORE_SYNC: { rows: ({ data }) => data.limit / 20, reads: 0, excess: "waits", isQuestion: true },
  STORE_GET: { ...write, rows: 1 },
  STORE_SET: { ...write, rows: 1 },
  STORE_UPDATE: { ...write, rows: 1 },
  STORE_DELETE: { ...write, rows: 1 },
  STORE_BATCH: { ...write, rows: ({ data }) => data.operations.length },
  COMMENT_LIST: { rows: ({ data }) => rowsOfComments(data), reads: 0, excess: "waits", isQuestion: true },
  COMMENT_CREATE: { ...write, rows: ({ data }) => rowsOfComment(data) },
  COMMENT_UPDATE: { ...write, rows: ({ data }) => rowsOfComment(data) },
  COMMENT_DELETE: write,
  COMMENT_RESOLVE: write,
  COMMENT_REACT: write,
  TEXT_MENTION_CREATE: { ...write, reads: 1 },
  TEXT_MENTION_DELETE: { ...write, reads: 1 },
  THREAD_LIST: { rows: ({ data }) => rowsOfThreads(data), reads: 0, excess: "waits", isQuestion: true },
  THREAD_GET: { ...write, rows: 1 },
  THREAD_SUBSCRIBE: write,
  THREAD_READ: write,
  SUBSCRIPTION_SETTINGS: write,
  USER_FOLLOW: { ...write, reads: 1 },
  USER_UNFOLLOW: { ...write, reads: 1 },
  USERS_ONLINE: { rows: ({ data }) => data.limit / 10, reads: 0, excess: "waits", isQuestion: true },
  ROOM_GET: { rows: 1, reads: 1, excess: "waits", isQuestion: true },
  USERS_GET: {
    rows: ({ data }) => (data.userIds?.length ?? data.limit) / 10,
    reads: 1,
    excess: "waits",
    isQuestion: true,
  },
};

export const costOf = <Type extends SocketMessage["type"]>(type: Type) => COSTS[type];

/** Points of a message that runs, without its deliveries. */
export function pointsOf<Type extends SocketMessage["type"]>(
  message: MessageOf<Type> & { type: Type },
): number {
  const cost: MessageCost<MessageOf<Type>> = COSTS[message.type];
  const rows = typeof cost.rows === "number" ? cost.rows : cost.rows(message);
  return rows + cost.reads * POINTS_PER_READ;
}

export const deliveryPoints = (bytes: number, receivers: number): number =>
  (Math.max(bytes, MIN_DELIVERY_BYTES) * receivers) / DELIVERED_BYTES_PER_POINT;

export const framesOf = (bytes: number): number => 1 + Math.floor(bytes / FRAME_BYTES);

/** Frames that a refused or unreadable frame of `bytes` counts for besides. */
export const framesOfRefused = (bytes: number): number => Math.floor(bytes / REFUSED_FRAME_BYTES);
