/** The option `offline`: what the client passes to `atrium/offline`, which this entry does not load. */
import type { Runtime } from "../core/runtime.ts";
import type { ChangeStream } from "./connection/change-stream.ts";
import type { Claims } from "./connection/token.ts";
import type { StorePersistence } from "./stores/persistence.ts";
import type { Stores } from "./stores/stores.ts";
import type { Users } from "./users/users.ts";

/** The parts of a client that are kept. */
export interface KeptClient {
  readonly claims: Claims;
  readonly changeStream: ChangeStream;
  readonly stores: Stores;
  readonly users: Users;
}

/** The persistence of one client. */
export interface OfflinePersistence extends StorePersistence {
  /** Shows what was kept, before the client joins; also before it joins again after it was stopped. Never rejects. */
  open(client: KeptClient): Promise<void>;
}

/** What `keepOffline` of `atrium/offline` returns. */
export interface OfflineSupport {
  /** Called by each client. `base` is the address of the service. */
  attach(base: string, runtime: Runtime): OfflinePersistence;
}
