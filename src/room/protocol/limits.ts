/** The room's limits (docs/protocol.md lists them): sizes in UTF-8 bytes of JSON, lengths in characters. */

/** Changes kept for clients that reconnect: the latest of each entry, as far as they fit into a response to `JOIN_ROOM`. */
export const MAX_KEPT_CHANGES = 10_000;
export const MAX_CATCH_UP_BYTES = 1024 * 1024;
export const CHANGE_LIFETIME_MS = 24 * 60 * 60 * 1000;

/** Receipts of requests: how long they are kept, and how many of each user (or of the organization). */
export const RECEIPT_LIFETIME_MS = 24 * 60 * 60 * 1000;
export const MAX_RECEIPTS = 10_000;
export const MAX_RECEIPT_BYTES = 4 * 1024 * 1024;

export const MAX_STORE_NAME_LENGTH = 128;
export const MAX_KEY_LENGTH = 255;
/** As far as a frame goes, with room for what surrounds the value. */
export const MAX_VALUE_BYTES = 192 * 1024;
export const MAX_STORE_ENTRIES = 100_000;
export const MAX_STORE_BYTES = 256 * 1024 * 1024;
/** Entries of a store in one response to `STORE_SYNC`, and about how many bytes of JSON they may have. */
export const MAX_PAGE_ENTRIES = 10_000;
export const MAX_PAGE_BYTES = 1024 * 1024;
/** Larger stores are downloaded over HTTP: a socket compresses on the room's own thread. */
export const MIN_DOWNLOAD_BYTES = 512 * 1024;
/** One part of a download has about so much: a client parses it as a whole. */
export const MAX_PART_BYTES = 8 * 1024 * 1024;
/** The least size of a part but the last in one response: others arrive while a client parses it. */
export const MIN_LINE_BYTES = 2 * 1024 * 1024;
/** Downloads that are open, each with a MiB in memory: further clients read over their sockets. */
export const MAX_DOWNLOADS = 32;
export const MAX_DOWNLOADS_OF_USER = 4;
/** A download that is not read for so long is given up. */
export const DOWNLOAD_STALL_MS = 30_000;
export const MAX_STORES = 100;
export const MAX_BATCH_OPERATIONS = 500;
export const MAX_BATCHES = 100;
/** Keys and values that one request writes: with the MiB before a mark, a client may leave 4 MiB of changes unconfirmed. */
export const MAX_WRITTEN_BYTES = 3 * 1024 * 1024;

export const MAX_COMMENTS = 10_000;
/** Of all comments of a room together, as JSON: one may have some 200 KiB of text, mentions and reactions. */
export const MAX_ROOM_COMMENT_BYTES = 64 * 1024 * 1024;
export const MAX_COMMENT_LENGTH = 10_000;
export const MAX_ANCHOR_BYTES = 4 * 1024;
export const MAX_MENTIONS = 50;
export const MAX_REACTION_LENGTH = 32;
/** Different reactions per comment, and users per reaction. */
export const MAX_REACTIONS = 20;
export const MAX_REACTING_USERS = 200;

export const MAX_FOLLOWED = 100;
/** The follows and the presence in the response to `JOIN_ROOM`: together below 64 KiB. */
export const MAX_JOIN_FOLLOWS_BYTES = 24 * 1024;
export const MAX_JOIN_PRESENCE_BYTES = 32 * 1024;
export const MAX_ID_LENGTH = 255;

export const MAX_PRESENCE_BYTES = 8 * 1024;
/** Clients send presence no more often, and not more often than ticks (R87). */
export const PRESENCE_INTERVAL_MS = 50;
/** Of all users of a room together: an object has 128 MB, and may have 32,768 sockets. */
export const MAX_ROOM_PRESENCE_BYTES = 16 * 1024 * 1024;
/** Of one frame: what does not fit follows when the client has read what it was sent. */
export const MAX_PRESENCE_FRAME_BYTES = 512 * 1024;
export const MAX_REMOVED_FIELDS = 1_000;
/** Presence targets per socket, and the size of their list: with a presence state it must fit the socket's attachment. */
export const MAX_SUBSCRIPTIONS = 100;
export const MAX_SUBSCRIPTION_BYTES = 5 * 1024;

export const MAX_EVENT_NAME_LENGTH = 128;
export const MAX_BROADCAST_BYTES = 64 * 1024;
/** The latest broadcasts by which a room recognizes a repeated one. */
export const MAX_REMEMBERED_BROADCASTS = 1_000;
export const MAX_BROADCAST_USERS = 1_000;

export const MAX_USERS_SHOWN = 1_000;
/** Users per page of those who are online, and about how many bytes of JSON they may have: a crowd joins at once. */
export const MAX_ONLINE_PAGE = 200;
export const MAX_ONLINE_PAGE_BYTES = 64 * 1024;

export const MAX_FRAME_DEPTH = 40;
