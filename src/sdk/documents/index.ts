/** `atrium/documents`: Yjs documents of the room, for editors. */
import type { AtriumClient, ClientTypes } from "../client/index.ts";
import { channelOf } from "./document-channel.ts";
import { type DocumentOptions, DocumentProvider } from "./document-provider.ts";

export type {
  DocumentEvents,
  DocumentOptions,
  DocumentProvider,
  DocumentStatus,
} from "./document-provider.ts";

/** A client with any declared stores and any types. */
export type DocumentClient = Omit<AtriumClient<Record<never, never>, ClientTypes>, "stores">;

/**
 * Opens a document of the client's room, over the client's own connection, and creates it with the first change. What
 * is changed without a connection is sent when there is one. Each call returns a provider of its own.
 */
export function openDocument(
  client: DocumentClient,
  name: string,
  options: DocumentOptions = {},
): DocumentProvider {
  return new DocumentProvider(channelOf(client), name, options);
}
