/** The boards of the demo: rooms of the demo organization that anyone can open, and so bounded in time, number and size. */

import type { UploadBounds } from "../features/files/context.ts";
import type { RoomRow } from "../features/rooms/table.ts";
import { readSetting, type Settings } from "../platform/settings.ts";
import { text } from "../platform/text.ts";
import type { QuotaUse } from "../wire/quota.ts";

/** Names a board in links: what follows `?room=`. */
export const BoardCode = text(4, 32).regex(
  /^[a-z0-9-]*$/,
  "must consist of lower-case letters, digits and hyphens",
);

/** The custom IDs of boards begin with it. */
export const BOARD_PREFIX = "demo:";

/** A board is deleted this long after it was opened. */
export const BOARD_LIFETIME_MS = 24 * 60 * 60 * 1000;

/** No further board is opened beyond so many, and of these, only so many stay that no one is in. */
export const MAX_BOARDS = 1_000;
export const KEPT_BOARDS = 500;

/** Visitors of one board, whether online or not. */
export const MAX_VISITORS = 50;

const MEBIBYTE = 1024 * 1024;

/** With these, the files of a board take 10 MiB at most. */
export const BOARD_UPLOADS: UploadBounds = { maxFileBytes: MEBIBYTE, maxPerUser: 5, maxPerRoom: 10 };

/** The most bytes of a board: its stores and documents together, and its comments. */
export const BOARD_STORE_BYTES = 4 * MEBIBYTE;
export const BOARD_COMMENT_BYTES = 4 * MEBIBYTE;

/** Whether a room with this custom ID is a board. */
const isBoard = (settings: Settings, accountId: string, customId: string | null): boolean =>
  customId?.startsWith(BOARD_PREFIX) === true && accountId === readSetting(settings, "DEMO_ACCOUNT_ID");

/** Bounds of uploads in a room; null for none beyond those of every file. */
export const boardUploadBounds =
  (settings: Settings) =>
  ({ accountId, customId }: RoomRow): UploadBounds | null =>
    isBoard(settings, accountId, customId) ? BOARD_UPLOADS : null;

/** The most bytes of all comments of a board; null for a room that is no board. */
export const boardCommentBytes = (
  settings: Settings,
  { accountId, customId }: Pick<RoomRow, "accountId" | "customId">,
): number | null => (isBoard(settings, accountId, customId) ? BOARD_COMMENT_BYTES : null);

/** The quota `store_bytes` as it holds for a room with these bytes: a board has one of its own. */
export const storeUseOf = (
  settings: Settings,
  { accountId, customId, storeBytes }: Pick<RoomRow, "accountId" | "customId" | "storeBytes">,
  ofOrganization: QuotaUse,
): QuotaUse => {
  if (!isBoard(settings, accountId, customId) || ofOrganization.used > ofOrganization.limit)
    return ofOrganization;
  return { ...ofOrganization, used: storeBytes, limit: BOARD_STORE_BYTES };
};
