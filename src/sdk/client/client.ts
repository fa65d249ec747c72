/** The client: one user in one room. */
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
import type { BroadcastsIn, ClientTypes, PresenceIn } from "./types.ts";
import type { User } from "./users/roster.ts";
import { Users } from "./users/users.ts";

export interface AtriumClientOptions<Shapes extends StoreShapes> {
  /** The address of the service, such as `https://atrium.example`. */
  readonly serverUrl: string;
  /** The user's token. It also identifies the room. */
  readonly authToken: string;
  /** The stores that {@link defineStores} declared; any other store is available by {@link AtriumClient.store}. */
  readonly stores?: Shapes;
  /** False to give up when the connection is lost; true by default. */
  readonly reconnect?: boolean;
}

/** The state of the connection, and its events. */
export interface ClientSocket extends Pick<Connection, "on" | "off"> {
  readonly state: SocketState;
}

export interface ClientEvents {
  /** The room's name, custom id or state has changed; `currentRoom` is up to date. */
  roomUpdated: Room;
}

/** `Shapes` are those of the option `stores`; `Types` are the application's own, which no option declares. */
export class AtriumClient<
  Shapes extends StoreShapes = Record<never, never>,
  Types extends ClientTypes = ClientTypes,
> extends Emitter<ClientEvents> {
  /** The id of the user that the token belongs to. */
  readonly userId: string;
  readonly socket: ClientSocket;
  readonly users: Users;
  readonly presence: Presence<PresenceIn<Types>>;
  readonly stores: StoresOf<Shapes>;
  readonly notifications: Notifications<BroadcastsIn<Types>>;
  readonly comments: Comments;
  readonly storage: Storage;
  readonly #connection: Connection;
  readonly #stores: Stores;
  #room: Room | null = null;
  #role: Role | null = null;

  /** Throws VALIDATION_ERROR for an invalid address or token. `runtime` is for tests. */
  constructor(options: AtriumClientOptions<Shapes>, runtime: Runtime = DEFAULT_RUNTIME) {
    super();
    const { serverUrl, authToken, stores, reconnect = true } = options;
    const claims = readClaims(authToken);
    const url = socketUrl(serverUrl, claims);
    const connection = new Connection({ url, token: authToken, reconnect }, runtime);
    this.userId = claims.userId;
    this.#connection = connection;
    this.socket = connection;
    connection.changes.onJoined(({ room, role }) => {
      this.#room = room;
      this.#role = role;
      return undefined;
    });
    connection.changes.handle("roomUpdated", ({ room }) => {
      if (!isRoom(room)) return;
      this.#room = room;
      this.emit("roomUpdated", room);
    });
    this.users = new Users(connection);
    this.presence = new Presence(connection, this.users, this.userId, runtime);
    this.#stores = new Stores(connection, this.userId, stores ?? {});
    this.stores = typed<Shapes>(this.#stores.declared());
    this.notifications = new Notifications(connection);
    this.comments = new Comments(connection);
    this.storage = new Storage(serverUrl, authToken, claims);
  }

  /** The user that the token belongs to; null before the first join. */
  get currentUser(): User | null {
    return this.users.get({ userId: this.userId });
  }

  /** The room; null before the first join. Its counts are those of the latest join or update. */
  get currentRoom(): Room | null {
    return this.#room;
  }

  /** The role in the room: the lower of the requested role and the user's own. Null before the first join. */
  get role(): Role | null {
    return this.#role;
  }

  /** The store of this name: the same object each time, and for declared stores the one in `stores`. */
  store(name: string): Store {
    return this.#stores.get(name);
  }

  /** Opens the connection, with one attempt. Throws CONNECTION_FAILED if it fails. */
  connect(): Promise<void> {
    return this.#connection.connect();
  }

  /**
   * Joins the room, and connects first if necessary. Resolves when users, `currentUser` and `currentRoom` are loaded.
   * From then on, a lost connection is restored, unless `reconnect` is false. Throws an AtriumError if refused.
   */
  join({ role }: { readonly role?: Role } = {}): Promise<void> {
    return this.#connection.join(role);
  }

  /** Leaves the room at once; pending requests are rejected. `connect()` and `join()` can be called again. */
  disconnect(): void {
    this.presence.stop();
    this.#connection.disconnect();
  }
}

/** The declared stores, with the types of their shapes. */
const typed = <Shapes extends StoreShapes>(stores: Record<string, Store>): StoresOf<Shapes> =>
  stores as unknown as StoresOf<Shapes>;
