/** What the scheduler reads to find what to start next: it does not grow with the lanes in flight. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { DeliveryStore } from "../../src/delivery/subscriber/delivery-store.ts";
import type { Pace } from "../../src/delivery/subscriber/handler.ts";
import { type Job, Scheduler } from "../../src/delivery/subscriber/scheduler.ts";
import { recordCursors } from "../support/recorded-cursors.ts";

const NOW = Date.UTC(2100, 0, 1);
/** Outcomes are written together. */
const RECORDED_TOGETHER = 8;

const delivered = {
  type: "delivered",
  attempt: { attempted_at: new Date(NOW).toISOString(), duration_ms: 1 },
} as const;

/** A scheduler over a real database that has so many attempts in flight at most. */
class Subject {
  readonly inFlight: Job[] = [];
  readonly #store: DeliveryStore;
  readonly #scheduler: Scheduler;
  readonly #pace: Pace;
  readonly #cursors: ReturnType<typeof recordCursors>;
  readonly #unrecorded: Job[] = [];
  #starts = 0;
  #statements = 0;
  #rowsRead = 0;

  constructor({ storage }: DurableObjectState, maxInFlight: number) {
    this.#store = new DeliveryStore(storage);
    this.#store.open({ kind: "webhook", accountId: "account", id: "webhook" });
    this.#scheduler = new Scheduler(this.#store);
    this.#pace = { maxInFlight, pausedUntil: 0 };
    this.#cursors = recordCursors(storage.sql);
  }

  add(lane: number): void {
    const roomId = `room ${lane}`;
    const event = { eventId: "event", event: "user.created", roomId, body: "{}", occurredAt: NOW } as const;
    this.#store.insert(event, roomId, NOW);
  }

  /** Starts what may start, and asks when to look again, as the queue does after each change. */
  look(): void {
    this.#cursors.length = 0;
    const started = this.#scheduler.start(NOW, this.#pace);
    this.#scheduler.dueAt(NOW);
    this.inFlight.push(...started);
    this.#starts += started.length;
    this.#statements += this.#cursors.length;
    this.#rowsRead += this.#cursors.reduce((sum, { rowsRead }) => sum + rowsRead, 0);
  }

  pause(): void {
    this.#scheduler.pause(NOW + 1);
  }

  resume(): void {
    this.#scheduler.resume();
  }

  /** The attempt that began so many before the latest is over. */
  end(before: number): void {
    const [job] = this.inFlight.splice(-1 - before, 1);
    if (job === undefined) throw new Error("It is not in flight");
    this.#unrecorded.push(job);
    this.#scheduler.settle(job);
    if (this.#unrecorded.length < RECORDED_TOGETHER) return;
    for (const { seq } of this.#unrecorded.splice(0)) this.#store.recordOutcome(seq, delivered);
    this.#scheduler.forgetSettled();
  }

  /** What was read since the last call, for each attempt that was started. */
  readForEach(): { readonly statements: number; readonly rowsRead: number } {
    const each = { statements: this.#statements / this.#starts, rowsRead: this.#rowsRead / this.#starts };
    this.#starts = 0;
    this.#statements = 0;
    this.#rowsRead = 0;
    return each;
  }
}

const subjectOf = <T>(maxInFlight: number, work: (subject: Subject) => T): Promise<T> =>
  runInDurableObject(env.GUESS_LIMITS.getByName(crypto.randomUUID()), (_, state) =>
    work(new Subject(state, maxInFlight)),
  );

const times = (count: number, work: (index: number) => void): void => {
  for (let index = 0; index < count; index += 1) work(index);
};

const IN_FLIGHT = [5, 60, 95];

describe.each(IN_FLIGHT)("beside %d lanes in flight, an attempt costs few statements and rows", (lanes) => {
  /** Of each attempt: its lane when it is added, when it is free again and when it is recorded, and the retries each time. */
  const few = ({ statements, rowsRead }: ReturnType<Subject["readForEach"]>): void => {
    expect(statements).toBeLessThan(8);
    expect(rowsRead).toBeLessThan(8);
  };

  it("when it is the only one of its room", () =>
    subjectOf(lanes + 1, (subject) => {
      times(lanes, (lane) => subject.add(lane));
      subject.look();
      few(subject.readForEach());
      times(100, (index) => {
        subject.add(1_000 + index);
        subject.look();
        subject.end(0);
        subject.look();
      });
      few(subject.readForEach());
      expect(subject.inFlight).toHaveLength(lanes);
    }));

  it("when more of its room waits, and others answer late", () =>
    subjectOf(lanes + 1, (subject) => {
      times(lanes, (lane) => subject.add(lane));
      times(200, () => subject.add(0));
      subject.look();
      subject.end(subject.inFlight.length - 1 - subject.inFlight.findIndex(({ lane }) => lane === "room 0"));
      subject.look();
      few(subject.readForEach());
      times(100, () => {
        subject.end(0);
        subject.look();
      });
      few(subject.readForEach());
    }));

  it("when hardly more rooms wait than are in flight", () =>
    subjectOf(lanes, (subject) => {
      times(10 * (lanes + 2), (index) => subject.add(index % (lanes + 2)));
      subject.look();
      few(subject.readForEach());
      times(5 * lanes, (index) => {
        subject.end((index * 7) % lanes);
        subject.look();
      });
      few(subject.readForEach());
    }));

  it("when many more rooms wait than are in flight", () =>
    subjectOf(lanes, (subject) => {
      times(1_500, (lane) => subject.add(lane));
      subject.look();
      times(1_300, () => {
        subject.end(lanes - 1);
        subject.look();
      });
      few(subject.readForEach());
    }));

  it("when the subscriber rests between attempts", () =>
    subjectOf(lanes + 1, (subject) => {
      times(lanes, (lane) => subject.add(lane));
      subject.look();
      subject.readForEach();
      times(50, (index) => {
        subject.pause();
        subject.add(1_000 + index);
        subject.look();
        subject.resume();
        subject.look();
        subject.end(0);
      });
      few(subject.readForEach());
    }));
});
