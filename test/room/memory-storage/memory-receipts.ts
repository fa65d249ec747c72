/** The receipts of requests in memory. */

import type {
  PlacedReceipt,
  ReceiptBounds,
  ReceiptPlace,
  ReceiptTable,
} from "../../../src/room/storage/storage-log.ts";
import { MemoryPart } from "./memory-part.ts";

/** Oldest first. */
export class MemoryReceipts extends MemoryPart<readonly PlacedReceipt[]> implements ReceiptTable {
  constructor() {
    super([]);
  }

  find(userId: string, requestId: string): PlacedReceipt | null {
    return this.#of(userId).find((receipt) => receipt.requestId === requestId) ?? null;
  }

  insert(receipt: PlacedReceipt): void {
    const { userId, requestId } = receipt;
    const others = this.state.filter((row) => row.userId !== userId || row.requestId !== requestId);
    this.state = [...others, receipt];
  }

  newest(userId: string): ReceiptPlace | null {
    const newest = this.#of(userId).at(-1);
    return newest === undefined ? null : { number: newest.number, total: newest.total };
  }

  deleteBefore(userId: string, { number, total, at }: ReceiptBounds): void {
    this.#delete((row) => row.userId === userId && (row.number < number || row.total < total || row.at < at));
  }

  deleteUser(userId: string): void {
    this.#delete((row) => row.userId === userId);
  }

  deleteExpiredOfNext(userId: string, at: number): void {
    const users = this.state.map((row) => row.userId).toSorted();
    const next = users.find((other) => other > userId) ?? users[0];
    this.#delete((row) => row.userId === next && next !== userId && row.at < at);
  }

  #delete(isGone: (row: PlacedReceipt) => boolean): void {
    this.state = this.state.filter((row) => !isGone(row));
  }

  #of(userId: string): readonly PlacedReceipt[] {
    return this.state.filter((row) => row.userId === userId);
  }
}
