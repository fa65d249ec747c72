/** Database rows, for tests of rooms without a database. */
import type { RoomRow } from "../../../src/features/rooms/table.ts";

/** A room that no one has joined yet. */
export const ROOM: RoomRow = {
  accountId: "account",
  id: "room",
  name: "Room",
  nameFolded: "ROOM",
  customId: null,
  state: "active",
  createdAt: 0,
  totalUsersCreated: 0,
  userCount: 0,
  activeParticipants: 0,
  occupiedMs: 0,
  occupiedSince: null,
  lastActiveAt: 0,
  storeBytes: 0,
  fileCount: 0,
  fileBytes: 0,
  deletedAt: null,
  statsVersion: 0,
  firstJoinAt: null,
};
