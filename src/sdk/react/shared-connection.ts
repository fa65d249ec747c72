/** A client's connection, shared by providers: it is open while at least one of them is mounted. */
import { type AtriumClient, AtriumError, type ClientTypes, type Role } from "../client/index.ts";
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
  readonly state: ConnectionState;
  /** Why the connection is closed; null while it is open, and after a provider has unmounted. */
  readonly error: AtriumError | null;
}

const INITIAL: ConnectionStatus = { state: "connecting", error: null };

/** The longest wait for unconfirmed changes when a room is left. */
const FLUSH_TIMEOUT_MS = 10_000;

const ignore = () => {};

/** A lost connection is not reported: the next join loads again. */
export function reportUnlessDisconnected(error: unknown): void {
  if (!(error instanceof AtriumError && error.code === "DISCONNECTED")) report(error);
}

/** Whether what a request was about does not exist, or no longer. */
export const isNotFound = (error: unknown): boolean =>
  error instanceof Object && "code" in error && error.code === "NOT_FOUND";

export class SharedConnection implements Source<ConnectionStatus> {
  readonly initial = INITIAL;
  readonly joined: Readiness;
  readonly #client: AnyClient;
  readonly #role: Role | undefined;
  readonly #used: (isInUse: boolean) => void;
  readonly #leave: () => void;
  readonly #listeners = new Set<() => void>();
  #status = INITIAL;
  #users = 0;
  #joining: Promise<void> = Promise.resolve();
  #unsubscribe: Unsubscribe | null = null;

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
    this.joined = new Readiness(() => {
      const release = this.acquire();
      return { done: this.#joining, release };
    });
  }

  readonly subscribe = (listener: () => void): Unsubscribe => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly read = (): ConnectionStatus => this.#status;

  /** Calls `action` after each join, and now if the room is joined. */
  whenConnected(action: () => void): Unsubscribe {
    let wasConnected = false;
    const check = () => {
      const isConnected = this.#status.state === "connected";
      if (isConnected && !wasConnected) action();
      wasConnected = isConnected;
    };
    check();
    return this.subscribe(check);
  }

  /** Joins the room unless it is joined. The last of the returned functions leaves it. */
  acquire(): Unsubscribe {
    this.#users += 1;
    if (this.#unsubscribe === null) {
      this.#used(true);
      this.#unsubscribe = this.#listen();
      this.#join();
    } else if (this.#status.state === "closed") this.#join();
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
    if (this.#users > 0 || this.#unsubscribe === null) return;
    this.#unsubscribe();
    this.#unsubscribe = null;
    this.#leave();
    this.joined.set(false);
    this.#setStatus({ state: "closed", error: null });
    this.#used(false);
  }

  #listen(): Unsubscribe {
    const { socket } = this.#client;
    return together(
      socket.on("disconnected", () => {
        if (socket.state === "closed") this.#setStatus({ state: "closed", error: null });
      }),
      socket.on("reconnecting", () => this.#setStatus({ state: "reconnecting", error: null })),
      socket.on("reconnected", () => this.#connected()),
      socket.on("failed", ({ error }) => this.#setStatus({ state: "closed", error })),
    );
  }

  #join(): void {
    this.#setStatus(INITIAL);
    this.#joining = this.#client.join(this.#role === undefined ? {} : { role: this.#role });
    this.#joining.then(() => this.#connected(), ignore); // the event `failed` has the error
  }

  #connected(): void {
    // The application may have called disconnect() meanwhile.
    if (this.#client.socket.state !== "connected" || this.#unsubscribe === null) return;
    this.joined.set(true);
    this.#setStatus({ state: "connected", error: null });
  }

  #setStatus(status: ConnectionStatus): void {
    this.#status = status;
    for (const listener of [...this.#listeners]) listener();
  }
}
