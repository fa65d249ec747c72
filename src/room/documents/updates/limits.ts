/** The limits of documents (docs/protocol.md lists them). */

const MEBIBYTE = 1024 * 1024;

export const MAX_DOCUMENT_NAME_LENGTH = 255;
/** One update, and one frame of a client. */
export const MAX_UPDATE_BYTES = 8 * MEBIBYTE;
/** An update with its frame: types, lengths and the document's name. */
export const MAX_DOCUMENT_FRAME_BYTES = MAX_UPDATE_BYTES + 4 * 1024;
export const MAX_DOCUMENT_BYTES = 64 * MEBIBYTE;
/** Bytes of all documents of a room, with their history. */
export const MAX_ROOM_DOCUMENT_BYTES = 1024 * MEBIBYTE;
export const MAX_DOCUMENTS = 1_000;
/** JSON bytes of the names that one socket has open. They are kept in its attachment. */
export const MAX_OPEN_NAME_BYTES = 4 * 1024;
/** The same for a socket of the room's own protocol, whose attachment has more. */
export const MAX_OPEN_NAME_BYTES_BESIDE = 2 * 1024;
/** Stretches of operations in a document, which are in memory while it is edited. */
export const MAX_STRETCHES = 500_000;

/** Nesting of arrays and objects within one value. */
export const MAX_VALUE_DEPTH = 1_000;

/** Updates, or bytes of them, after which a document is folded. */
export const FOLD_UPDATES = 256;
export const FOLD_BYTES = MEBIBYTE;
/** A part that would grow beyond this is followed by another one. */
export const MAX_PART_BYTES = 8 * MEBIBYTE;
/** A smaller part is always joined with the one before it; larger ones unless that has twice as many bytes. */
export const MIN_PART_BYTES = 64 * 1024;
/** A document of at most this size is sent as one part. */
export const ONE_PIECE_BYTES = MEBIBYTE;

/** A document that Yjs may build takes up to 85 MB of memory; an isolate has 128 MB. Its shared types count twice. */
export const MAX_BUILT_BYTES = 2 * MEBIBYTE;
export const MAX_BUILT_ITEMS = 200_000;
/** Characters of content that is shown. */
export const MAX_SHOWN_LENGTH = 4 * MEBIBYTE;

/** Milliseconds in which the updates of one author become one entry of the edit history. */
export const HISTORY_STRETCH_MS = 60_000;

/** Quiet, or editing time, after which the document becomes a version before the next edit. */
export const VERSION_QUIET_MS = 2 * 60_000;
export const VERSION_EDITING_MS = 5 * 60_000;
export const MAX_NAMED_VERSIONS = 1_000;
export const MAX_VERSION_NAME_LENGTH = 255;
/** Authors that a version or an entry of the edit history names. */
export const MAX_AUTHORS = 100;

/** Bytes, and history entries, between two points that are compared. */
export const MAX_COMPARED_BYTES = 4 * 1024 * 1024;
export const MAX_COMPARED_ENTRIES = 50_000;

/** Old versions, and old history entries, that one fold works on; the next one continues. */
export const AGED_VERSIONS = 500;
export const AGED_ENTRIES = 500;
