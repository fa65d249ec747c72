/** The client: one user in one room. */
import { Emitter, report } from "../core/emitter.ts";
import { AtriumError } from "../core/error.ts";
import { type Abortable, abortable, DEFAULT_RUNTIME, type Runtime } from "../core/runtime.ts";
import type { Permission, Resource, Role, Room } from "../wire/resources.ts";
import { Comments } from "./comments.ts";
import { Connection, type SocketState, type SocketStatus } from "./connection/connection.ts";
import { type Access, canWrite, isRoom, readAccess } from "./connection/frames.ts";
import { LEFT } from "./connection/machine.ts";
import { type AuthToken, type RoomPath, socketBase, Tokens } from "./connection/token.ts";
import { inspections } from "./inspection.ts";
import { Notifications } from "./notifications.ts";
import type { OfflineSupport } from "./offline.ts";
import { Presence } from "./presence.ts";
import { Storage } from "./storage.ts";
import type { History } from "./stores/history.ts";
import { watchPageClose } from "./stores/page-close.ts";
import { ClientStores, type Store, type StoresOf } from "./stores/store.ts";
import type { StoreShapes } from "./stores/writes.ts";
import type { BroadcastsIn, ClientTypes, PresenceIn, Registered } from "./types.ts";
import { Unsynced, type UnsyncedEvents } from "./unsynced.ts";
import { type User, Users } from "./users.ts";

const LEAVE_TIMEOUT_MS = 10_000;
const NO_PERMISSIONS: Access["permissions"] = [];

export interface AtriumClientOptions<Shapes extends StoreShapes> {
  /** The address of the service, such as `https://atrium.example`. */
  readonly serverUrl: string;
  /** The user's token. A function is asked again before and after it expires, and once refused; null means none yet. */
  readonly authToken: AuthToken;
  /** The stores that {@link defineStores} declared; any other store is available by {@link AtriumClient.store}. */
  readonly stores?: Shapes | undefined;
  /** False to give up when the connection is lost; true by default. */
  readonly reconnect?: boolean | undefined;
  /** Keeps stores and unsent writes on the device, for use without a network: see `atrium/offline`. */
  readonly offline?: OfflineSupport | undefined;
  /** True to let the browser ask before it closes a tab with changes that are not stored yet; false by default. */
  readonly warnBeforeUnload?: boolean | undefined;
}

export interface JoinOptions extends Abortable {
  /**
   * The role to join with, up to your own, which is the default. Throws CONFLICT if the room was joined with
   * another one: `leave()` first.
   */
  readonly role?: Role | undefined;
}

export interface FlushOptions extends Abortable {
  readonly timeoutMs?: number | undefined;
}

/** The state of the connection, and its events. */
export interface ClientSocket extends Pick<Connection, "on" | "off"> {
  readonly state: SocketState;
  /** The state with its error, its attempts and its times: another object after each change. */
  readonly status: SocketStatus;
}

export interface ClientEvents extends UnsyncedEvents {
  /** Something failed that no call is rejected with, such as the connection for good, or the loading of a hook. */
  error: AtriumError;
  /** The room's name, custom id or state has changed; `currentRoom` is up to date. */
  roomUpdated: Room;
  /** Your permissions were changed while you are in the room. */
  accessChanged: Access;
  /** Your role was changed while you are in the room. */
  roleChanged: Role;
}

/** `Shapes` are the shapes of the option `stores`; `Types` are the application's own, as it has registered them. */
export class AtriumClient<
  Shapes extends StoreShapes = Record<never, never>,
  Types extends ClientTypes = Registered,
