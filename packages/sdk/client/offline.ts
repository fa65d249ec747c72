/** The option `offline`: the port to `atrium/offline`, which this entry does not load. */
import type { Runtime } from "../core/runtime.ts";
import type { ChangeStream } from "./connection/change-stream.ts";
import type { Claims } from "./connection/token.ts";
import type { ClientStores } from "./stores/store.ts";
import type { StorePersistence } from "./stores/waiting-writes.ts";
import type { Users } from "./users.ts";

export interface KeptClient {
  readonly claims: Claims;
  readonly changeStream: ChangeStream;
  readonly stores: ClientStores;
  readonly users: Users;
}

export interface OfflinePersistence extends StorePersistence {
  /** Shows the kept stores before the client joins. Never rejects. */
  open(client: KeptClient): Promise<void>;
}

/** The result of `keepOffline` of `atrium/offline`. */
export interface OfflineSupport {
  /** Called by each client. `base` is the address of the service. */
  attach(base: string, runtime: Runtime): OfflinePersistence;
}
