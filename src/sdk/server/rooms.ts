/** `AtriumServer.rooms`: creates, reads, updates and deletes rooms. */
import type { Rest } from "../core/rest.ts";
import type { RoomInput, RoomUpdateInput } from "../wire/requests.ts";
import type { ListedRoom, Room, UserRecord } from "../wire/resources.ts";
import { eachOf, type Filter, type RoomSearch, type ScrollShown, type Search } from "./pages.ts";

/** A room with one page of its users. */
export interface RoomWithUsers {
  readonly room: Room;
  readonly users: UserRecord[];
  /** How many of the room's users match, on all pages. */
  readonly usersTotal: number;
  readonly limit: number;
  readonly offset: number;
  /** Goes into `after` to read the users that follow; null on the last page. */
  readonly cursor: string | null;
}

/** The counter of a room before and after it was set to the number of users online. */
export interface Reconciliation {
  readonly room: Room;
  readonly previous_active_participants: number;
  readonly reconciled_active_participants: number;
}

export class Rooms {
  readonly #rest: Rest;

  constructor(rest: Rest) {
    this.#rest = rest;
  }

  async create(room: RoomInput): Promise<Room> {
    const request = { method: "POST", path: ["rooms"], body: room } as const;
    return (await this.#rest.request<{ room: Room }>(request)).room;
  }

  /** Newest first, or in the order of `sort`. */
  list(search: RoomSearch = {}): Promise<{ readonly rooms: ListedRoom[] } & ScrollShown> {
    return this.#rest.request({ method: "GET", path: ["rooms"], query: { ...search } });
  }

  /** All rooms, newest first or in the order of `sort`: `for await (const room of atrium.rooms.each())`. Reads 100 at a time. */
  each(search: Filter<RoomSearch> = {}): AsyncGenerator<ListedRoom, void, void> {
    return eachOf(async (part) => {
      const { rooms, cursor } = await this.list({ ...search, ...part });
      return { items: rooms, cursor };
    });
  }

  /** The room with its users; `users` filters, orders and pages the list of users. */
  get(roomId: string, users: Search = {}): Promise<RoomWithUsers> {
    return this.#rest.request({ method: "GET", path: ["rooms", roomId], query: { ...users } });
  }

  /** Like {@link get}, by the `customId` that you gave the room. */
  getByCustomId(customId: string, users: Search = {}): Promise<RoomWithUsers> {
    return this.#rest.request({ method: "GET", path: ["rooms", "custom", customId], query: { ...users } });
  }

  /** Changes the given fields. Closing a room disconnects everyone in it. */
  async update(roomId: string, changes: RoomUpdateInput): Promise<Room> {
    const request = { method: "PATCH", path: ["rooms", roomId], body: changes } as const;
    return (await this.#rest.request<{ room: Room }>(request)).room;
  }

  /** Deletes the room with its users, stores, comments and files. */
  async delete(roomId: string): Promise<void> {
    await this.#rest.request({ method: "DELETE", path: ["rooms", roomId] });
  }

  /** Sets `active_participants` to the number of users who are online. It is safe to call at any time. */
  reconcile(roomId: string): Promise<Reconciliation> {
    return this.#rest.request({ method: "POST", path: ["rooms", roomId, "reconcile"] });
  }
}
