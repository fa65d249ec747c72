/** A client's stay in its room: it lasts while somebody holds it, and tells how it goes. */
import type { AtriumError, Role } from "../client/index.ts";
import type { AnyClient } from "./context.ts";
import { together, type Unsubscribe } from "./external-source.ts";

/** `connected` means joined: all that the hooks give is up to date. */
export type ConnectionState = "connecting" | "connected" | "reconnecting" | "closed";

export interface ConnectionStatus {
  readonly state: ConnectionState;
  /** Why it is closed; null while it is not, and when it was ended on purpose. */
  readonly error: AtriumError | null;
}

const ignore = () => {};

export class SharedConnection {
  readonly #client: AnyClient;
  readonly #listeners = new Set<() => void>();
  #status: ConnectionStatus = { state: "connecting", error: null };
  #holders = 0;
  #leave: Unsubscribe | null = null;

  constructor(client: AnyClient) {
    this.#client = client;
  }

  readonly subscribe = (listener: () => void): Unsubscribe => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly read = (): ConnectionStatus => this.#status;

  /** Calls `action` now if the room is joined, and whenever it has been joined again. */
  whenConnected(action: () => void): Unsubscribe {
    let wasConnected = false;
    const look = () => {
      const isConnected = this.#status.state === "connected";
      if (isConnected && !wasConnected) action();
      wasConnected = isConnected;
    };
    look();
    return this.subscribe(look);
  }

  /** Joins, unless somebody holds the room already. Returns the function that lets go; the last one leaves. */
  hold(role: Role | undefined): Unsubscribe {
    this.#holders += 1;
    this.#leave ??= this.#enter(role);
    return () => {
      this.#holders -= 1;
      // Later, because StrictMode lets go and holds again in one breath.
      queueMicrotask(() => this.#leaveUnlessHeld());
    };
  }

  #leaveUnlessHeld(): void {
    if (this.#holders > 0) return;
    this.#leave?.();
    this.#leave = null;
  }

  #enter(role: Role | undefined): Unsubscribe {
    const { socket } = this.#client;
    const isConnected = () => this.#tell({ state: "connected", error: null });
    const off = together(
      socket.on("reconnecting", () => this.#tell({ state: "reconnecting", error: null })),
      socket.on("reconnected", isConnected),
      socket.on("failed", ({ error }) => this.#tell({ state: "closed", error })),
    );
    this.#tell({ state: "connecting", error: null });
    this.#client.join(role === undefined ? {} : { role }).then(isConnected, ignore); // `failed` tells why
    return () => {
      off();
      this.#client.disconnect();
      this.#tell({ state: "closed", error: null });
    };
  }

  #tell(status: ConnectionStatus): void {
    this.#status = status;
    for (const listener of this.#listeners) listener();
  }
}
