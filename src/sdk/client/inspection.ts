/** What DevTools see of a client beyond its public functions. */
import type { Connection } from "./connection/connection.ts";
import type { Stores } from "./stores/stores.ts";

/** The parts of a client that are not public. */
export interface Inspection {
  readonly connection: Connection;
  readonly stores: Stores;
}

const inspections = new WeakMap<object, Inspection>();

/** Lets DevTools inspect a client. */
export const allowInspection = (client: object, inspection: Inspection): unknown =>
  inspections.set(client, inspection);

/** The parts of a client. Throws for an object that is not a client of the same copy of the SDK. */
export function inspect(client: object): Inspection {
  const inspection = inspections.get(client);
  if (inspection === undefined) throw new Error("client must be an AtriumClient of the same copy of atrium");
  return inspection;
}
