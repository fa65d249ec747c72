/** Events that a room records some time after what they report, together, and only while a subscriber listens to them. */
import type { EventName } from "../../../wire/event-name.ts";
import type { RoomFields } from "../../../wire/room.ts";
import type { EventPorts } from "./event-ports.ts";

/** While no subscriber listens, the room looks for one so rarely: the first event of a new one may be so late. */
export const UNHEARD_INTERVAL_MS = 60_000;

/** Which events, and how they are noted in storage until they are recorded. */
export interface NotedEvents {
  readonly events: readonly EventName[];
  /** How often they are recorded at most. */
  readonly intervalMs: number;
  /** Whether storage has notes. */
  hasNotes(): boolean;
  /** Grows with each thing that is noted, also with one that storage has a note of already. */
  progress(): number;
  /** Records the events to which a subscriber listens, and deletes their notes; within a transaction. */
  record(heard: ReadonlySet<EventName>, room: RoomFields): void;
  /** Deletes all notes. */
  forget(): void;
}

export class DelayedEvents {
  readonly #ports: EventPorts;
  readonly #noted: NotedEvents;
  /** When the notes so far are to be recorded (epoch ms); null while there are none. */
  #dueAt: number | null;
  #notBefore = Number.NEGATIVE_INFINITY;
  #hasNews = false;
  /** Of a room that only REST has used: kept with the first note, because an alarm does not say which room it is. */
  #row: RoomFields | null = null;

  constructor(ports: EventPorts, noted: NotedEvents) {
    this.#ports = ports;
    this.#noted = noted;
    // What an earlier life of the object has noted is due at once.
    this.#dueAt = noted.hasNotes() ? ports.now() : null;
  }

  /** The row of a room that no one has joined, as just read. */
  offerRow(row: RoomFields): void {
    this.#row = row;
  }

  /** Something was noted, in the transaction that is running. */
  noted(): void {
    const { storage, now } = this.#ports;
    if (this.#dueAt === null) {
      this.#dueAt = Math.max(now() + this.#noted.intervalMs, this.#notBefore);
      this.#hasNews = true;
    }
    if (this.#row === null) return;
    if (storage.occupancy.readRoom() === null) storage.occupancy.writeRoom(this.#row);
    this.#row = null; // should this transaction fail, it is offered again
  }

  /** True once after notes have become due, so that the alarm can be planned. */
  takeNews(): boolean {
    const hadNews = this.#hasNews;
    this.#hasNews = false;
    return hadNews;
  }

  /** When to call {@link report} (epoch ms); null while nothing is noted. */
  dueAt(): number | null {
    return this.#dueAt;
  }

  /**
   * Records what is due if a subscriber listens, and drops it if none does. Rejects when `isHeard` or `prepare`, which
   * brings the row of a room that no one has joined, fails: then all of it is due again after an interval.
   */
  async report(isHeard: (event: EventName) => Promise<boolean>, prepare: () => Promise<void>): Promise<void> {
    const { storage, now } = this.#ports;
    if (this.#dueAt === null || this.#dueAt > now()) return;
    this.#waitFor(this.#noted.intervalMs);
    const progress = this.#noted.progress();
    const { events } = this.#noted;
    const answers = await Promise.all(events.map((event) => isHeard(event)));
    const heard = new Set(events.filter((_, index) => answers[index]));
    if (heard.size === 0) this.#waitFor(UNHEARD_INTERVAL_MS);
    else await prepare();
    storage.transaction(() => {
      const room = storage.occupancy.readRoom();
      if (heard.size > 0 && room !== null) this.#noted.record(heard, room);
      // What was noted meanwhile may have happened after a subscriber began to listen.
      if (this.#noted.progress() === progress || room === null) this.#noted.forget();
    });
    if (!this.#noted.hasNotes()) this.#dueAt = null;
  }

  /** Nothing is recorded before this time from now. */
  #waitFor(ms: number): void {
    this.#notBefore = this.#ports.now() + ms;
    this.#dueAt = this.#notBefore;
  }

  /** The room is erased: nothing of it is due any more. */
  reset(): void {
    this.#dueAt = null;
    this.#hasNews = false;
    this.#row = null;
  }
}
