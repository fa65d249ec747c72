/** The suggestions of a document as components read them. */
import { inspectionOf } from "../client/inspected.ts";
import { getOrAdd } from "../core/emitter.ts";
import { unlessMissing } from "../room-documents/document-requests.ts";
import {
  type DocumentSuggestions,
  openSuggestions,
  type ReadSuggestion,
} from "../room-documents/suggestions.ts";
import type { Suggestion } from "../wire/resources.ts";
import { type Content, contentOf } from "./content-sources.ts";
import { together, type Unsubscribe } from "./external-source.ts";
import { Loaded } from "./loaded.ts";
import type { RoomHandle } from "./room-handle.ts";
import { type Reloaded, reloaded } from "./thread-sources.ts";

export interface SuggestionList {
  /** Newest first: those that are pending, and the latest that were reviewed. */
  readonly suggestions: readonly Suggestion[];
}

export interface SuggestionActions
  extends Pick<DocumentSuggestions, "create" | "read" | "review" | "withdraw"> {
  /** Loads the list again, after a failure. The next join does so, too. */
  reload(): void;
}

export type SuggestionsContent = Content<SuggestionList, SuggestionActions>;

function openList({ client, connection }: RoomHandle, document: string): SuggestionsContent {
  const suggestions = openSuggestions(client, document);
  const { requests } = inspectionOf(client).connection;
  let isKnown = suggestions.isLoaded;
  const part: Loaded<SuggestionList> = new Loaded<SuggestionList>({
    initial: { suggestions: [] },
    isKnown: () => isKnown,
    isLoaded: () => suggestions.isLoaded,
    select: () => ({ suggestions: suggestions.list }),
    canLoad: () => requests.isConnected,
    load: async () => {
      await suggestions.load();
      isKnown = true;
    },
    client,
    watch: () =>
      together(
        suggestions.on("changed", () => part.update()),
        connection.whenConnected(part.start),
      ),
  });
  return contentOf(part, {
    create: (creation) => suggestions.create(creation),
    read: (suggestionId) => suggestions.read(suggestionId),
    review: (suggestionId, review) => suggestions.review(suggestionId, review),
    withdraw: (suggestionId) => suggestions.withdraw(suggestionId),
    reload: part.reload,
  });
}

const lists = new WeakMap<RoomHandle, Map<string, SuggestionsContent>>();

export const suggestionsOf = (handle: RoomHandle, document: string): SuggestionsContent =>
  getOrAdd(
    getOrAdd(lists, handle, () => new Map<string, SuggestionsContent>()),
    document,
    () => openList(handle, document),
  );

export interface SuggestionReading {
  /** Null until it is read, and once it was withdrawn. */
  readonly read: ReadSuggestion | null;
}

/** A suggestion with its parts, which are read again when its author writes, and after the review. */
export function openSuggestion(
  { client, connection }: RoomHandle,
  { id, document, fork }: Pick<Suggestion, "id" | "document" | "fork">,
): Reloaded<SuggestionReading> {
  const suggestions = openSuggestions(client, document);
  const statusOf = () => suggestions.list.find((each) => each.id === id)?.status;
  const watch = (changed: () => void): Unsubscribe => {
    let status = statusOf();
    const unwatch = status === "pending" ? suggestions.watch({ fork }, changed) : () => {};
    const unlisten = suggestions.on("changed", () => {
      if (status === statusOf()) return;
      status = statusOf();
      changed();
    });
    return together(unwatch, unlisten);
  };
  return reloaded<SuggestionReading>(connection, {
    initial: { read: null },
    client,
    read: async () => ({ read: await suggestions.read(id).catch(unlessMissing(null)) }),
    watch,
  });
}
