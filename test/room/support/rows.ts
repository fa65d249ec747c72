/** Database rows, for tests of rooms without a database. */

import { rightsOfRole } from "@atrium/contract/resources/permissions.ts";
import type { UserRecord } from "@atrium/contract/resources/user.ts";
import { newRoomRow } from "../../../src/features/rooms/table.ts";
import type { KnownUser } from "../../../src/room/engine/join/join-decision.ts";
import type { OpenSession } from "../../../src/room/storage/storage.ts";

/** A room that no one has joined yet. */
export const ROOM = newRoomRow({ accountId: "account", id: "room", name: "Room", createdAt: 0 });

/** A user of this room, an editor. */
export const userRecord = (id: string, fields: Partial<UserRecord> = {}): UserRecord => ({
  id,
  accountId: ROOM.accountId,
  roomId: ROOM.id,
  name: id,
  profilePicture: null,
  customId: null,
  kind: null,
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
