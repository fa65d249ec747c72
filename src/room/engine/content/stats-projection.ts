/** When the room's stats and the size of its stores are copied to the database: soon, one copy at a time, and again after a failure. */

import { AppError } from "../../../platform/errors.ts";
import { backoffMs } from "../../../platform/flow/backoff.ts";
import { describeExceeded, type QuotaUse } from "../../../wire/quota.ts";
import type { RoomStats } from "../../../wire/snapshots.ts";
import { MAX_ROOM_COMMENT_BYTES } from "../../protocol/limits.ts";
import type { RoomRecord } from "../../storage/storage.ts";

/** The room whose stats are copied; `record` is null before the first join. */
interface ProjectedRoom {
  readonly stats: RoomStats;
  readonly record: Pick<RoomRecord, "version" | "copiedVersion"> | null;
  /** What the room owes the database beside its stats. */
  readonly storeQuota: Pick<StoreQuota, "isDue" | "copying" | "copyFailed">;
  /** Records durably that the database has the stats of `version`. */
  statsProjected(version: number): void;
}

interface StatsProjectionPorts {
  now(): number;
  readonly room: ProjectedRoom;
  write(stats: RoomStats, version: number): Promise<void>;
}

/** The shortest time between two copies. */
const COPY_INTERVAL_MS = 1_000;
const RETRY = { firstMs: 1_000, maxMs: 30_000 };

export class StatsProjection {
  readonly #ports: StatsProjectionPorts;
  /** No copy is due before this time. */
  #notBefore = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #latest: Promise<void> = Promise.resolve();

  constructor(ports: StatsProjectionPorts) {
    this.#ports = ports;
  }

  /** When the next copy is due (epoch ms); null when the database is up to date. */
  dueAt(): number | null {
    const { record, storeQuota } = this.#ports.room;
    const hasNewStats = record !== null && record.copiedVersion < record.version;
    if (!hasNewStats && !storeQuota.isDue) return null;
    return Math.max(this.#ports.now(), this.#notBefore);
  }

  /** Copies the stats if that is due. Rejects when the database fails. */
  async copyIfDue(): Promise<void> {
    const dueAt = this.dueAt();
    if (dueAt !== null && dueAt <= this.#ports.now()) await this.copy();
  }

  /** Copies the stats, after any copy in progress, as they are then. Rejects when the database fails. */
  copy(): Promise<void> {
    const copied = this.#latest.then(() => this.#write());
    this.#latest = copied.catch(() => undefined);
    return copied;
  }

  async #write(): Promise<void> {
    const { room } = this.#ports;
    const version = room.record?.version ?? 0;
    this.#notBefore = this.#ports.now() + COPY_INTERVAL_MS;
    room.storeQuota.copying();
    try {
      await this.#ports.write(room.stats, version);
    } catch (error) {
      this.#failures += 1;
      room.storeQuota.copyFailed();
      this.#notBefore = this.#ports.now() + backoffMs(this.#failures, RETRY);
      throw error;
    }
    this.#failures = 0;
    room.statsProjected(version);
  }
}

/** What counts in it. */
type CountedPart = "stores" | "documents";

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
