/** `AtriumServer.rooms`: creates, reads, updates and deletes rooms. */
import type { RoomInput, RoomUpdateInput } from "../wire/requests.ts";
import type { ListedRoom, Room, UserRecord } from "../wire/resources.ts";
import { eachOf, type Filter, Resource, type RoomSearch, type ScrollShown, type Search } from "./pages.ts";

/** A room with one page of its users. */
export interface RoomWithUsers {
  readonly room: Room;
  readonly users: UserRecord[];
  /** The number of matching users, on all pages. */
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

export class Rooms extends Resource {
  async create(room: RoomInput): Promise<Room> {
    return (await this.rest.post<{ room: Room }>(["rooms"], room)).room;
  }

  /** Newest first, or in the order of `sort`. */
  list(search: RoomSearch = {}): Promise<{ readonly rooms: ListedRoom[] } & ScrollShown> {
    return this.rest.get(["rooms"], search);
  }

  /** All rooms, newest first or in the order of `sort`: `for await (const room of atrium.rooms.each())`. Reads 100 at a time. */
  each(search: Filter<RoomSearch> = {}): AsyncGenerator<ListedRoom, void, void> {
    return eachOf(
      (part) => this.list({ ...search, ...part }),
      ({ rooms }) => rooms,
    );
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
  async update(roomId: string, changes: RoomUpdateInput): Promise<Room> {
    return (await this.rest.patch<{ room: Room }>(["rooms", roomId], changes)).room;
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
