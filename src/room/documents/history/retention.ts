/** Ages the history of a document: unnamed versions go, and entries between two versions are joined. */

import type { RoomStorage } from "../../storage/storage.ts";
import type { TrailEntry } from "../../types/documents.ts";
import { AGED_ENTRIES, AGED_VERSIONS, MAX_PART_BYTES } from "../updates/limits.ts";
import { agedStretches, joinUpdates, type Stretch, sumOfBytes } from "./edit-history.ts";
import { Versions } from "./versions.ts";

/** A horizon of whole days joins the same entries once a day at most. */
const DAY_MS = 24 * 60 * 60 * 1000;

/** Progress in joining old history. */
export interface Aged {
  /** Older entries are joined (epoch ms). */
  readonly horizon: number;
  /** The last update that was joined; `Infinity` when none is left. */
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
   * Continues with the history up to the update `upTo`: a bounded piece of work within the caller's transaction.
   * Returns the progress, and the bytes that became free.
   */
  age(documentId: number, upTo: number, from: Aged | null): { readonly aged: Aged; readonly freed: number } {
    const horizon = Math.floor((this.#ports.now() - this.#ports.trailKeptMs) / DAY_MS) * DAY_MS;
    const after = from?.horizon === horizon ? from.seq : 0;
    if (after === Number.POSITIVE_INFINITY) return { aged: { horizon, seq: after }, freed: 0 };
    if (!this.#dropVersions(documentId, horizon)) return { aged: { horizon, seq: 0 }, freed: 0 };
    return this.#joinEntries(documentId, { horizon, seq: after }, upTo);
  }

  /**
   * Deletes old versions, and tells whether none is left. A version shows the document until it was made, right
   * before the next update, so its age counts from then.
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

  /** Joins entries, without content that came and went between two versions. Returns the bytes that became free. */
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
