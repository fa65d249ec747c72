/** Receipts: what a request that made changes was answered, so that the same request changes nothing again. */
import { byteLength } from "../../platform/text.ts";
import { MAX_RECEIPT_BYTES, MAX_RECEIPTS, RECEIPT_LIFETIME_MS } from "../protocol/limits.ts";
import type { RoomRequest } from "../protocol/room-request.ts";
import type { Receipt, ReceiptTable } from "../storage/storage-log.ts";

/** How many expired receipts one new receipt removes: more than one, so that they end. */
const EXPIRED_AT_ONCE = 10;

/**
 * Receipts are kept for a day. They are bounded by user: one who exceeds the limits loses their own earliest ones,
 * which no other user can bring about.
 */
export class Receipts {
  readonly #table: ReceiptTable;
  readonly #now: () => number;

  constructor(table: ReceiptTable, now: () => number) {
    this.#table = table;
    this.#now = now;
  }

  /** The answer to this request if it was carried out before, as JSON; null if not. */
  findAnswer(sender: string, requestId: string, fingerprint: string): string | null {
    const receipt = this.#table.find(sender, requestId);
    return receipt?.fingerprint === fingerprint ? receipt.answer : null;
  }

  write(receipt: Receipt): void {
    const { userId, requestId, answer } = receipt;
    const newest = this.#table.newest(userId);
    const size = byteLength(answer) + byteLength(requestId);
    const place = { number: (newest?.number ?? 0) + 1, total: (newest?.total ?? 0) + size };
    const now = this.#now();
    this.#table.insert(receipt, place, now);
    this.#table.deleteExpired(now - RECEIPT_LIFETIME_MS, EXPIRED_AT_ONCE);
    for (let oldest = this.#table.oldest(userId); oldest !== null; oldest = this.#table.oldest(userId)) {
      const isCountExceeded = place.number - oldest.number >= MAX_RECEIPTS;
      if (oldest.number === place.number) break;
      if (!isCountExceeded && place.total - oldest.total <= MAX_RECEIPT_BYTES) break;
      this.#table.deleteOldest(userId);
    }
  }
}

/**
 * Identifies a request's content: 53 bits of hash and the length. Only a sender can make two of its own collide,
 * which deceives no one else: receipts are kept per sender.
 */
export function fingerprintOf(request: RoomRequest): string {
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
