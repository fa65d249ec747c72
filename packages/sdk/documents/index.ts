/** `atrium/documents`: Yjs documents of the room, for editors. */
import { wellFormed } from "../core/error.ts";
import { channelOf } from "../room-documents/document-channel.ts";
import type { DocumentClient } from "../room-documents/document-requests.ts";
import { type DocumentOptions, DocumentProvider } from "./document-provider.ts";

export type { DocumentClient } from "../room-documents/document-requests.ts";
export {
  type DocumentSuggestions,
  type NewSuggestion,
  openSuggestions,
  type ReadSuggestion,
  type Review,
  type SuggestionEvents,
} from "../room-documents/suggestions.ts";
export type { SuggestedPart, Suggestion } from "../wire/resources.ts";
export type {
  DocumentEvents,
  DocumentOptions,
  DocumentProvider,
  DocumentStatus,
  TextMention,
} from "./document-provider.ts";

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
