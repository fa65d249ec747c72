/** `AtriumServer.users`: creates, reads, updates and deletes the users of a room. */
import type { Rest } from "../core/rest.ts";
import type { UserInput, UserUpdateInput } from "../wire/requests.ts";
import type { UserSession, UserWithToken } from "../wire/resources.ts";
import type { PageShown, Search } from "./pages.ts";

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

  /** The users of a room, newest first. */
  list(roomId: string, search: Search = {}): Promise<{ readonly users: UserWithToken[] } & PageShown> {
    return this.#rest.request({ method: "GET", path: ["users"], query: { roomId, ...search } });
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

  /** Deletes the user and disconnects it. Its token is refused from now on. */
  async delete(roomId: string, userId: string): Promise<void> {
    await this.#rest.request({ method: "DELETE", path: ["users", userId], query: { roomId } });
  }
}
