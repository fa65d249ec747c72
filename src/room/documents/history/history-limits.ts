/** The limits of documents' history (docs/protocol.md lists them). */

/** Updates that one author makes within this time are kept as one. */
export const TRAIL_STRETCH_MS = 60_000;

/** A document becomes a version when it is edited after so long a pause, or for so long. Folding joins less than that. */
export const VERSION_QUIET_MS = 2 * 60_000;
export const VERSION_EDITING_MS = 5 * 60_000;
/** Of one document. */
export const MAX_NAMED_VERSIONS = 1_000;
export const MAX_VERSION_NAME_LENGTH = 255;
/** How many of its authors a version, or an entry of the trail, names. */
export const MAX_AUTHORS = 100;

/** What two points of a document's history may have between them, to be compared: in bytes, and in entries of the trail. */
export const MAX_COMPARED_BYTES = 4 * 1024 * 1024;
export const MAX_COMPARED_ENTRIES = 50_000;

/** How many versions one fold drops of those that are too old, and how many rows of the trail it looks at; the next fold goes on. */
export const AGED_VERSIONS = 500;
export const AGED_ENTRIES = 500;
