/** `AtriumServer.users`: creates, reads, updates and deletes the users of a room. */
import type { TokenInput, UserInput, UserUpdateInput } from "../wire/requests.ts";
import type {
  IssuedToken,
  PersonalData,
  PersonalRecord,
  UserSession,
  UserWithToken,
} from "../wire/resources.ts";
import { eachOf, type Filter, Resource, type ScrollShown, type UserSearch } from "./pages.ts";

/** A user with its sessions in the room. */
export interface UserWithSessions {
  readonly user: UserWithToken;
  /** The latest 100, newest first. */
  readonly sessions: UserSession[];
}

export class Users extends Resource {
  /** Creates a user. Give its `token` to the browser, which joins the room with it. */
  async create(user: UserInput): Promise<UserWithToken> {
    return (await this.rest.post<{ user: UserWithToken }>(["users"], user)).user;
  }

  /** The users of a room, newest first or in the order of `sort`. */
  list(roomId: string, search: UserSearch = {}): Promise<{ readonly users: UserWithToken[] } & ScrollShown> {
    return this.rest.get(["users"], { roomId, ...search });
  }

  /** All users of a room, newest first or in the order of `sort`: `for await (const user of atrium.users.each(roomId))`. Reads 100 at a time. */
  each(roomId: string, search: Filter<UserSearch> = {}): AsyncGenerator<UserWithToken, void, void> {
    return eachOf(
      (part) => this.list(roomId, { ...search, ...part }),
      ({ users }) => users,
    );
  }

  get(roomId: string, userId: string): Promise<UserWithSessions> {
    return this.rest.get(["users", userId], { roomId });
  }

  /** Like {@link get}, by the `customId` that you gave the user. */
  getByCustomId(roomId: string, customId: string): Promise<UserWithSessions> {
    return this.rest.get(["users", "custom", customId], { roomId });
  }

  /** Changes the given fields; null removes a field. */
  async update(roomId: string, userId: string, changes: UserUpdateInput): Promise<UserWithToken> {
    return (await this.rest.patch<{ user: UserWithToken }>(["users", userId], changes, { roomId })).user;
  }

  /**
   * Issues a token that is valid for `ttl` seconds (60 to 7,776,000), with a lower role if you like. Give it to the
   * browser in place of the user's lasting `token`.
   */
  createToken(roomId: string, userId: string, token: TokenInput): Promise<IssuedToken> {
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

  /** Everything that is kept of a user, deleted or not: `for await (const record of atrium.users.eachRecord(roomId, userId))`. */
  eachRecord(roomId: string, userId: string): AsyncGenerator<PersonalRecord, void, void> {
    return eachOf(
      ({ after }) => this.rest.get<PersonalData>(["users", userId, "personal-data"], { roomId, after }),
      ({ records }) => records,
    );
  }

  /**
   * Deletes the user with its content and its traces: comments, reactions, files, and its name in the event log. It
   * cannot be undone, and can be repeated.
   */
  erase(roomId: string, userId: string): Promise<void> {
    return this.rest.delete(["users", userId, "personal-data"], { query: { roomId } });
  }
}
