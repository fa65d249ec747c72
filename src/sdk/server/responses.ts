/** What the REST interface is asked and answers beyond the things of `wire.ts`: pages, searches, entries. */
import type { Room, UserRecord } from "../wire/resources.ts";

/** A user with the JWT that its browser joins with: whoever has that acts as the user. */
export interface UserWithToken extends UserRecord {
  readonly token: string;
}

/** A stay of a user in a room. */
export interface UserSession {
  readonly id: string;
  readonly user_id: string;
  readonly room_id: string;
  readonly joined_at: string;
  /** Null while it lasts. */
  readonly left_at: string | null;
}

/** Which part of a list is wanted: 50 of it from its start, unless said otherwise. */
export interface Page {
  /** 100 at most. */
  readonly limit?: number;
  readonly offset?: number;
}

/** What a list of rooms or users shows: text in the name in any case, and dates of creation (RFC 3339). */
export interface Search extends Page {
  readonly search?: string;
  readonly from?: string;
  readonly to?: string;
}

/** What a list answers besides its rows. */
export interface PageShown {
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
}

export interface RoomWithUsers {
  readonly room: Room;
  /** A page of the room's users, and how many there are. */
  readonly users: UserRecord[];
  readonly usersTotal: number;
  readonly limit: number;
  readonly offset: number;
}

export interface UserWithSessions {
  readonly user: UserWithToken;
  /** The latest 100, newest first. */
  readonly sessions: UserSession[];
}

export interface Entry {
  readonly value: unknown;
  /** The `seq` of the change that made it so. */
  readonly version: number;
}

export interface WriteOptions {
  /** The version that the entry must have now, 0 for none; else the write is refused with `CONFLICT`. */
  readonly ifVersion?: number;
}

export interface Written {
  readonly version: number;
  readonly seq: number;
}
