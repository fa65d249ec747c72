/** What happens to the history of a document that gets old: the room's own versions go, and the trail keeps one row between two of the versions that stay. */
import type { TrailEntry } from "../../port/document-history.ts";
import type { RoomStorage } from "../../storage/storage.ts";
import { MAX_PART_BYTES } from "../updates/limits.ts";
import { AGED_ENTRIES, AGED_VERSIONS } from "./history-limits.ts";
import { agedStretches, joinUpdates, type Stretch, sumOfBytes } from "./trail.ts";
import { Versions } from "./versions.ts";

/** Whole days, so that what has become one is written anew once a day at most. */
const DAY_MS = 24 * 60 * 60 * 1000;

/** How far a document's history is joined. */
export interface Aged {
  /** What is older than this (epoch ms). */
  readonly horizon: number;
  /** Up to the update with this number; `Infinity` when there is no more. */
  readonly seq: number;
}

interface RetentionPorts {
  readonly storage: RoomStorage;
  now(): number;
  readonly trailKeptMs: number;
}

export class Retention {
  readonly #storage: RoomStorage;
  readonly #versions: Versions;
  readonly #ports: RetentionPorts;

  constructor(ports: RetentionPorts) {
    this.#storage = ports.storage;
    this.#versions = new Versions(ports.storage);
    this.#ports = ports;
  }

  /**
   * Goes on with a document's history up to the update `upTo`, from where it has got to: a bounded piece of work, within
   * the caller's transaction. Returns how far it is, and how many bytes fewer the trail has.
   */
  age(documentId: number, upTo: number, from: Aged | null): { readonly aged: Aged; readonly freed: number } {
    const horizon = Math.floor((this.#ports.now() - this.#ports.trailKeptMs) / DAY_MS) * DAY_MS;
    const after = from?.horizon === horizon ? from.seq : 0;
    if (after === Number.POSITIVE_INFINITY) return { aged: { horizon, seq: after }, freed: 0 };
    if (!this.#dropVersions(documentId, horizon)) return { aged: { horizon, seq: 0 }, freed: 0 };
    return this.#joinEntries(documentId, { horizon, seq: after }, upTo);
  }

  /**
   * Whether all are dropped that are too old. A version shows the document until it was made, right before the next
   * update: so its age counts from then, and the document can be seen as it was at any time that is kept.
   */
  #dropVersions(documentId: number, horizon: number): boolean {
    const dropped = this.#storage.versions.listUnnamed(documentId, horizon, AGED_VERSIONS);
    this.#versions.delete(documentId, dropped);
    return dropped.length < AGED_VERSIONS;
  }

  #joinEntries(documentId: number, { horizon, seq: after }: Aged, upTo: number) {
    const { documents, versions } = this.#storage;
    const entries = documents.listStretches(documentId, { after, upTo, limit: AGED_ENTRIES });
    const young = entries.findIndex(({ at }) => at >= horizon);
    const old = young < 0 ? entries : entries.slice(0, young);
    const ends = new Set(versions.listSeqs(documentId, after));
    let [seq, freed, bytes] = [after, 0, 0];
    for (const stretch of agedStretches(old, ends)) {
      if (bytes >= MAX_PART_BYTES) return { aged: { horizon, seq }, freed };
      const last = stretch.at(-1) ?? stretch[0];
      if (stretch.length > 1) {
        freed += this.#join(documentId, stretch, last);
        bytes += sumOfBytes(stretch);
      }
      seq = last.seq;
    }
    const isLast = old.length < AGED_ENTRIES;
    return { aged: { horizon, seq: isLast ? Number.POSITIVE_INFINITY : seq }, freed };
  }

  /** Returns how many bytes fewer they have as one, without what came and went between two of the versions. */
  #join(documentId: number, stretch: Stretch<TrailEntry>, { seq }: TrailEntry): number {
    const { documents } = this.#storage;
    const [first, ...others] = documents.listUpdates(documentId, stretch[0].seq - 1, seq);
    if (first === undefined) return 0;
    const [joined, ...rest] = joinUpdates([first, ...others], "dropped");
    if (joined === undefined || rest.length > 0) return 0;
    documents.deleteUpdates(documentId, first.seq, seq);
    documents.appendUpdate(documentId, joined);
    return sumOfBytes(stretch) - joined.data.length;
  }
}
