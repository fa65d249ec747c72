/** The rooms of one person, all opened by one token of an identity. */
import { segmentOf, serviceAddress } from "../core/address.ts";
import { getOrAdd } from "../core/emitter.ts";
import { assumeType, defined } from "../core/json.ts";
import { DEFAULT_RUNTIME, type Runtime } from "../core/runtime.ts";
import { AtriumClient, type AtriumClientOptions, type JoinOptions } from "./client.ts";
import { type RoomPath, type TokenRequest, Tokens } from "./connection/token.ts";
import type { Guest, GuestOptions } from "./over-rest.ts";
import { loaded } from "./storage.ts";
import type { StoreShapes } from "./stores/writes.ts";
import type { ClientTypes, Registered } from "./types.ts";

type NoShapes = Record<never, never>;

/** Options of one room. The {@link Atrium} provides absent ones. */
export interface RoomOptions<Shapes extends StoreShapes = NoShapes>
  extends Omit<AtriumClientOptions<Shapes>, "serverUrl" | "authToken"> {}

/** `authToken` is the token of an identity, or a function that asks your back end for one: all rooms share it. */
export interface AtriumOptions extends Omit<AtriumClientOptions<NoShapes>, "stores"> {}

/** The ID of a room, or its custom ID. */
type RoomName = string | { readonly customId: string };

type Rooms = Map<string, EnteredRoom>;

/** A person in many rooms. Each room has a client of its own, and one token opens them all. */
export class Atrium {
  readonly #options: AtriumOptions;
  /** Not for applications. */
  readonly runtime: Runtime;
  readonly #tokens: Tokens;
  readonly #rooms: Rooms = new Map();
  /** Inboxes that are not disconnected; their tokens are renewed like those of rooms. Not for applications. */
  readonly inboxes = new Set<{ renew(): void }>();

  /** Throws VALIDATION_ERROR for an invalid address, and for a text that is no token of an identity. `runtime` is for tests. */
  constructor(options: AtriumOptions, runtime: Runtime = DEFAULT_RUNTIME) {
    this.#options = Object(options);
    serviceAddress(this.#options.serverUrl);
    this.runtime = runtime;
    this.#tokens = new Tokens(this.#options.authToken, runtime, [""]);
  }

  /**
   * The client of a room, for its `join()`, which throws NOT_FOUND for an unknown one. Entering a room again returns the same client, whose first options hold, and
   * which leaves the room by the last of as many calls of `leave()`. Throws VALIDATION_ERROR for an invalid address or ID.
   */
  enterRoom<Shapes extends StoreShapes = NoShapes, Types extends ClientTypes = Registered>(
    room: RoomName,
    options: RoomOptions<Shapes> = {},
  ): AtriumClient<Shapes, Types> {
    return assumeType(this.openRoom(room, options).enter());
  }

  /** A room's client, before it is entered. Not for applications. */
  openRoom(room: RoomName, options: RoomOptions<StoreShapes>): EnteredRoom {
    const path: RoomPath = typeof room === "string" ? [room] : ["custom", room?.customId];
    path.map(segmentOf);
    return getOrAdd(
      this.#rooms,
      String(path),
      () => new EnteredRoom({ ...this.share(), ...defined(options) }, this.runtime, path, this.#rooms),
    );
  }

  /**
   * Options of one more connection. It gets another token than it has had: the first connection that needs one
   * asks for all. Not for applications.
   */
  share(): AtriumOptions {
    let had: string | null = null;
    const next = async (request: TokenRequest) => {
      const token = await this.#tokens.next(had, request);
      had = token ?? had;
      return token;
    };
    return { ...this.#options, authToken: this.#tokens.isRenewable ? next : this.#options.authToken };
  }

  /** `authToken` has another token of its identity. Not for applications. */
  renewToken(): void {
    this.#tokens.forget();
    for (const room of [...this.#rooms.values()]) room.renewToken();
    for (const inbox of this.inboxes) inbox.renew();
  }

  /** Leaves all rooms, each as by its last `leave()`. */
  close(options?: { readonly timeoutMs?: number | undefined }): Promise<unknown> {
    const leave = (room: EnteredRoom) => {
      room.entered = 1;
      return room.leave(options);
    };
    return Promise.all([...this.#rooms.values()].map(leave));
  }
}

/**
 * Lets a guest into the room of a link. Throws NOT_FOUND for a link that lets no one in, RATE_LIMITED after many wrong
 * secrets, FORBIDDEN if no further guest fits in, and UNAUTHORIZED if the earlier token was ended.
 */
export const redeemLink = async (options: GuestOptions): Promise<Guest> =>
  (await loaded(import("./over-rest.ts"))).redeem(options);

/** A room's client, shared by all who have entered the room. */
export class EnteredRoom extends AtriumClient<StoreShapes, ClientTypes> {
  readonly #key: string;
  readonly #rooms: Rooms;
  /** How often it was entered, and not left. */
  entered = 0;

  constructor(options: AtriumClientOptions<StoreShapes>, runtime: Runtime, path: RoomPath, rooms: Rooms) {
    super(options, runtime, path);
    this.#key = String(path);
    this.#rooms = rooms;
  }

  enter(): this {
    this.entered += 1;
    this.#rooms.set(this.#key, this);
    return this;
  }

  /** Joining after the last `leave()` enters the room again, unless another client has its place. */
  override join(options?: JoinOptions): Promise<void> {
    if (!this.#rooms.has(this.#key)) this.enter();
    return super.join(options);
  }

  override release(): void {
    this.entered -= 1;
    if (this.entered < 1) this.end();
  }

  protected override end(): void {
    this.entered = 0;
    // Another client of the room may have its place.
    if (this.#rooms.get(this.#key) === this) this.#rooms.delete(this.#key);
    super.end();
  }
}
