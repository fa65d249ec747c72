/** The limits of streams (docs/protocol.md lists them). */

const MEBIBYTE = 1024 * 1024;

export const STREAM_LIMITS = {
  streamNameLength: 255,
  /** One append. A read returns about as much, and at least one append. */
  appendBytes: MEBIBYTE,
  /** Bytes of all streams of a room, with what {@link STREAM_CHARGES} adds. */
  roomStreamBytes: 1024 * MEBIBYTE,
  /** A content type, a producer's name and a `Stream-Seq`, in characters. */
  headerLength: 255,
  /** Streams of which each is the fork of the next. */
  forkDepth: 32,
  /** Reads of one user that wait in a room. */
  waitingReads: 50,
  /** Seconds after which a read above them is tried again: by then, the room knows which of the clients are gone. */
  doubtedSeconds: 1,
  /** Milliseconds after which the credential of a live read is checked again. */
  callerCheckMs: 10_000,
  /** Milliseconds for which a long poll waits, and for which a response of events lasts. */
  longPollMs: 20_000,
  eventsMs: 60_000,
  /** Milliseconds without a change of the room after which its live readers are sent a comment. */
  heartbeatMs: 15_000,
  /** Milliseconds after which such a reader connects again. */
  changesRetryMs: 1_000,
};

/** Bytes that rows count for beside their data, in the room's limit and in the quota `store_bytes`. */
export const STREAM_CHARGES = { stream: 4_096, append: 128, producer: 1_024 };
