/** The room's lasting changes: numbered, kept for a day, sent to everyone in order, and made once per request id. */
import { CHANGE_LIFETIME_MS, MAX_CATCH_UP_BYTES, MAX_KEPT_CHANGES } from "../protocol/limits.ts";
import type { Change, ChangeEvent, ServerEvent } from "../protocol/protocol.ts";
import type { RoomRequest } from "../protocol/room-request.ts";
import type { RoomStorage } from "../storage/storage.ts";
import type { LoggedChange, OldestChange } from "../storage/storage-content.ts";

/** The sender of the organization's requests, and of the room's own changes: no user has an empty id. */
export const ORGANIZATION = "";

export class Changes {
  readonly #storage: RoomStorage;
  readonly #now: () => number;
  /** Made since the last {@link takeEvents}. */
  #unsent: Change[] = [];
  /** As stored, read once and then kept up to date: every write needs both. */
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

  /** Runs `work` in a transaction; if it throws, the changes it appended were never made. */
  transaction<T>(work: () => T): T {
    try {
      return this.#storage.transaction(work);
    } catch (error) {
      this.reset();
      throw error;
    }
  }

  /** Discards what memory knows of storage, which has been rolled back or cleared. */
  reset(): void {
    this.#unsent = [];
    this.#lastSeq = null;
    this.#oldest = null;
  }

  /**
   * Does what a request asks in a transaction, and returns the data of its response. A request that its sender
   * repeats, under the same request id, returns the same data again and changes nothing.
   */
  once(sender: string, request: RoomRequest, work: () => object): object {
    const { requestId } = request;
    if (requestId === undefined) return this.transaction(work);
    return this.transaction(() => {
      const log = this.#storage.changes;
      const fingerprint = fingerprintOf(request);
      const receipt = log.findReceipt(sender, requestId);
      if (receipt?.fingerprint === fingerprint) return parseAnswer(receipt.answer);
      const before = this.lastSeq;
      const data = work();
      if (this.lastSeq > before) {
        const answer = JSON.stringify(data);
        log.writeReceipt(this.lastSeq, { userId: sender, requestId, fingerprint, answer });
      }
      return data;
    });
  }

  /** Logs the next change, in the {@link transaction} of what it describes. */
  append(event: ChangeEvent, dataOf: (seq: number) => object): Change {
    const seq = this.lastSeq + 1;
    const change: Change = { seq, event, data: dataOf(seq) };
    this.#storage.changes.append({ seq, event, data: JSON.stringify(change.data) }, this.#now());
    this.#lastSeq = seq;
    this.#prune(seq);
    this.#unsent.push(change);
    return change;
  }

  /** Logs a change that can happen only once, such as a user's deletion, unless it is logged already. */
  appendOnce(event: ChangeEvent, subject: string, data: object): void {
    // The space keeps it apart from any Idempotency-Key.
    const receipt = { userId: ORGANIZATION, requestId: `${event} ${subject}`, fingerprint: "", answer: "{}" };
    if (this.#storage.changes.findReceipt(receipt.userId, receipt.requestId) !== null) return;
    const { seq } = this.append(event, () => data);
    this.#storage.changes.writeReceipt(seq, receipt);
  }

  /** Keeps the very latest change whatever its age: it holds the count. */
  #prune(seq: number): void {
    this.#oldest ??= this.#storage.changes.oldest();
    if (this.#oldest === null) return;
    const expiredBefore = this.#now() - CHANGE_LIFETIME_MS;
    const { at, seq: oldest } = this.#oldest;
    const first = at < expiredBefore ? (this.#storage.changes.firstSince(expiredBefore) ?? seq) : oldest;
    const kept = Math.max(first, seq - MAX_KEPT_CHANGES + 1);
    if (kept <= oldest) return;
    this.#storage.changes.prune(kept);
    this.#oldest = null;
  }

  /** Takes the changes that were made since the last call, as events to send. */
  takeEvents(): ServerEvent[] {
    const changes = this.#unsent;
    this.#unsent = [];
    return changes.map((change) => ({ type: "event", ...change }));
  }

  /** The changes after `seq`; null when some are no longer kept, they are too many, or `seq` is not of this room. */
  since(seq: number): Change[] | null {
    const log = this.#storage.changes;
    const last = this.lastSeq;
    if (seq === last) return [];
    if (seq > last || seq + 1 < (log.oldest()?.seq ?? 0)) return null;
    return log.sizeAfter(seq) > MAX_CATCH_UP_BYTES ? null : log.listAfter(seq).map(parseChange);
  }
}

/** A change as {@link Changes.append} wrote it. */
const parseChange = ({ seq, event, data }: LoggedChange): Change => ({
  seq,
  event,
  data: JSON.parse(data) as object,
});

/** A receipt's answer as {@link Changes.once} wrote it. */
const parseAnswer = (json: string): object => JSON.parse(json) as object;

/**
 * Identifies a request's content: 53 bits of hash and the length. Only a sender can make two of its own collide,
 * which deceives no one else: receipts are kept per sender.
 */
function fingerprintOf(request: RoomRequest): string {
  const text = JSON.stringify([request.type, "data" in request ? request.data : undefined]);
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    high = Math.imul(high ^ unit, 0x9e3779b1);
    low = Math.imul(low ^ unit, 0x5f356495);
  }
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35);
  return `${text.length.toString(36)}-${(4294967296 * (0x1fffff & low) + (high >>> 0)).toString(36)}`;
}
