/** The stream of a room: its latest events from several sources, one line each. Pure. */
import type { DocumentSummary } from "../../../features/room-content/documents/schema.ts";
import { previewOf } from "../ui/json-preview.ts";

/** A broadcast, or a write to a store, as a room sends it to everyone. */
export type FeedItem =
  | { readonly type: "broadcast"; readonly event: string; readonly data: unknown; readonly by: string | null }
  | {
      readonly type: "write";
      readonly store: string;
      readonly key: string;
      readonly isDeletion: boolean;
      readonly value: unknown;
      /** The user; null for a back end. */
      readonly by: string | null;
    };

export interface StreamItem {
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
  /** The event's name. */
  readonly name: string;
  /** The subject of the event. */
  readonly about: string;
}

/** Older ones are left out. */
export const MAX_ITEMS = 100;

/** `by` is the name of the user; null for a back end. */
export function itemOfFeed(item: FeedItem, at: Date, number: number, by: string | null): StreamItem {
  const common = { id: `live ${number}`, at: at.toISOString() };
  const who = by ?? "the back end";
  if (item.type === "broadcast")
    return { ...common, name: "broadcast", about: `${item.event} ${previewOf(item.data)} by ${who}` };
  const value = item.isDeletion ? "deleted" : previewOf(item.value);
  return { ...common, name: "write", about: `${item.store} / ${item.key}: ${value} by ${who}` };
}

type ListedDocument = Pick<DocumentSummary, "name" | "seq" | "created_at" | "updated_at">;

/** The documents that were created, changed or deleted between two lists of them. */
export function changedDocuments(
  before: readonly ListedDocument[],
  after: readonly ListedDocument[],
  now: Date,
): StreamItem[] {
  const known = new Map(before.map((document) => [document.name, document]));
  const left = new Set(after.map(({ name }) => name));
  const written = after.flatMap(({ name, seq, created_at, updated_at }): StreamItem[] => {
    const earlier = known.get(name);
    const isNew = earlier === undefined || earlier.created_at !== created_at;
    if (!isNew && earlier.seq === seq) return [];
    const id = `document ${name} ${created_at} ${seq}`;
    return [{ id, at: updated_at, name: isNew ? "document.created" : "document.updated", about: name }];
  });
  const deleted = before.flatMap(({ name, created_at }): StreamItem[] =>
    left.has(name)
      ? []
      : [
          {
            id: `no document ${name} ${created_at}`,
            at: now.toISOString(),
            name: "document.deleted",
            about: name,
          },
        ],
  );
  return [...written, ...deleted];
}

/** Newest first, each once. */
export function mergeItems(...sources: readonly (readonly StreamItem[])[]): StreamItem[] {
  const all = new Map(sources.flat().map((item) => [item.id, item]));
  return [...all.values()].sort((a, b) => (a.at < b.at ? 1 : -1)).slice(0, MAX_ITEMS);
}
