/** `AtriumServer.users`: creates, reads, updates and deletes the users of a room. */
import type { Rest } from "../core/rest.ts";
import type { TokenInput, UserInput, UserUpdateInput } from "../wire/requests.ts";
import type {
  IssuedToken,
  PersonalData,
  PersonalRecord,
  UserSession,
  UserWithToken,
} from "../wire/resources.ts";
import { eachOf, type Filter, type ScrollShown, type UserSearch } from "./pages.ts";

/** A user with its sessions in the room. */
export interface UserWithSessions {
  readonly user: UserWithToken;
  /** The latest 100, newest first. */
  readonly sessions: UserSession[];
}

export class Users {
  readonly #rest: Rest;

  constructor(rest: Rest) {
    this.#rest = rest;
  }

  /** Creates a user. Give its `token` to the browser, which joins the room with it. */
  async create(user: UserInput): Promise<UserWithToken> {
    const request = { method: "POST", path: ["users"], body: user } as const;
    return (await this.#rest.request<{ user: UserWithToken }>(request)).user;
  }

  /** The users of a room, newest first or in the order of `sort`. */
  list(roomId: string, search: UserSearch = {}): Promise<{ readonly users: UserWithToken[] } & ScrollShown> {
    return this.#rest.request({ method: "GET", path: ["users"], query: { roomId, ...search } });
  }

  /** All users of a room, newest first or in the order of `sort`: `for await (const user of atrium.users.each(roomId))`. Reads 100 at a time. */
  each(roomId: string, search: Filter<UserSearch> = {}): AsyncGenerator<UserWithToken, void, void> {
    return eachOf(async (part) => {
      const { users, cursor } = await this.list(roomId, { ...search, ...part });
      return { items: users, cursor };
    });
  }

  get(roomId: string, userId: string): Promise<UserWithSessions> {
    return this.#rest.request({ method: "GET", path: ["users", userId], query: { roomId } });
  }

  /** Like {@link get}, by the `customId` that you gave the user. */
  getByCustomId(roomId: string, customId: string): Promise<UserWithSessions> {
    return this.#rest.request({ method: "GET", path: ["users", "custom", customId], query: { roomId } });
  }

  /** Changes the given fields; null removes a field. */
  async update(roomId: string, userId: string, changes: UserUpdateInput): Promise<UserWithToken> {
    const path = ["users", userId];
    const request = { method: "PATCH", path, query: { roomId }, body: changes } as const;
    return (await this.#rest.request<{ user: UserWithToken }>(request)).user;
  }

  /**
   * Issues a token that is valid for `ttl` seconds (60 to 7,776,000), with a lower role if you like. Give it to the
   * browser in place of the user's lasting `token`.
   */
  createToken(roomId: string, userId: string, token: TokenInput): Promise<IssuedToken> {
    const path = ["users", userId, "tokens"];
    return this.#rest.request({ method: "POST", path, query: { roomId }, body: token });
  }

  /** Ends all tokens of the user so far and disconnects it. Its `token` is a new one from now on. */
  async endTokens(roomId: string, userId: string): Promise<void> {
    await this.#rest.request({ method: "DELETE", path: ["users", userId, "tokens"], query: { roomId } });
  }

  /** Deletes the user and disconnects it. Its tokens are refused from now on. */
  async delete(roomId: string, userId: string): Promise<void> {
    await this.#rest.request({ method: "DELETE", path: ["users", userId], query: { roomId } });
  }

  /** Everything that is kept of a user, deleted or not: `for await (const record of atrium.users.eachRecord(roomId, userId))`. */
  eachRecord(roomId: string, userId: string): AsyncGenerator<PersonalRecord, void, void> {
    return eachOf(async ({ after }) => {
      const { records, cursor } = await this.#rest.request<PersonalData>({
        ...{ method: "GET", path: ["users", userId, "personal-data"] },
        query: { roomId, ...(after !== undefined && { after }) },
      });
      return { items: records, cursor };
    });
  }

  /**
   * Deletes the user with what it wrote and what names it: comments, reactions, files, and its name in the event log. It
   * cannot be undone, and can be repeated.
   */
  async erase(roomId: string, userId: string): Promise<void> {
    const path = ["users", userId, "personal-data"];
    await this.#rest.request({ method: "DELETE", path, query: { roomId } });
  }
}
