/** What a room knows of its organization's quota `store_bytes`: what is left of it, and when the database has to learn more. */

import { AppError } from "../../../platform/errors.ts";
import { describeExceeded, type QuotaUse } from "../../../wire/quota.ts";
import { MAX_ROOM_COMMENT_BYTES } from "../../protocol/limits.ts";

/** What counts in it. */
export type CountedPart = "stores" | "documents";

/** The database learns of each such step that the room's stores, or its documents, have grown or shrunk by. */
const STEP_BYTES = 1024 * 1024;

const stepOf = (bytes: number): number => Math.floor(bytes / STEP_BYTES);

/** The organization's use when the database had this count of the room's bytes. */
interface Known {
  readonly use: QuotaUse;
  readonly roomBytes: number;
}

export class StoreQuota {
  readonly #bytesOf: (part: CountedPart) => number;
  /** Null until the first copy after the room's object has started. */
  #known: Known | null = null;
  #maxCommentBytes = MAX_ROOM_COMMENT_BYTES;
  #isDue = false;
  /** Whether it was when the latest copy began. */
  #wasDue = false;
  #hasNews = false;

  /** `bytesOf` returns what a part of the room has in storage. */
  constructor(bytesOf: (part: CountedPart) => number) {
    this.#bytesOf = bytesOf;
  }

  /** What the room counts. */
  get roomBytes(): number {
    return this.#bytesOf("stores") + this.#bytesOf("documents");
  }

  /** True when the database should learn how many bytes the room has. */
  get isDue(): boolean {
    return this.#isDue;
  }

  /** A part is to have `after` instead of `before` bytes. FORBIDDEN when the organization's quota is used up. */
  require(part: CountedPart, before: number, after: number): void {
    if (this.#known === null || after <= before) return;
    const { use, roomBytes } = this.#known;
    const beside = this.#bytesOf(part === "stores" ? "documents" : "stores");
    const used = use.used - roomBytes + beside + before;
    if (used - before + after <= use.limit) return;
    this.#setDue(); // others may have deleted something, or the limit was raised
    throw new AppError("Accounts", "FORBIDDEN", describeExceeded({ ...use, used }));
  }

  /** A part has `after` instead of `before` bytes. */
  changed(before: number, after: number): void {
    if (stepOf(before) !== stepOf(after)) this.#setDue();
  }

  #setDue(): void {
    this.#hasNews ||= !this.#isDue;
    this.#isDue = true;
  }

  /** True once after a copy has become due, so that it can be planned. */
  takeNews(): boolean {
    const hadNews = this.#hasNews;
    this.#hasNews = false;
    return hadNews;
  }

  /** A copy begins, of the bytes as they are now. */
  copying(): void {
    this.#wasDue = this.#isDue;
    this.#isDue = false;
  }

  /** The database could not be written. */
  copyFailed(): void {
    this.#isDue ||= this.#wasDue;
  }

  /** The database counts these bytes of the room, and this is the organization's use with them. */
  copied(use: QuotaUse, roomBytes: number, maxCommentBytes: number | null = null): void {
    this.#known = { use, roomBytes };
    this.#maxCommentBytes = maxCommentBytes ?? MAX_ROOM_COMMENT_BYTES;
  }

  /** What the room's comments may have together. */
  get maxCommentBytes(): number {
    return this.#maxCommentBytes;
  }
}
