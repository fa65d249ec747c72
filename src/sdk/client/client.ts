/** The client: one user in one room, with everything that the room can do. */

import { Emitter } from "../core/emitter.ts";
import { DEFAULT_RUNTIME, type Runtime } from "../core/runtime.ts";
import type { Role, Room } from "../wire/resources.ts";
import { Comments } from "./comments.ts";
import { Connection } from "./connection/connection.ts";
import { isRoom } from "./connection/frames.ts";
import type { SocketState } from "./connection/socket.ts";
import { readClaims, socketUrl } from "./connection/token.ts";
import { Notifications } from "./notifications.ts";
import { Presence } from "./presence/presence.ts";
import { Storage } from "./storage.ts";
import type { StoreShapes } from "./stores/shapes.ts";
import type { Store } from "./stores/store.ts";
import { Stores, type StoresOf } from "./stores/stores.ts";
import type { User } from "./users/roster.ts";
import { Users } from "./users/users.ts";

export interface AtriumClientOptions<Shapes extends StoreShapes> {
  /** Where the service is, such as `https://atrium.example.com`. */
  readonly serverUrl: string;
  /** The user's token. It says which room it is for, too. */
  readonly authToken: string;
  /** What {@link defineStores} gave; without it, use {@link AtriumClient.store}. */
  readonly stores?: Shapes;
  /** False to end at the first loss of the connection. */
  readonly reconnect?: boolean;
}

/** How the connection fares. */
export interface ClientSocket extends Pick<Connection, "on" | "off"> {
  readonly state: SocketState;
}

export interface ClientEvents {
  /** The room's name, custom id or state was changed: `currentRoom` is the new one. */
  roomUpdated: Room;
}

export class AtriumClient<Shapes extends StoreShapes = Record<never, never>> extends Emitter<ClientEvents> {
  /** The user whose token it is. */
  readonly userId: string;
  readonly socket: ClientSocket;
  readonly users: Users;
  readonly presence: Presence;
  readonly stores: StoresOf<Shapes>;
  readonly notifications: Notifications;
  readonly comments: Comments;
  readonly storage: Storage;
  readonly #session: Connection;
  readonly #stores: Stores;
  #room: Room | null = null;
  #role: Role | null = null;

  /** Throws VALIDATION_ERROR for an address or a token that is none. `surroundings` are for tests. */
  constructor(options: AtriumClientOptions<Shapes>, surroundings: Runtime = DEFAULT_RUNTIME) {
    super();
    const { serverUrl, authToken, stores, reconnect = true } = options;
    const claims = readClaims(authToken);
    const url = socketUrl(serverUrl, claims);
    const session = new Connection({ url, token: authToken, reconnect }, surroundings);
    this.userId = claims.userId;
    this.#session = session;
    this.socket = session;
    session.feed.onJoined(({ room, role }) => {
      this.#room = room;
      this.#role = role;
      return undefined;
    });
    session.feed.hear("roomUpdated", ({ room }) => {
      if (!isRoom(room)) return;
      this.#room = room;
      this.emit("roomUpdated", room);
    });
    this.users = new Users(session);
    this.presence = new Presence(session, this.users, this.userId, surroundings);
    this.#stores = new Stores(session, this.userId, stores ?? {});
    this.stores = typed<Shapes>(this.#stores.declared());
    this.notifications = new Notifications(session);
    this.comments = new Comments(session);
    this.storage = new Storage(serverUrl, authToken, claims);
  }

  /** The user as it is now; null before the first join. */
  get currentUser(): User | null {
    return this.users.get({ userId: this.userId });
  }

  /** Null before the first join. Its figures are those of the latest join or change. */
  get currentRoom(): Room | null {
    return this.#room;
  }

  /** What was granted: the lower of the role asked for and the user's own. Null before the first join. */
  get role(): Role | null {
    return this.#role;
  }

  /** A store by its name; one that was declared is the one in `stores`. */
  store(name: string): Store {
    return this.#stores.get(name);
  }

  /** Opens the connection. It is tried once: rejected with CONNECTION_FAILED when that fails. */
  connect(): Promise<void> {
    return this.#session.connect();
  }

  /**
   * Joins the room, connecting first if need be; settles when users, `currentUser` and `currentRoom` are known.
   * From then on losses of the connection are made good, unless `reconnect` is false. AtriumError when refused.
   */
  join({ role }: { readonly role?: Role } = {}): Promise<void> {
    return this.#session.join(role);
  }

  /** Leaves at once: what waits for an answer is rejected, and no timer stays. `connect()` and `join()` begin anew. */
  disconnect(): void {
    this.presence.rest();
    this.#session.disconnect();
  }
}

/** The declared stores under the types that their shapes promise. */
const typed = <Shapes extends StoreShapes>(stores: Record<string, Store>): StoresOf<Shapes> =>
  stores as unknown as StoresOf<Shapes>;
