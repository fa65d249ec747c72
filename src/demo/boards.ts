/** The boards of the demo: rooms of the demo organization that anyone can open, and so bounded in time, number and size. */

import type { UploadBounds } from "../features/files/context.ts";
import type { RoomRow } from "../features/rooms/table.ts";
import { readSetting, type Settings } from "../platform/settings.ts";
import type { QuotaUse } from "../wire/quota.ts";

/** The custom IDs of boards begin with it. */
export const BOARD_PREFIX = "demo:";

/** The custom IDs of a board's identities and groups begin with it: they go with the board. */
export const ownedPrefix = (roomId: string): string => `${BOARD_PREFIX}${roomId}:`;

const MEBIBYTE = 1024 * 1024;

/** Bounds of a board. */
export const BOARD = {
  /** It is deleted this long after it was opened. */
  lifetimeMs: 24 * 60 * 60 * 1000,
  /** No further board is opened beyond so many, and of these, only so many stay that no one is in. */
  maxBoards: 1_000,
  keptBoards: 500,
  /** Visitors, whether online or not, and the guests that its links may still let in. */
  maxVisitors: 50,
  /** With these, its files take 10 MiB at most. */
  uploads: { maxFileBytes: MEBIBYTE, maxPerUser: 5, maxPerRoom: 10 } satisfies UploadBounds,
  /** Its stores and documents together. */
  storeBytes: 4 * MEBIBYTE,
  commentBytes: 4 * MEBIBYTE,
} as const;

/** Whether a room with this custom ID is a board. */
const isBoard = (settings: Settings, accountId: string, customId: string | null): boolean =>
  customId?.startsWith(BOARD_PREFIX) === true && accountId === readSetting(settings, "DEMO_ACCOUNT_ID");

/** Bounds of uploads in a room; null for none beyond those of every file. */
export const boardUploadBounds =
  (settings: Settings) =>
  ({ accountId, customId }: RoomRow): UploadBounds | null =>
    isBoard(settings, accountId, customId) ? BOARD.uploads : null;

/** The most bytes of all comments of a board; null for a room that is no board. */
export const boardCommentBytes = (
  settings: Settings,
  { accountId, customId }: Pick<RoomRow, "accountId" | "customId">,
): number | null => (isBoard(settings, accountId, customId) ? BOARD.commentBytes : null);

/** The quota `store_bytes` as it holds for a room with these bytes: a board has one of its own. */
export const storeUseOf = (
  settings: Settings,
  { accountId, customId, storeBytes }: Pick<RoomRow, "accountId" | "customId" | "storeBytes">,
  ofOrganization: QuotaUse,
): QuotaUse => {
  if (!isBoard(settings, accountId, customId) || ofOrganization.used > ofOrganization.limit)
    return ofOrganization;
  return { ...ofOrganization, used: storeBytes, limit: BOARD.storeBytes };
};
