/** The documents of a room in an order that the person has chosen. Pure. */

import type { DocumentSummary } from "../../../features/room-content/documents/schema.ts";

const FIELDS = ["name", "participants", "bytes", "seq", "updated_at", "created_at"] as const;

type Sortable = Pick<DocumentSummary, (typeof FIELDS)[number]>;

const compare = <Value extends string | number>(one: Value, other: Value): number =>
  one < other ? -1 : one > other ? 1 : 0;

/** By a field, in reverse with a leading `-`; as they are for anything else. */
export function sortDocuments<Document extends Sortable>(
  documents: readonly Document[],
  sort: string,
): readonly Document[] {
  const field = FIELDS.find((one) => one === sort.replace(/^-/, ""));
  if (field === undefined) return documents;
  const direction = sort.startsWith("-") ? -1 : 1;
  return documents.toSorted((one, other) => direction * compare(one[field], other[field]));
}
