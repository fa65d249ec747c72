/** The parts of a client that DevTools and documents use beyond its public functions. */
import { invalid } from "../core/error.ts";
import type { Runtime } from "../core/runtime.ts";
import type { Connection } from "./connection/connection.ts";
import type { Stores } from "./stores/store.ts";
import type { Unsynced } from "./unsynced.ts";

export interface Inspection {
  readonly connection: Connection;
  readonly stores: Stores;
  readonly unsynced: Unsynced;
  /** The client's own: DevTools replace `open`. */
  readonly runtime: Runtime;
}

export const inspections = new WeakMap<object, Inspection>();

/** Throws VALIDATION_ERROR unless it is a client of the same copy of the package. */
export function inspectionOf(client: object): Inspection {
  const inspection = inspections.get(client);
  if (inspection === undefined)
    throw invalid("Client", "client must be an AtriumClient of the same copy of atrium");
  return inspection;
}
