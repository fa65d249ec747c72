/** Copies a room's stats and sizes to the database. */

import { backoffMs } from "@atrium/contract/pacing/backoff.ts";
import type { RoomStats } from "@atrium/contract/resources/snapshots.ts";
import type { RoomRecord } from "../../storage/storage.ts";
import type { Sessions } from "../participants/sessions.ts";
import type { StoreQuota } from "./stores.ts";

/** The room whose stats are copied; `record` is null before the first join. */
interface ProjectedRoom {
  readonly sessions: Pick<Sessions, "stats" | "markProjected"> & {
    readonly record: Pick<RoomRecord, "version" | "copiedVersion"> | null;
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

/** Copies the room's stats to the database after changes, and after failures again. */
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
