/** The client type that the hooks accept: one with any declared stores. */
import type { AtriumClient } from "../client/index.ts";

/** A client with any declared stores; `store(name)` returns any of them. */
export type AnyClient = Omit<AtriumClient, "stores">;
