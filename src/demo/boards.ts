/** The boards of the demo: rooms of the demo organization that anyone can open, and so bounded in time, number and size. */

import type { RoomLimitsInput } from "@atrium/contract/resources/room-limits.ts";

/** The custom IDs of boards begin with it. */
export const BOARD_PREFIX = "demo:";

/** The custom IDs of the rooms of quickstarts begin with it. No code of a board has a colon, so boards and these are apart. */
export const QUICKSTART_PREFIX = `${BOARD_PREFIX}quickstart:`;

/** The custom IDs of a board's identities begin with it: they go with the board. */
export const ownedPrefix = (roomId: string): string => `${BOARD_PREFIX}${roomId}:`;

const MEBIBYTE = 1024 * 1024;

/** Bounds of a board. */
export const BOARD = {
  /** It is deleted this long after it was opened. */
  lifetimeMs: 24 * 60 * 60 * 1000,
  /** The room of a quickstart is for one visit of its page. */
  quickstartMs: 60 * 60 * 1000,
  /**
   * No further board is opened beyond so many, and of these, only so many stay that no one is in. As many rooms of
   * quickstarts are kept beside them, so that neither takes the place of the other.
   */
  maxBoards: 1_000,
  keptBoards: 500,
  /** A board that was just opened stays: its first visitor is about to come. */
  youngMs: 5 * 60 * 1000,
  limits: {
    /** Visitors that it may have in its time, whether online or not. */
    users: 50,
    storeBytes: 4 * MEBIBYTE,
    documentBytes: 4 * MEBIBYTE,
    streamBytes: 4 * MEBIBYTE,
    commentBytes: 4 * MEBIBYTE,
    files: 20,
    fileBytes: 10 * MEBIBYTE,
  } satisfies RoomLimitsInput,
} as const;
