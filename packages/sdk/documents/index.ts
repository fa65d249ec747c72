/** `atrium/documents`: Yjs documents of the room, for editors. */
import type { AtriumClient, ClientTypes } from "../client/index.ts";
import { wellFormed } from "../core/error.ts";
import { channelOf } from "./document-channel.ts";
import { type DocumentOptions, DocumentProvider } from "./document-provider.ts";

export type {
  DocumentEvents,
  DocumentOptions,
  DocumentProvider,
  DocumentStatus,
  TextMention,
} from "./document-provider.ts";

/** A client with any declared stores and any types. */
export type DocumentClient = Omit<AtriumClient<Record<never, never>, ClientTypes>, "stores">;

/**
 * Opens a document of the client's room by a new provider; the first change creates it. Offline changes are sent later.
 * Throws VALIDATION_ERROR for a name with a lone surrogate, which the room would replace.
 */
export function openDocument(
  client: DocumentClient,
  name: string,
  options: DocumentOptions = {},
): DocumentProvider {
  return new DocumentProvider(channelOf(client), wellFormed(name), options);
}
