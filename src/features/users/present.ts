/** How users and their sessions are presented: from a row and what the room knows to what is on the wire. */
import { presentNullableTime, presentTime } from "../../platform/time.ts";
import type { Attendance } from "../../room/port/snapshots.ts";
import type { User, UserSession } from "./schema.ts";
import type { UserRow } from "./table.ts";

/** A user's row without the columns that only the search and the tokens need. */
export type UserRecord = Omit<UserRow, "nameFolded" | "tokenEpoch" | "accountTokenEpoch">;

export const recordOf = ({
  nameFolded: _,
  tokenEpoch: __,
  accountTokenEpoch: ___,
  ...record
}: UserRow): UserRecord => record;

/** Presents a user. Without attendance, it has never joined. */
export function presentUser(row: UserRecord, attendance?: Attendance): User {
  return {
    id: row.id,
    room_id: row.roomId,
    name: row.name,
    ...(row.profilePicture === null ? {} : { profile_picture: row.profilePicture }),
    ...(row.customId === null ? {} : { custom_id: row.customId }),
    role: row.role,
    status: attendance?.online ? "online" : "offline",
    created_at: presentTime(row.createdAt),
    ...(attendance === undefined ? {} : { joined_at: presentTime(attendance.joinedAt) }),
  };
}

/** Presents one session of a user. */
export const presentSession = (session: {
  readonly id: string;
  readonly userId: string;
  readonly roomId: string;
  readonly joinedAt: number;
  readonly leftAt: number | null;
}): UserSession => ({
  id: session.id,
  user_id: session.userId,
  room_id: session.roomId,
  joined_at: presentTime(session.joinedAt),
  left_at: presentNullableTime(session.leftAt),
});
