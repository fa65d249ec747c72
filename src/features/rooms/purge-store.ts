/** The statements by which a room is deleted: its row is marked first, and goes last. */

import { FENCED, type Statement, type Tenant } from "../../platform/d1/d1.ts";
import { type DeletingFile, markSomeFilesForDeletion } from "../files/storage/deletion-store.ts";
import { IS_LIVE } from "./table.ts";

/** A room that was deleted, of which something is left. */
export interface DeletedRoom {
  readonly accountId: string;
  readonly id: string;
}

const IS_DELETED = "EXISTS (SELECT 1 FROM rooms WHERE account_id = ? AND id = ? AND deleted_at IS NOT NULL)";

/**
 * Deletes the room for all who look for it, and returns its ID if there is one. Triggers stop counting what is in it, and
 * its custom ID is free.
 */
export const markDeleted = (
  { accountId }: Tenant,
  roomId: string,
  now: number,
): Statement<{ id: string }> => ({
  sql: `UPDATE rooms SET deleted_at = ?, custom_id = NULL, active_participants = 0, store_bytes = 0
        WHERE account_id = ? AND id = ? AND ${IS_LIVE} RETURNING id`,
  params: [now, accountId, roomId],
});

/** Deletes up to `limit` users of a deleted room. */
const deleteSomeUsers = (
  { accountId }: Tenant,
  roomId: string,
  limit: number,
): Statement<{ id: string }> => ({
  sql: `DELETE FROM users WHERE id IN (
          SELECT id FROM users WHERE account_id = ? AND room_id = ? AND ${IS_DELETED} LIMIT ?)
        RETURNING id`,
  params: [accountId, roomId, accountId, roomId, limit],
});

/** Deletes the row of a deleted room that has neither users nor files. */
const deleteEmpty = ({ accountId }: Tenant, roomId: string): Statement => ({
  sql: `DELETE FROM rooms WHERE account_id = ? AND id = ? AND deleted_at IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM users WHERE account_id = rooms.account_id AND room_id = rooms.id)
          AND NOT EXISTS (
            SELECT 1 FROM files WHERE account_id = rooms.account_id AND room_id = rooms.id AND state = 'stored')`,
  params: [accountId, roomId],
});

/** Removes up to `limit` users of a deleted room and hides as many files, which are returned; in the end, the room's row. */
export const deleteSome = (
  tenant: Tenant,
  roomId: string,
  limit: number,
): readonly [Statement<{ id: string }>, Statement<DeletingFile>, Statement] => [
  deleteSomeUsers(tenant, roomId, limit),
  markSomeFilesForDeletion(tenant, roomId, limit),
  deleteEmpty(tenant, roomId),
];

/** The rooms that were deleted and still have a row, the longest deleted first. */
export const selectDeletedRooms = (limit: number): Statement<DeletedRoom> => ({
  sql: `SELECT account_id AS accountId, id FROM rooms
        WHERE deleted_at IS NOT NULL AND account_id NOT IN ${FENCED} ORDER BY deleted_at LIMIT ?`,
  params: [limit],
});
