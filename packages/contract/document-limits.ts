/** The limits of documents (docs/protocol.md lists them). */

const MEBIBYTE = 1024 * 1024;

export const DOCUMENT_LIMITS = {
  documentNameLength: 255,
  /** One update, and one frame of a client. */
  updateBytes: 8 * MEBIBYTE,
  /** An update with its frame: types, lengths and the document's name. */
  documentFrameBytes: 8 * MEBIBYTE + 4 * 1024,
  documentBytes: 64 * MEBIBYTE,
  /** Bytes of all documents of a room, with their history. */
  roomDocumentBytes: 1024 * MEBIBYTE,
  documents: 1_000,
  /** JSON bytes of the names that one socket has open; they are kept in its attachment. */
  openNameBytes: 4 * 1024,
  /** The same for a socket of the room's own protocol, whose attachment has more. */
  openNameBytesBeside: 2 * 1024,
  /** Stretches of operations in a document, which are in memory while it is edited. */
  stretches: 500_000,

  /** Nesting of arrays and objects within one value. */
  valueDepth: 1_000,

  /** Updates, or bytes of them, after which a document is folded. */
  foldUpdates: 256,
  foldBytes: MEBIBYTE,
  /** A part that would grow beyond this is followed by another one. */
  partBytes: 8 * MEBIBYTE,
  /** A smaller part is always joined with the one before it; larger ones unless that has twice as many bytes. */
  minPartBytes: 64 * 1024,
  /** A document of at most this size is sent as one part. */
  onePieceBytes: MEBIBYTE,

  /** Bounds of a document that Yjs builds: it takes up to 85 MB of an isolate's 128 MB. Shared types count twice. */
  builtBytes: 2 * MEBIBYTE,
  builtItems: 200_000,
  /** Characters of content that is shown. */
  shownLength: 4 * MEBIBYTE,

  /** Milliseconds in which the updates of one author become one entry of the edit history. */
  historyStretchMs: 60_000,

  /** Quiet, or editing time, after which the document becomes a version before the next edit. */
  versionQuietMs: 2 * 60_000,
  versionEditingMs: 5 * 60_000,
  namedVersions: 1_000,
  versionNameLength: 255,
  /** Authors that a version or an entry of the edit history names. */
  authors: 100,

  /** Bytes, and history entries, between two points that are compared. */
  comparedBytes: 4 * 1024 * 1024,
  comparedEntries: 50_000,

  /** Old versions, and old history entries, that one fold works on; the next one continues. */
  agedVersions: 500,
  agedEntries: 500,
};
