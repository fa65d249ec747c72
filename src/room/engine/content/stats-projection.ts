/** The copy of a room's stats and sizes in the database, and the quota `store_bytes` that the database answers. */
import { AppError } from "../../../platform/errors.ts";
import { backoffMs } from "../../../platform/flow/backoff.ts";
import { describeExceeded, type QuotaUse } from "../../../wire/quota.ts";
import type { RoomStats } from "../../../wire/snapshots.ts";
import { MAX_ROOM_COMMENT_BYTES } from "../../protocol/limits.ts";
import type { RoomRecord } from "../../storage/storage.ts";
import type { RoomPorts } from "../../transport/room-ports.ts";

type CountedPart = "stores" | "documents";

/** The database learns of each such step that the room's stores, or its documents, have grown or shrunk by. */
const STEP_BYTES = 1024 * 1024;

const stepOf = (bytes: number): number => Math.floor(bytes / STEP_BYTES);

export class StoreQuota {
  readonly #ports: Pick<RoomPorts, "planAlarm">;
  readonly #bytesOf: (part: CountedPart) => number;
  /** The organization's use when the database counted these bytes of the room; null until the first copy. */
  #known: { readonly use: QuotaUse; readonly roomBytes: number } | null = null;
  /** The most bytes of the room's comments. */
  maxCommentBytes = MAX_ROOM_COMMENT_BYTES;
  #isDue = false;
  /** `isDue` when the latest copy began. */
  #wasDue = false;

  /** `bytesOf` returns the size of a part of the room in storage. */
  constructor(ports: Pick<RoomPorts, "planAlarm">, bytesOf: (part: CountedPart) => number) {
    this.#ports = ports;
    this.#bytesOf = bytesOf;
  }

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
    if (!this.#isDue) this.#ports.planAlarm();
    this.#isDue = true;
  }

  /** A copy begins, of the bytes as they are now. */
  copying(): void {
    this.#wasDue = this.#isDue;
    this.#isDue = false;
  }

  copyFailed(): void {
    this.#isDue ||= this.#wasDue;
  }

  /** The database counts these bytes of the room, and this is the organization's use with them. */
  copied(use: QuotaUse, roomBytes: number, maxCommentBytes: number | null = null): void {
    this.#known = { use, roomBytes };
    this.maxCommentBytes = maxCommentBytes ?? MAX_ROOM_COMMENT_BYTES;
  }
}

/** The room whose stats are copied; `record` is null before the first join. */
interface ProjectedRoom {
  readonly sessions: {
    readonly stats: RoomStats;
    readonly record: Pick<RoomRecord, "version" | "copiedVersion"> | null;
    /** Records durably that the database has the stats of `version`. */
    markProjected(version: number): void;
  };
  readonly storeQuota: Pick<StoreQuota, "isDue" | "copying" | "copyFailed">;
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
    const { sessions, storeQuota } = this.#ports.room;
    const { record } = sessions;
    const hasNewStats = record !== null && record.copiedVersion < record.version;
    return hasNewStats || storeQuota.isDue ? Math.max(this.#ports.now(), this.#notBefore) : null;
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
    const { sessions, storeQuota } = this.#ports.room;
    const version = sessions.record?.version ?? 0;
    this.#notBefore = this.#ports.now() + COPY_INTERVAL_MS;
    storeQuota.copying();
    try {
      await this.#ports.write(sessions.stats, version);
    } catch (error) {
      this.#failures += 1;
      storeQuota.copyFailed();
      this.#notBefore = this.#ports.now() + backoffMs(this.#failures, RETRY);
      throw error;
    }
    this.#failures = 0;
    sessions.markProjected(version);
  }
}
