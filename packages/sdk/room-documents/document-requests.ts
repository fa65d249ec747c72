/** REST requests about one document of a client's room, with the room's token. */
import { restOf } from "../client/connection/rest-of.ts";
import type { AtriumClient, ClientTypes } from "../client/index.ts";
import { inspectionOf } from "../client/inspected.ts";
import { AtriumError } from "../core/error.ts";

/** A client with any declared stores and any types. */
export type DocumentClient = Omit<AtriumClient<Record<never, never>, ClientTypes>, "stores">;

export type Ask = <Data>(
  method: "GET" | "POST" | "PATCH" | "DELETE",
  below: readonly string[],
  options?: { readonly query?: object; readonly body?: object },
) => Promise<Data>;

/** Sends requests about a document of the client's room. */
export function askOf(client: DocumentClient, name: string): Ask {
  const { tokens, connection } = inspectionOf(client);
  return async (method, below, options) => {
    const rest = await restOf(connection.base, tokens);
    const { room = [] } = tokens.claims ?? {};
    return rest.request({ method, path: ["rooms", ...room, "documents", name, ...below], ...options });
  };
}

/** Answers with `none` where there is no document: it begins with its first change. */
export const unlessMissing =
  <Answer>(none: Answer) =>
  (error: unknown): Answer => {
    if (error instanceof AtriumError && error.code === "NOT_FOUND") return none;
    throw error;
  };
