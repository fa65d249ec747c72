/** Known operations and deletions of a document, to detect duplicate updates. */
import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";
import { mergeUpdates } from "yjs";
import { compactUpdate, withoutMarked } from "./compact-update.ts";
import { IdSet } from "./ranges.ts";
import { scanUpdate, type UpdateContent } from "./update-reader.ts";

export class KnownContent {
  readonly inserted: IdSet;
  readonly deleted: IdSet;

  constructor(inserted = new IdSet(), deleted = new IdSet()) {
    this.inserted = inserted;
    this.deleted = deleted;
  }

  get size(): number {
    return this.inserted.size + this.deleted.size;
  }

  add({ inserted, deleted }: UpdateContent): void {
    this.inserted.addAll(inserted);
    this.deleted.addAll(deleted);
  }

  covers({ inserted, deleted }: UpdateContent): boolean {
    return (
      inserted.every((range) => this.inserted.covers(range)) &&
      deleted.every((range) => this.deleted.covers(range))
    );
  }

  /**
   * The update without what is known. Yjs cannot read two versions of an operation that differ, and clients repeat
   * all deletions of a document when they connect, also those of others.
   */
  newsOf(update: Uint8Array, { inserted, deleted }: UpdateContent): Uint8Array {
    const isNews =
      !inserted.some((range) => this.inserted.meets(range)) &&
      !deleted.some((range) => this.deleted.meets(range));
    return isNews ? update : withoutMarked(update, this);
  }

  encode(): Uint8Array {
    return encoding.encode((encoder) => {
      this.inserted.write(encoder);
      this.deleted.write(encoder);
    });
  }

  static decode(data: Uint8Array): KnownContent {
    const decoder = decoding.createDecoder(data);
    return new KnownContent(IdSet.read(decoder), IdSet.read(decoder));
  }
}

/** Yjs needs memory by the square of the number of updates that it merges. */
const AT_ONCE = 32;

export function mergeMany(updates: readonly Uint8Array[]): Uint8Array {
  const [first, ...others] = updates;
  if (first === undefined) throw new Error("There is no update to merge");
  if (others.length === 0) return first;
  const merged: Uint8Array[] = [];
  for (let at = 0; at < updates.length; at += AT_ONCE)
    merged.push(mergeUpdates(updates.slice(at, at + AT_ONCE)));
  return mergeMany(merged);
}

export type Deleted = "kept" | "dropped";

/** The updates as one, compacted. Returns them as they are if an operation were lost: folding must never lose one. */
export function mergeWhole(updates: readonly Uint8Array[], deleted: Deleted): readonly Uint8Array[] {
  const merged = compactUpdate(mergeUpdates([...updates]), deleted === "dropped");
  const known = new KnownContent();
  known.add(scanUpdate(merged));
  return updates.every((update) => known.covers(scanUpdate(update))) ? [merged] : updates;
}
