/** The client that DevTools or documents were given. Apart from the map, which the client itself loads. */
import { invalid } from "../core/error.ts";
import { type Inspection, inspections } from "./inspection.ts";

/** Throws VALIDATION_ERROR unless it is a client of the same copy of the package. */
export function inspectionOf(client: object): Inspection {
  const inspection = inspections.get(client);
  if (inspection === undefined)
    throw invalid("Client", "client must be an AtriumClient of the same copy of atrium");
  return inspection;
}
