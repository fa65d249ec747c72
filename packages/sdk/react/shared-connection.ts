/** A client's connection, shared by providers: it is open while at least one of them is mounted. */
import {
  type AtriumClient,
  AtriumError,
  type ClientTypes,
  type Role,
  type SocketStatus,
} from "../client/index.ts";
import { report } from "../core/emitter.ts";
import { Readiness, type Source, together, type Unsubscribe } from "./external-source.ts";

/** A client with any declared stores and any types; `store(name)` returns any store. */
export type AnyClient = Omit<AtriumClient<Record<never, never>, ClientTypes>, "stores">;

/** The same with the types that the application has registered. */
export type RoomClient = Omit<AtriumClient, "stores">;

/** The application gives its provider clients of the types that it has registered. */
export const registered = (client: AnyClient): RoomClient => client as unknown as RoomClient;

/** `connected`: the room was joined, and everything that the hooks return is up to date. */
export type ConnectionState = "connecting" | "connected" | "reconnecting" | "closed";

export interface ConnectionStatus {
  readonly status: ConnectionState;
  /** The same as `status`. */
  readonly state: ConnectionState;
  /** Why the connection is closed; null while it is open, and after a provider has unmounted. */
  readonly error: AtriumError | null;
  /** When the next attempt begins, in epoch milliseconds by this device's clock; null while none waits. */
  readonly retryAt: number | null;
  /**
   * Joins again, after the connection was closed or instead of waiting for the next attempt. Always the same
   * function.
   */
  readonly retry: () => void;
}

/** The longest wait for unconfirmed changes when a room is left. */
const FLUSH_TIMEOUT_MS = 10_000;

const ignore = () => {};

/** A lost connection is not reported: the next join loads again. */
export function reportUnlessDisconnected(error: unknown): void {
  if (!(error instanceof AtriumError && error.code === "DISCONNECTED")) report(error);
}

/** Calls `action` with the error that has ended the connection, or when one does. */
export function whenFailed(
  { socket }: Pick<AnyClient, "socket">,
  action: (error: AtriumError) => void,
): Unsubscribe {
  const { status, error } = socket.status;
  if (status === "closed" && error !== null) action(error);
  return socket.on("failed", (failed) => action(failed.error));
}

/** Whether the subject of a request does not exist, or no longer. */
export const isNotFound = (error: unknown): boolean =>
  error instanceof Object && "code" in error && error.code === "NOT_FOUND";

/** A client's connection for hooks. Its status is a selection of the client's own. */
export class SharedConnection implements Source<ConnectionStatus> {
  readonly initial: ConnectionStatus;
  readonly joined: Readiness;
  readonly #client: AnyClient;
  readonly #role: Role | undefined;
  readonly #used: (isInUse: boolean) => void;
  readonly #leave: () => void;
  #seen: SocketStatus | null = null;
  #status: ConnectionStatus;
  /** Listeners of its use. Use changes no status of the client, which may have joined before. */
  readonly #listeners = new Set<() => void>();
  #users = 0;
  #joining: Promise<void> = Promise.resolve();
  #isInUse = false;

  /** `used` is called by the first user, and after the last one has released and left the room. */
  constructor(
    client: AnyClient,
    role: Role | undefined,
    used: (isInUse: boolean) => void,
    leave = () => client.disconnect(),
  ) {
    this.#client = client;
    this.#role = role;
    this.#used = used;
    this.#leave = leave;
    const retry = () => this.#isInUse && this.#join();
    this.initial = { status: "connecting", state: "connecting", error: null, retryAt: null, retry };
    this.#status = this.initial;
    this.joined = new Readiness(() => {
      const release = this.acquire();
      return { done: this.#joining, release };
    });
  }

  readonly subscribe = (listener: () => void): Unsubscribe => {
    const changed = () => listener();
    this.#listeners.add(changed);
    return together(this.#client.socket.on("status", changed), () => this.#listeners.delete(changed));
  };

  readonly read = (): ConnectionStatus => {
    const { status } = this.#client.socket;
    if (!this.#isInUse || status.status === "idle") return this.initial;
    if (status === this.#seen) return this.#status;
    const { status: state, retryAt } = status;
    this.#seen = status;
    const error = state === "closed" ? status.error : null;
    this.#status = { ...this.initial, status: state, state, error, retryAt };
    return this.#status;
  };

  /** Calls `action` after each join, and now if the room is joined. */
  whenConnected(action: () => void): Unsubscribe {
    let wasConnected = false;
    const check = () => {
      const isConnected = this.read().status === "connected";
      if (isConnected && !wasConnected) action();
      wasConnected = isConnected;
    };
    check();
    return this.subscribe(check);
  }

  /** Joins the room unless it is joined. The last of the returned functions leaves it. */
  acquire(): Unsubscribe {
    this.#users += 1;
    if (!this.#isInUse || this.#client.socket.state === "closed") {
      this.#use(true);
      this.#join();
    }
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#users -= 1;
      // Asynchronously, because StrictMode releases and acquires again at once.
      queueMicrotask(() => void this.#leaveIfUnused());
    };
  }

  async #leaveIfUnused(): Promise<void> {
    if (this.#users > 0) return;
    // The client reports the changes that it discards.
    await this.#client.flush({ timeoutMs: FLUSH_TIMEOUT_MS }).catch(ignore);
    if (this.#users > 0 || !this.#isInUse) return;
    this.#leave();
    this.joined.set(false);
    this.#use(false);
  }

  #use(isInUse: boolean): void {
    if (isInUse === this.#isInUse) return;
    this.#isInUse = isInUse;
    this.#used(isInUse);
    for (const listener of [...this.#listeners]) listener();
  }

  #join(): void {
    const { state } = this.#client.socket;
    // The application may have joined by itself, with a role of its own.
    const role = state === "idle" || state === "closed" ? this.#role : undefined;
    this.#joining = this.#client.join({ role });
    this.#joining.then(() => this.#isInUse && this.joined.set(true), ignore); // the status has the error
  }
}
