/** The scheduler's reads for its next start do not grow with the lanes in flight. */
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

/** A scheduler over a real database with a limit of attempts in flight. */
class MeasuredScheduler {
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

  /** Starts ready jobs, and asks for the time of the next look, like the queue after each change. */
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

  /** Ends the attempt that began this many before the latest. */
  end(before: number): void {
    const [job] = this.inFlight.splice(-1 - before, 1);
    if (job === undefined) throw new Error("It is not in flight");
    this.#unrecorded.push(job);
    this.#scheduler.settle(job);
    if (this.#unrecorded.length < RECORDED_TOGETHER) return;
    for (const { seq } of this.#unrecorded.splice(0)) this.#store.recordOutcome(seq, delivered);
    this.#scheduler.forgetSettled();
  }

  /** Statements and rows read since the last call, per started attempt. */
  readForEach(): { readonly statements: number; readonly rowsRead: number } {
    const each = { statements: this.#statements / this.#starts, rowsRead: this.#rowsRead / this.#starts };
    this.#starts = 0;
    this.#statements = 0;
    this.#rowsRead = 0;
    return each;
  }
}

const measured = <T>(maxInFlight: number, work: (fixture: MeasuredScheduler) => T): Promise<T> =>
  runInDurableObject(env.GUESS_LIMITS.getByName(crypto.randomUUID()), (_, state) =>
    work(new MeasuredScheduler(state, maxInFlight)),
  );

const times = (count: number, work: (index: number) => void): void => {
  for (let index = 0; index < count; index += 1) work(index);
};

const IN_FLIGHT = [5, 60, 95];

describe.each(IN_FLIGHT)("beside %d lanes in flight, an attempt costs few statements and rows", (lanes) => {
  /** Bounds per attempt: its lane is read when it is added, free again and recorded, and the retries each time. */
  const few = ({ statements, rowsRead }: ReturnType<MeasuredScheduler["readForEach"]>): void => {
    expect(statements).toBeLessThan(8);
    expect(rowsRead).toBeLessThan(8);
  };

  it("when it is the only one of its room", () =>
    measured(lanes + 1, (fixture) => {
      times(lanes, (lane) => fixture.add(lane));
      fixture.look();
      few(fixture.readForEach());
      times(100, (index) => {
        fixture.add(1_000 + index);
        fixture.look();
        fixture.end(0);
        fixture.look();
      });
      few(fixture.readForEach());
      expect(fixture.inFlight).toHaveLength(lanes);
    }));

  it("when more of its room waits, and others answer late", () =>
    measured(lanes + 1, (fixture) => {
      times(lanes, (lane) => fixture.add(lane));
      times(200, () => fixture.add(0));
      fixture.look();
      fixture.end(fixture.inFlight.length - 1 - fixture.inFlight.findIndex(({ lane }) => lane === "room 0"));
      fixture.look();
      few(fixture.readForEach());
      times(100, () => {
        fixture.end(0);
        fixture.look();
      });
      few(fixture.readForEach());
    }));

  it("when hardly more rooms wait than are in flight", () =>
    measured(lanes, (fixture) => {
      times(10 * (lanes + 2), (index) => fixture.add(index % (lanes + 2)));
      fixture.look();
      few(fixture.readForEach());
      times(5 * lanes, (index) => {
        fixture.end((index * 7) % lanes);
        fixture.look();
      });
      few(fixture.readForEach());
    }));

  it("when many more rooms wait than are in flight", () =>
    measured(lanes, (fixture) => {
      times(1_500, (lane) => fixture.add(lane));
      fixture.look();
      times(1_300, () => {
        fixture.end(lanes - 1);
        fixture.look();
      });
      few(fixture.readForEach());
    }));

  it("when the subscriber cools down between attempts", () =>
    measured(lanes + 1, (fixture) => {
      times(lanes, (lane) => fixture.add(lane));
      fixture.look();
      fixture.readForEach();
      times(50, (index) => {
        fixture.pause();
        fixture.add(1_000 + index);
        fixture.look();
        fixture.resume();
        fixture.look();
        fixture.end(0);
      });
      few(fixture.readForEach());
    }));
});
