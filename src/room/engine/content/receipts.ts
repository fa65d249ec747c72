/** Receipts: what a request that made changes was answered, so that the same request changes nothing again. */
import { byteLength } from "../../../platform/text.ts";
import { MAX_RECEIPT_BYTES, MAX_RECEIPTS, RECEIPT_LIFETIME_MS } from "../../protocol/limits.ts";
import type { RoomRequest } from "../../protocol/room-request.ts";
import type { Receipt, ReceiptBounds, ReceiptPlace, ReceiptTable } from "../../storage/storage-log.ts";

/**
 * Each time that a user has so many more, those that are no longer remembered are deleted: to find them, all of the
 * user's are read.
 */
const RECEIPTS_PER_CLEANING = 256;

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
    if (receipt?.fingerprint !== fingerprint) return null;
    const bounds = this.#boundsOf(this.#table.newest(sender) ?? receipt);
    const isRemembered =
      receipt.number >= bounds.number && receipt.total >= bounds.total && receipt.at >= bounds.at;
    return isRemembered ? receipt.answer : null;
  }

  write(receipt: Receipt): void {
    const { userId, requestId, answer } = receipt;
    const newest = this.#table.newest(userId);
    const size = byteLength(answer) + byteLength(requestId);
    const place = { number: (newest?.number ?? 0) + 1, total: (newest?.total ?? 0) + size };
    this.#table.insert({ ...receipt, ...place, at: this.#now() });
    if (place.number % RECEIPTS_PER_CLEANING !== 1) return;
    const bounds = this.#boundsOf(place);
    this.#table.deleteBefore(userId, bounds);
    this.#table.deleteExpiredOfNext(userId, bounds.at);
  }

  /** What is remembered beside the latest receipt of a user. */
  #boundsOf({ number, total }: ReceiptPlace): ReceiptBounds {
    return {
      number: number - MAX_RECEIPTS + 1,
      total: total - MAX_RECEIPT_BYTES,
      at: this.#now() - RECEIPT_LIFETIME_MS,
    };
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
