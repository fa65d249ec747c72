/** Database rows, for tests of rooms without a database. */

import type { RoomRow } from "../../../src/features/rooms/table.ts";
import type { KnownUser } from "../../../src/room/engine/join/join-decision.ts";
import type { OpenSession } from "../../../src/room/storage/storage.ts";
import { rightsOfRole } from "../../../src/wire/permissions.ts";
import type { UserRecord } from "../../../src/wire/user.ts";

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
  joiningUntil: 0,
  firstJoinAt: null,
};

/** A user of this room, an editor. */
export const userRecord = (id: string, fields: Partial<UserRecord> = {}): UserRecord => ({
  id,
  accountId: ROOM.accountId,
  roomId: ROOM.id,
  name: id,
  profilePicture: null,
  customId: null,
  role: "editor",
  createdAt: 0,
  ...fields,
});

/** The same as the database has it. */
export const knownUser = (record: UserRecord): KnownUser => ({
  record,
  isGuest: false,
  subject: { ...record, tokenEpoch: 0, accountTokenEpoch: 0, identityId: null, identityEpoch: null },
  rights: rightsOfRole(record.role),
});

export const openSession = (userId: string, { name = userId, joinedAt = 0 } = {}): OpenSession => ({
  id: `session of ${userId}`,
  joinedAt,
  user: userRecord(userId, { name }),
});
