/** What other entries of the package, such as DevTools and documents, see of a client beyond its public functions. */
import { invalid } from "../core/error.ts";
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

/** The inspection of each client of this copy of the package. */
export const inspections = new WeakMap<object, Inspection>();

/** The parts of a client. Throws VALIDATION_ERROR for any other object, and for a client of another copy of the package. */
export function inspectionOf(client: object): Inspection {
  const inspection = inspections.get(client);
  if (inspection === undefined)
    throw invalid("Client", "client must be an AtriumClient of the same copy of atrium");
  return inspection;
}
