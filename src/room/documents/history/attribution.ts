/** Attributes each operation and deletion to the authors of the first update that has it. */
import type { Author, AuthoredUpdate } from "../../types/documents.ts";
import { RangeMap } from "../updates/ranges.ts";
import { scanUpdate } from "../updates/update-reader.ts";

export type Authored = Pick<AuthoredUpdate, "authors" | "data">;

export interface Attribution {
  readonly inserted: RangeMap<readonly Author[]>;
  readonly deleted: RangeMap<readonly Author[]>;
}

const UNKNOWN: readonly Author[] = [];

/** Attributes the operations of `since`. Operations of `before` have no author. */
export function attribute(before: readonly Uint8Array[], since: readonly Authored[]): Attribution {
  const attribution = {
    inserted: new RangeMap<readonly Author[]>(),
    deleted: new RangeMap<readonly Author[]>(),
  };
  for (const data of before) add(attribution, data, UNKNOWN);
  for (const { data, authors } of since) add(attribution, data, authors);
  return attribution;
}

function add({ inserted, deleted }: Attribution, data: Uint8Array, authors: readonly Author[]): void {
  const content = scanUpdate(data);
  for (const range of content.inserted) inserted.fill(range, authors);
  for (const range of content.deleted) deleted.fill(range, authors);
}
