/** `AtriumServer.rooms` and `AtriumServer.users`: creates, reads, updates and deletes rooms and their users. */
import type { PersonalData } from "../../features/privacy/schema.ts";
import type * as input from "../wire/requests.ts";
import type * as wire from "../wire/resources.ts";
import {
  eachOf,
  type Filter,
  type Listed,
  Resource,
  type RoomSearch,
  type Scroll,
  type ScrollShown,
  type Search,
  type UserSearch,
} from "./pages.ts";

/** A room with one page of its users. */
export interface RoomWithUsers extends Omit<ScrollShown, "total"> {
  readonly room: wire.Room;
  readonly users: wire.User[];
  /** The number of matching users, on all pages. */
  readonly usersTotal: number;
}

/** The counter of a room before and after it was set to the number of users online. */
export interface Reconciliation {
  readonly room: wire.Room;
  readonly previous_active_participants: number;
  readonly reconciled_active_participants: number;
}

export class Rooms extends Resource {
  create(room: input.RoomInput): Promise<wire.Room> {
    return this.only("room", this.rest.post(["rooms"], room));
  }

  /** Newest first, or in the order of `sort`. */
  list(search: RoomSearch = {}): Promise<Listed<"rooms", wire.ListedRoom>> {
    return this.rest.get(["rooms"], search);
  }

  /** All rooms, 100 at a time: `for await (const room of atrium.rooms.each())`. */
  each(search: Filter<RoomSearch> = {}): AsyncGenerator<wire.ListedRoom, void, void> {
    return eachOf("rooms", (part) => this.list({ ...search, ...part }));
  }

  /** The room with its users; `users` filters, orders and pages the list of users. */
  get(roomId: string, users: Search = {}): Promise<RoomWithUsers> {
    return this.rest.get(["rooms", roomId], users);
  }

  /** Like {@link get}, by the `customId` that you gave the room. */
  getByCustomId(customId: string, users: Search = {}): Promise<RoomWithUsers> {
    return this.rest.get(["rooms", "custom", customId], users);
  }

  /** Changes the given fields. Closing a room disconnects everyone in it. */
  update(roomId: string, changes: input.RoomUpdateInput): Promise<wire.Room> {
    return this.only("room", this.rest.patch(["rooms", roomId], changes));
  }

  /** Deletes the room with its users, stores, comments and files. */
  delete(roomId: string): Promise<void> {
    return this.rest.delete(["rooms", roomId]);
  }

  /** Sets `active_participants` to the number of users who are online. It is safe to call at any time. */
  reconcile(roomId: string): Promise<Reconciliation> {
    return this.rest.post(["rooms", roomId, "reconcile"]);
  }
}

/** A user with its sessions in the room. */
export interface UserWithSessions {
  readonly user: wire.UserWithToken;
  /** The latest 100, newest first. */
  readonly sessions: wire.UserSession[];
}

/** `AtriumServer.users`: the users of a room. */
export class Users extends Resource {
  /** Creates a user. Give its `token` to the browser, which joins the room with it. */
  create(user: input.UserInput): Promise<wire.UserWithToken> {
    return this.only("user", this.rest.post(["users"], user));
  }

  /** The users of a room, newest first or in the order of `sort`. */
  list(roomId: string, search: UserSearch = {}): Promise<Listed<"users", wire.UserWithToken>> {
    return this.rest.get(["users"], { roomId, ...search });
  }

  /** All users of a room, 100 at a time: `for await (const user of atrium.users.each(roomId))`. */
  each(roomId: string, search: Filter<UserSearch> = {}): AsyncGenerator<wire.UserWithToken, void, void> {
    return eachOf("users", (part) => this.list(roomId, { ...search, ...part }));
  }

  /** Users of all rooms, by room and name. A page can be short or empty: go on while `cursor` is not null. */
  find(
    search: Pick<Search, "search"> & Pick<Scroll, "limit" | "after"> = {},
  ): Promise<Listed<"users", wire.FoundUser, Pick<ScrollShown, "cursor">>> {
    return this.rest.get(["organization", "users"], search);
  }

  /** All users of all rooms that match, by room and name. */
  eachFound(search: Pick<Search, "search"> = {}): AsyncGenerator<wire.FoundUser, void, void> {
    return eachOf("users", (part) => this.find({ ...search, ...part }));
  }

  get(roomId: string, userId: string): Promise<UserWithSessions> {
    return this.rest.get(["users", userId], { roomId });
  }

  /** Like {@link get}, by the `customId` that you gave the user. */
  getByCustomId(roomId: string, customId: string): Promise<UserWithSessions> {
    return this.rest.get(["users", "custom", customId], { roomId });
  }

  /** Changes the given fields; null removes a field. */
  update(roomId: string, userId: string, changes: input.UserUpdateInput): Promise<wire.UserWithToken> {
    return this.only("user", this.rest.patch(["users", userId], changes, { roomId }));
  }

  /** Issues a token for `ttl` seconds (60 to 7,776,000), of a lower role if you like, instead of the lasting `token`. */
  createToken(roomId: string, userId: string, token: input.TokenInput): Promise<wire.IssuedToken> {
    return this.rest.post(["users", userId, "tokens"], token, { roomId });
  }

  /** Ends all tokens of the user so far and disconnects it. Its `token` is a new one from now on. */
  endTokens(roomId: string, userId: string): Promise<void> {
    return this.rest.delete(["users", userId, "tokens"], { query: { roomId } });
  }

  /** Deletes the user and disconnects it. Its tokens are refused from now on. */
  delete(roomId: string, userId: string): Promise<void> {
    return this.rest.delete(["users", userId], { query: { roomId } });
  }

  /** All kept data of a user, deleted or not: `for await (const record of atrium.users.eachRecord(roomId, userId))`. */
  eachRecord(roomId: string, userId: string): AsyncGenerator<wire.PersonalRecord, void, void> {
    const path = ["users", userId, "personal-data"];
    return eachOf("records", ({ after }) => this.rest.get<PersonalData>(path, { roomId, after }));
  }

  /** Deletes the user with its comments, reactions, files and its name in the event log, for good. Repeatable. */
  erase(roomId: string, userId: string): Promise<void> {
    return this.rest.delete(["users", userId, "personal-data"], { query: { roomId } });
  }
}
