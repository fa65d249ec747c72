/** A document's shared types by name, and the order of documents. Pure. */
import type { DocumentSummary } from "@atrium/contract/rest/documents.ts";

export interface DocumentRoot {
  readonly name: string;
  /** Judged by its content: a document itself does not say it. */
  readonly kind: "text" | "map" | "array" | "xml";
  /** The text of text and XML, block by block; null for other types. */
  readonly text: string | null;
  readonly json: unknown;
}

/** All that can be read as text; empty for a document that has none. */
export const textOf = (roots: readonly DocumentRoot[]): string =>
  roots.flatMap(({ text }) => text ?? []).join("\n\n");

/** The shared types by name. */
export const jsonOf = (roots: readonly DocumentRoot[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(roots.map(({ name, json }) => [name, json]));

const FIELDS = ["name", "participants", "bytes", "seq", "updated_at", "created_at"] as const;

type Sortable = Pick<DocumentSummary, (typeof FIELDS)[number]>;

const compare = <Value extends string | number>(one: Value, other: Value): number =>
  one < other ? -1 : one > other ? 1 : 0;

/** Sorts by a field, in reverse with a leading `-`. Keeps the order for anything else. */
export function sortDocuments<Document extends Sortable>(
  documents: readonly Document[],
  sort: string,
): readonly Document[] {
  const field = FIELDS.find((one) => one === sort.replace(/^-/, ""));
  if (field === undefined) return documents;
  const direction = sort.startsWith("-") ? -1 : 1;
  return documents.toSorted((one, other) => direction * compare(one[field], other[field]));
}
