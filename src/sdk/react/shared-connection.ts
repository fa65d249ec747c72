/** A client's connection, shared by providers: it is open while at least one of them is mounted. */
import { AtriumError, type Role } from "../client/index.ts";
import { report } from "../core/emitter.ts";
import type { AnyClient } from "./any-client.ts";
import { together, type Unsubscribe } from "./external-source.ts";

/** `connected`: the room was joined, and everything that the hooks return is up to date. */
export type ConnectionState = "connecting" | "connected" | "reconnecting" | "closed";

export interface ConnectionStatus {
  readonly state: ConnectionState;
  /** Why the connection is closed; null while it is open, and after a provider has unmounted. */
  readonly error: AtriumError | null;
}

const ignore = () => {};

/** Reports why something could not be loaded, except for a lost connection: the next join loads it again. */
export function reportUnlessDisconnected(error: unknown): void {
  if (!(error instanceof AtriumError && error.code === "DISCONNECTED")) report(error);
}

export class SharedConnection {
  readonly #client: AnyClient;
  readonly #listeners = new Set<() => void>();
  #status: ConnectionStatus = { state: "connecting", error: null };
  #providers = 0;
  #leave: Unsubscribe | null = null;

  constructor(client: AnyClient) {
    this.#client = client;
  }

  readonly subscribe = (listener: () => void): Unsubscribe => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly read = (): ConnectionStatus => this.#status;

  /** Calls `action` now if the room is joined, and whenever it is joined again. */
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

  /** Joins the room for the first provider. Returns a function that releases it; the last release leaves the room. */
  acquire(role: Role | undefined): Unsubscribe {
    this.#providers += 1;
    this.#leave ??= this.#join(role);
    return () => {
      this.#providers -= 1;
      // Asynchronously, because StrictMode releases and acquires again at once.
      queueMicrotask(() => this.#leaveIfUnused());
    };
  }

  #leaveIfUnused(): void {
    if (this.#providers > 0) return;
    this.#leave?.();
    this.#leave = null;
  }

  #join(role: Role | undefined): Unsubscribe {
    const { socket } = this.#client;
    const isConnected = () => {
      // The application may have called disconnect() on its client meanwhile.
      if (socket.state === "connected") this.#setStatus({ state: "connected", error: null });
    };
    const unsubscribe = together(
      socket.on("disconnected", () => {
        if (socket.state === "closed") this.#setStatus({ state: "closed", error: null });
      }),
      socket.on("reconnecting", () => this.#setStatus({ state: "reconnecting", error: null })),
      socket.on("reconnected", isConnected),
      socket.on("failed", ({ error }) => this.#setStatus({ state: "closed", error })),
    );
    this.#setStatus({ state: "connecting", error: null });
    this.#client.join(role === undefined ? {} : { role }).then(isConnected, ignore); // the event `failed` has the error
    return () => {
      unsubscribe();
      this.#client.disconnect();
      this.#setStatus({ state: "closed", error: null });
    };
  }

  #setStatus(status: ConnectionStatus): void {
    this.#status = status;
    for (const listener of this.#listeners) listener();
  }
}
