/** The limits of documents (docs/protocol.md lists them). */

const MEBIBYTE = 1024 * 1024;

export const MAX_DOCUMENT_NAME_LENGTH = 255;
/** One update, and one frame of a client. */
export const MAX_UPDATE_BYTES = 8 * MEBIBYTE;
/** An update with what surrounds it in its frame: types, lengths and the document's name. */
export const MAX_DOCUMENT_FRAME_BYTES = MAX_UPDATE_BYTES + 4 * 1024;
/** What a document has, encoded. */
export const MAX_DOCUMENT_BYTES = 64 * MEBIBYTE;
/** What all documents of a room have together, with what is kept of their history. */
export const MAX_ROOM_DOCUMENT_BYTES = 1024 * MEBIBYTE;
export const MAX_DOCUMENTS = 1_000;
/** The names of the documents that one socket has open, in bytes of JSON: they are kept with the socket. */
export const MAX_OPEN_NAME_BYTES = 4 * 1024;
/** Of a socket that speaks the room's protocol, which keeps more. */
export const MAX_OPEN_NAME_BYTES_BESIDE = 2 * 1024;
/** Stretches of operations that a document consists of: they are in memory while someone edits it. */
export const MAX_STRETCHES = 500_000;

/** How deep arrays and objects within one value of a document may nest. */
export const MAX_VALUE_DEPTH = 1_000;

/** A document's updates are folded into its parts when there are so many of them, or they have so many bytes. */
export const FOLD_UPDATES = 256;
export const FOLD_BYTES = MEBIBYTE;
/** A part that grows beyond this is followed by another one. */
export const MAX_PART_BYTES = 8 * MEBIBYTE;
/** A part is joined with the one before it unless that has twice as many bytes; smaller ones than this always are. */
export const MIN_PART_BYTES = 64 * 1024;
/** A document with no more than this is sent in one piece. */
export const ONE_PIECE_BYTES = MEBIBYTE;

/** A document that Yjs may build takes up to 85 MB of memory; an isolate has 128 MB. Its shared types count twice. */
export const MAX_BUILT_BYTES = 2 * MEBIBYTE;
export const MAX_BUILT_ITEMS = 200_000;
/** Characters of a content that is shown. */
export const MAX_SHOWN_LENGTH = 4 * MEBIBYTE;