> extends Emitter<ClientEvents> {
  readonly socket: ClientSocket;
  readonly users: Users;
  readonly presence: Presence<PresenceIn<Types>>;
  readonly stores: StoresOf<Shapes>;
  readonly history: History;
  readonly notifications: Notifications<BroadcastsIn<Types>>;
  readonly comments: Comments;
  readonly storage: Storage;
  readonly #connection: Connection;
  readonly #stores: ClientStores;
  readonly #unsynced: Unsynced;
  /** Another object after each `disconnect()`: an earlier `leave()` does not end a later stay. */
  #stay = {};
  /** The stay that a `join()` begins which waits for the end of this one; a later `leave()` or `disconnect()` takes it back. */
  #nextStay: object | null = null;
  #leaving: Promise<void> | null = null;
  /** Several hooks can wait for the same request. */
  readonly #reported = new WeakSet<AtriumError>();
  #room: Room | null = null;
  #access: { readonly permissions: Access["permissions"]; readonly role: Role | null } = {
    permissions: NO_PERMISSIONS,
    role: null,
  };

  /**
   * Throws VALIDATION_ERROR for an invalid address or, as a text, an invalid token. `runtime` is for tests; with `room`,
   * the token is an identity's.
   */
  constructor(options: AtriumClientOptions<Shapes>, shared: Runtime = DEFAULT_RUNTIME, room?: RoomPath) {
    super();
    const runtime = { ...shared };
    const {
      serverUrl,
      authToken,
      stores,
      reconnect = true,
      warnBeforeUnload = false,
      offline,
    }: typeof options = Object(options);
    const tokens = new Tokens(authToken, runtime, room);
    const base = socketBase(serverUrl);
    const persistence = offline?.attach(base, runtime);
    const connection = new Connection({ base, tokens, reconnect }, runtime);
    const { changeStream, requests } = connection;
    if (persistence)
      tokens.prepare = (claims) =>
        persistence.open({
          claims,
          changeStream,
          stores: this.#stores,
          users: this.users,
        });
    this.#connection = connection;
    this.socket = connection;
    changeStream.onJoined(({ room, access }) => {
      this.#room = room;
      this.#access = access;
    });
    changeStream.handle("roomUpdated", ({ room }) => {
      if (!isRoom(room)) return;
      this.#room = room;
      this.emit("roomUpdated", room);
    });
    changeStream.handle("accessChanged", (data) => {
      const access = readAccess(data);
      const isOtherRole = access.role !== this.role;
      this.#access = access;
      this.presence.resume();
      this.emit("accessChanged", access);
      if (isOtherRole) this.emit("roleChanged", access.role);
    });
    connection.on("failed", ({ error }) => this.emit("error", error));
    this.users = new Users(connection);
    this.presence = new Presence(
      connection,
      this.users,
      () => this.canWrite("presence"),
      runtime,
      (error) => this.report(error),
    );
    this.#stores = new ClientStores(connection, stores ?? {}, runtime, persistence);
    const { queue, history } = this.#stores;
    this.history = history;
    const unsynced = new Unsynced(queue, requests, runtime);
    this.#unsynced = unsynced;
    unsynced.on("unsyncedChanges", (hasUnsynced) => this.emit("unsyncedChanges", hasUnsynced));
    unsynced.on("changesDiscarded", (discarded) => this.emit("changesDiscarded", discarded));
    const destination = () => {
      const token = tokens.current;
      return token ? { url: connection.urlOf("stores", "batch"), token } : null;
    };
    watchPageClose(queue, unsynced, runtime, { destination, warn: warnBeforeUnload });
    this.stores = typed<Shapes>(this.#stores.declared());
    inspections.set(this, { connection, tokens, stores: this.#stores, unsynced, runtime });
    this.notifications = new Notifications(connection);
    this.comments = new Comments(connection);
    this.storage = new Storage(base, tokens);
  }

  /** The id of the user that the token belongs to; empty until a function `authToken` has returned the first one. */
  get userId(): string {
    return this.#connection.userId;
  }

  /** The user that the token belongs to; null before the first join, unless the device has kept it. */
  get currentUser(): User | null {
    return this.users.get({ userId: this.userId });
  }

  /** The room; null before the first join. Its counts are those of the latest join or update. */
  get currentRoom(): Room | null {
    return this.#room;
  }

  /** The role in the room: the lower of the requested role and the user's own. Null before the first join. */
  get role(): Role | null {
    return this.#access.role;
  }

  /** Your permissions in the room; empty before the first join, and once the connection is closed. */
  get permissions(): readonly Permission[] {
    return this.#connection.state === "closed" ? NO_PERMISSIONS : this.#access.permissions;
  }

  /** Whether you may change this part of the room now; false before the first join and after the last one. */
  canWrite(resource: Resource): boolean {
    return canWrite(this.permissions, resource);
  }

  /** The store of this name: the same object each time, and for declared stores the one in `stores`. */
  store(name: string): Store {
    return this.#stores.get(name);
  }

  /** Opens the connection, with one attempt. Throws CONNECTION_FAILED if it fails. */
  connect(options: Abortable = {}): Promise<void> {
    if (options.signal?.aborted) return Promise.reject(options.signal.reason);
    return abortable(this.#connection.connect(), options);
  }

  /** Connects if necessary, and joins, after a `leave()` that is under way. Resolves when users and room are loaded. Later losses are restored. */
  join(options: JoinOptions = {}): Promise<void> {
    const joining = async () => {
      options.signal?.throwIfAborted();
      await this.#connection.join(options.role);
    };
    return abortable(this.#leaving === null ? joining() : this.#joinAfter(this.#leaving, joining), options);
  }

  async #joinAfter(leaving: Promise<void>, joining: () => Promise<void>): Promise<void> {
    this.#nextStay ??= {};
    // A shared room may not end at all: others are in it.
    const mine = [this.#stay, this.#nextStay];
    await leaving;
    if (!mine.includes(this.#stay)) throw new AtriumError(LEFT);
    await joining();
  }

  /** Whether changes are unconfirmed; discarded ones count until the next `join()` or `disconnect()`. */
  get hasUnsyncedChanges(): boolean {
    return this.#unsynced.isAny;
  }

  /** Resolves when all changes are confirmed or refused. Throws TIMEOUT, and the error that ended the connection. */
  flush({ timeoutMs, ...options }: FlushOptions = {}): Promise<void> {
    return abortable(this.#unsynced.flush(timeoutMs), options);
  }

  /**
   * Leaves the room when all changes are confirmed, as `flush` and `disconnect` do; after 10 s in any case. It stays if
   * `signal` is aborted before.
   */
  leave({ timeoutMs = LEAVE_TIMEOUT_MS, signal }: FlushOptions = {}): Promise<void> {
    this.#nextStay = null;
    const stay = this.#stay;
    const leaving = this.flush({ timeoutMs, signal }).finally(() => {
      if (this.#stay === stay && !signal?.aborted) this.release();
    });
    const over: Promise<void> = Promise.allSettled([this.#leaving, leaving]).then(() => {
      if (this.#leaving === over) this.#leaving = null;
    });
    this.#leaving = over;
    return leaving;
  }

  /**
   * Reports an error without a caller, once. A lost connection is none: the next join loads again, and `failed` has
   * reported the end of one. Not for applications.
   */
  report(error: unknown): void {
    const { failure } = this.#connection.requests;
    if (!(error instanceof AtriumError)) report(error);
    else if (error.code !== "DISCONNECTED" && error.code !== failure?.code && !this.#reported.has(error)) {
      this.#reported.add(error);
      if (this.hasListeners("error")) this.emit("error", error);
      else report(error);
    }
  }

  /** `authToken` has another token of its user. Not for applications. */
  renewToken(): void {
    this.#connection.renew();
  }

  /** The end of {@link leave}. */
  protected release(): void {
    this.end();
  }

  /** Leaves the room at once: pending requests fail, and `changesDiscarded` names unconfirmed changes. */
  disconnect(): void {
    this.#nextStay = null;
    this.end();
  }

  /** The end of the stay. */
  protected end(): void {
    this.#stay = this.#nextStay ?? {};
    this.#nextStay = null;
    this.#leaving = null;
    this.presence.stop();
    this.#connection.disconnect();
  }
}

function typed<Shapes extends StoreShapes>(stores: Record<string, Store>): StoresOf<Shapes> {
  return stores as unknown as StoresOf<Shapes>;
}
