/** What other entries of the package, such as DevTools and documents, see of a client beyond its public functions. */
import type { Runtime } from "../core/runtime.ts";
import type { Connection } from "./connection/connection.ts";
import type { Stores } from "./stores/stores.ts";
import type { Unsynced } from "./unsynced.ts";

/** The parts of a client that are not public. */
export interface Inspection {
  readonly connection: Connection;
  readonly stores: Stores;
  readonly unsynced: Unsynced;
  /** The client's own: DevTools replace what opens sockets. */
  readonly runtime: Runtime;
}
