/** The bounds of what a room holds and says (PROTOCOL.md names each): sizes are UTF-8 bytes of JSON, lengths are characters. */

/** Lasting changes that are kept for those who come back, and for how long. */
export const MAX_KEPT_CHANGES = 10_000;
export const CHANGE_LIFETIME_MS = 24 * 60 * 60 * 1000;
/** What `JOIN_ROOM` answers in `changes` at most; a client that missed more starts afresh. */
export const MAX_CATCH_UP_BYTES = 1024 * 1024;

export const MAX_STORE_NAME_LENGTH = 128;
export const MAX_KEY_LENGTH = 255;
export const MAX_VALUE_BYTES = 64 * 1024;
/** Of one store; together they keep the answer to `STORE_SYNC` one frame of bearable size. */
export const MAX_STORE_ENTRIES = 10_000;
export const MAX_STORE_BYTES = 4 * 1024 * 1024;
export const MAX_STORES = 100;
export const MAX_BATCH_OPERATIONS = 500;

export const MAX_COMMENTS = 10_000;
export const MAX_COMMENT_LENGTH = 10_000;
export const MAX_ANCHOR_BYTES = 4 * 1024;
export const MAX_MENTIONS = 50;
export const MAX_REACTION_LENGTH = 32;
/** Different reactions to one comment, and users behind one reaction. */
export const MAX_REACTIONS = 20;
export const MAX_REACTING_USERS = 200;

/** Users that one user follows. */
export const MAX_FOLLOWED = 1_000;
/** Ids of users, threads and comments as clients send them. */
export const MAX_ID_LENGTH = 255;

export const MAX_PRESENCE_BYTES = 8 * 1024;
/** Presence targets of one socket; with a presence state they must fit a socket's 16 KiB attachment. */
export const MAX_SUBSCRIPTIONS = 100;

export const MAX_EVENT_NAME_LENGTH = 128;
export const MAX_BROADCAST_BYTES = 64 * 1024;
/** Of a room's latest broadcasts, so that one sent again is known. */
export const MAX_REMEMBERED_BROADCASTS = 1_000;
export const MAX_BROADCAST_USERS = 1_000;

/** Users that one answer to `USERS_GET` shows. */
export const MAX_USERS_SHOWN = 1_000;

/** Arrays and objects in a frame may stand this deep in each other. */
export const MAX_FRAME_DEPTH = 40;

const encoder = new TextEncoder();

/** Size in UTF-8. */
export const byteLength = (text: string): number => encoder.encode(text).byteLength;
