/** Rows as the database has them, for rooms that are tested without one. */
import type { RoomRow } from "../../../src/rooms/table.ts";

/** A room that nobody has joined yet. */
export const ROOM: RoomRow = {
  accountId: "account",
  id: "room",
  name: "Room",
  nameFolded: "ROOM",
  customId: null,
  state: "active",
  createdAt: 0,
  totalUsersCreated: 0,
  activeParticipants: 0,
  occupiedMs: 0,
  occupiedSince: null,
  figuresVersion: 0,
  firstJoinAt: null,
};
