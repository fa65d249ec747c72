/** When the room's figures are copied to the database: soon, never twice at once, and again when it fails. */
import type { RoomStats } from "../../rooms/schema.ts";

/** The figures and the count of changes that led to them. */
export interface VersionedStats {
  readonly figures: RoomStats;
  readonly version: number;
}

export interface StatsProjectionPorts {
  now(): number;
  /** The figures as they are now. */
  current(): VersionedStats;
  /** True while the copy is not known to be up to date; this survives a crash. */
  isOwed(): boolean;
  write(figures: VersionedStats): Promise<void>;
  /** Notes durably that `version` has been written. */
  written(version: number): void;
}

/** The least time from one copy to the next. */
export const COPY_INTERVAL_MS = 1_000;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 30_000;

export class StatsProjection {
  readonly #ports: StatsProjectionPorts;
  /** Before this time only {@link copy} itself starts a copy. */
  #notBefore = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #latest: Promise<void> = Promise.resolve();

  constructor(ports: StatsProjectionPorts) {
    this.#ports = ports;
  }

  /** When the next copy is due (epoch ms); null when none is owed. */
  dueAt(): number | null {
    return this.#ports.isOwed() ? Math.max(this.#ports.now(), this.#notBefore) : null;
  }

  /** Copies the figures as they are when those before have been copied. Rejects when the database fails. */
  copy(): Promise<void> {
    const mine = this.#latest.then(() => this.#write());
    this.#latest = mine.catch(() => undefined);
    return mine;
  }

  async #write(): Promise<void> {
    const current = this.#ports.current();
    this.#notBefore = this.#ports.now() + COPY_INTERVAL_MS;
    try {
      await this.#ports.write(current);
    } catch (error) {
      this.#notBefore = this.#ports.now() + Math.min(FIRST_RETRY_MS * 2 ** this.#failures, LAST_RETRY_MS);
      this.#failures += 1;
      throw error;
    }
    this.#failures = 0;
    this.#ports.written(current.version);
  }
}
