/** The room's lasting changes: each takes the next seq, is kept a while, and is told to all members in that order. */
import { CHANGE_LIFETIME_MS, MAX_CATCH_UP_BYTES, MAX_KEPT_CHANGES } from "../protocol/limits.ts";
import type { Change, ChangeEvent } from "../protocol/protocol.ts";
import type { RoomStorage } from "../storage/storage.ts";
import type { LoggedChange, OldestChange } from "../storage/storage-content.ts";

/** Whose receipts are the organization's, and the room's own: no user has an empty id. */
export const ORGANIZATION = "";

export class Changes {
  readonly #storage: RoomStorage;
  readonly #now: () => number;
  /** Made since they were last taken; nobody has been told yet. */
  #untold: Change[] = [];
  /** What storage says, read once and then kept up: every write asks for both. */
  #lastSeq: number | null = null;
  #oldest: OldestChange | null = null;

  constructor(storage: RoomStorage, now: () => number) {
    this.#storage = storage;
    this.#now = now;
  }

  /** The latest change's seq; 0 before the first. */
  get lastSeq(): number {
    this.#lastSeq ??= this.#storage.changes.lastSeq();
    return this.#lastSeq;
  }

  /** Does `work` whole or not at all; changes that it logged before it failed were never made. */
  transaction<T>(work: () => T): T {
    try {
      return this.#storage.transaction(work);
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  /** Storage is not what it was: what is known of it is read anew. */
  forget(): void {
    this.#untold = [];
    this.#lastSeq = null;
    this.#oldest = null;
  }

  /** Logs the next change, in {@link transaction} with what it tells of. */
  append(event: ChangeEvent, dataOf: (seq: number) => object): Change {
    const seq = this.lastSeq + 1;
    const change: Change = { seq, event, data: dataOf(seq) };
    this.#storage.changes.append({ seq, event, data: JSON.stringify(change.data) }, this.#now());
    this.#lastSeq = seq;
    this.#prune(seq);
    this.#untold.push(change);
    return change;
  }

  /** Logs a change that can happen once only, such as a user's deletion, unless that was done before. */
  appendOnce(event: ChangeEvent, subject: string, data: object): void {
    // The blank keeps it apart from any Idempotency-Key.
    const receipt = { userId: ORGANIZATION, requestId: `${event} ${subject}`, fingerprint: "", answer: "{}" };
    if (this.#storage.changes.findReceipt(receipt.userId, receipt.requestId) !== null) return;
    const { seq } = this.append(event, () => data);
    this.#storage.changes.writeReceipt(seq, receipt);
  }

  /** Keeps the latest change of all, whatever its age: it holds the count. */
  #prune(seq: number): void {
    this.#oldest ??= this.#storage.changes.oldest();
    if (this.#oldest === null) return;
    const bornAfter = this.#now() - CHANGE_LIFETIME_MS;
    const { at, seq: oldest } = this.#oldest;
    const first = at < bornAfter ? (this.#storage.changes.firstSince(bornAfter) ?? seq) : oldest;
    const kept = Math.max(first, seq - MAX_KEPT_CHANGES + 1);
    if (kept <= oldest) return;
    this.#storage.changes.prune(kept);
    this.#oldest = null;
  }

  /** Hands over the changes that are to be told now. */
  take(): Change[] {
    const untold = this.#untold;
    this.#untold = [];
    return untold;
  }

  /** The changes after `seq`; null when they are no longer kept, are too many, or were never made here. */
  since(seq: number): Change[] | null {
    const log = this.#storage.changes;
    const last = this.lastSeq;
    if (seq === last) return [];
    if (seq > last || seq + 1 < (log.oldest()?.seq ?? 0)) return null;
    return log.sizeAfter(seq) > MAX_CATCH_UP_BYTES ? null : log.listAfter(seq).map(parse);
  }
}

/** A change as {@link Changes.append} wrote it. */
const parse = ({ seq, event, data }: LoggedChange): Change => ({
  seq,
  event,
  data: JSON.parse(data) as object,
});
