/** The parts of a client that DevTools, documents and hooks use beyond its public functions. */
import type { Runtime } from "../core/runtime.ts";
import type { Connection } from "./connection/connection.ts";
import type { Tokens } from "./connection/token.ts";
import type { ClientStores } from "./stores/store.ts";
import type { Unsynced } from "./unsynced.ts";

export interface Inspection {
  readonly connection: Connection;
  readonly tokens: Tokens;
  readonly stores: ClientStores;
  readonly unsynced: Unsynced;
  /** The client's own: DevTools replace `open`. */
  readonly runtime: Runtime;
}

export const inspections = new WeakMap<object, Inspection>();
