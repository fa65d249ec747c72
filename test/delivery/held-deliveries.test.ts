/** Deliveries of a caller that can wait: written once after a quick attempt, and never lost. */
import { expect, it } from "vitest";
import type { DeliveryOutcome } from "../../src/delivery/subscriber/handler.ts";
import { expectLogged } from "../support/log-guard.ts";
import { recordCursors } from "../support/recorded-cursors.ts";
import { ATTEMPT, StubbedSubscriber } from "./stubbed-subscriber.ts";
import { outgoingEvent, START } from "./test-queue.ts";

const DELIVERED: DeliveryOutcome = { type: "delivered", attempt: ATTEMPT };

/** The stored deliveries, which nothing has asked the object for: asking it writes what is held. */
const stored = ({ state }: StubbedSubscriber): unknown[] =>
  state.storage.sql.exec("SELECT status, attempts FROM deliveries ORDER BY seq").toArray();

/** Runs `work` with a queue that has delivered an event, and so knows its key. */
const run = (work: (subject: StubbedSubscriber) => Promise<void>): Promise<void> =>
  StubbedSubscriber.run(async (subject) => {
    await subject.offer(outgoingEvent(0));
    await expect.poll(() => stored(subject)).toEqual([{ status: "success", attempts: 1 }]);
    subject.attempted.length = 0;
    await work(subject);
  });

it("a quick delivery is written once: its row and its places in two indexes", () =>
  run(async (subject) => {
    const cursors = recordCursors(subject.state.storage.sql);
    await subject.offer(outgoingEvent(1), outgoingEvent(2));
    expect(cursors.reduce((sum, { rowsWritten }) => sum + rowsWritten, 0)).toBe(6);
    expect(subject.attempted).toEqual([1, 2]);
    expect(subject.total("success")).toBe(3);
    expect(subject.object.stats("1h").total.succeeded).toBe(3);
  }));

it("a delivery that fails is written with its attempt, and is retried", () =>
  run(async (subject) => {
    subject.outcome = () => ({ type: "retry", at: START + 1_000, attempt: ATTEMPT, error: "It failed" });
    await subject.offer(outgoingEvent(1));
    expect(stored(subject)[1]).toEqual({ status: "pending", attempts: 1 });
    subject.outcome = () => DELIVERED;
    subject.advance(1_000);
    await expect.poll(() => subject.attempted).toEqual([1, 1]);
    expect(subject.object.stats("1h").total).toMatchObject({ succeeded: 2, failed: 1 });
  }));

it("a slow delivery is written while its attempt is in flight, and the next ones before theirs", () =>
  run(async (subject) => {
    const answered = Promise.withResolvers<DeliveryOutcome>();
    subject.outcome = () => answered.promise;
    await subject.offer(outgoingEvent(1), outgoingEvent(2));
    expect(stored(subject).slice(1)).toEqual(Array(2).fill({ status: "pending", attempts: 0 }));
    await subject.offer(outgoingEvent(3));
    expect(stored(subject)[3]).toEqual({ status: "pending", attempts: 0 });
    answered.resolve(DELIVERED);
    await expect.poll(() => subject.total("success")).toBe(4);
    expect(subject.attempted).toEqual([1, 2, 3]);
    await subject.offer(outgoingEvent(4));
    expect(stored(subject)[4]).toEqual({ status: "success", attempts: 1 });
  }));

it("a delivery that no attempt may start for is written at once", () =>
  run(async (subject) => {
    subject.outcome = () => ({ type: "postponed", until: START + 5_000, why: "Not yet" });
    await subject.offer(outgoingEvent(1));
    expect(stored(subject)[1]).toEqual({ status: "pending", attempts: 0 });
    await subject.offer(outgoingEvent(2));
    expect(subject.attempted).toEqual([1]);
    expect(stored(subject)).toHaveLength(3);
  }));

it("an event whose caller saw the object die is enqueued again, and is delivered at least once", () =>
  run(async (subject) => {
    subject.outcome = () => new Promise(() => {});
    const event = outgoingEvent(1);
    const lost = subject.offer(event);
    await expect.poll(() => subject.attempted).toEqual([1]);
    expect(stored(subject)).toHaveLength(1);
    subject.outcome = () => DELIVERED;
    subject.open();
    await subject.offer(event);
    await subject.offer(event);
    expect(subject.attempted).toEqual([1, 1]);
    expect(stored(subject)).toEqual(Array(2).fill({ status: "success", attempts: 1 }));
    // The dead object goes on in this test, and finds the event in storage.
    await expect(lost).rejects.toThrow("Deliveries could not be written");
    expectLogged("UNIQUE constraint failed");
  }));

it("an event that is repeated while its delivery is held is in storage when both calls resolve", () =>
  run(async (subject) => {
    const answered = Promise.withResolvers<DeliveryOutcome>();
    subject.outcome = () => answered.promise;
    const event = outgoingEvent(1);
    const offers = Promise.all([subject.offer(event), subject.offer(event)]);
    await expect.poll(() => subject.attempted).toEqual([1]);
    answered.resolve(DELIVERED);
    await offers;
    expect(stored(subject)).toEqual(Array(2).fill({ status: "success", attempts: 1 }));
  }));

it("an event that is stored at once goes behind those of its room that are held", () =>
  run(async (subject) => {
    const answered = Promise.withResolvers<DeliveryOutcome>();
    subject.outcome = () => answered.promise;
    const offer = subject.offer(outgoingEvent(1), outgoingEvent(2));
    subject.enqueue([outgoingEvent(3)]);
    expect(stored(subject)).toHaveLength(4);
    answered.resolve(DELIVERED);
    await offer;
    await expect.poll(() => subject.attempted).toEqual([1, 2, 3]);
  }));

it("a slow delivery that the object dies with is attempted again by its alarm", () =>
  run(async (subject) => {
    subject.outcome = () => new Promise(() => {});
    await subject.offer(outgoingEvent(1));
    expect(stored(subject)[1]).toEqual({ status: "pending", attempts: 0 });
    const alarm = await subject.state.storage.getAlarm();
    expect(alarm).toBeLessThanOrEqual(START + 5_000);
    subject.outcome = () => DELIVERED;
    subject.open();
    subject.advance(5_000);
    await expect.poll(() => stored(subject)[1]).toEqual({ status: "success", attempts: 1 });
  }));

it("a queue that is busy with other events holds none", () =>
  run(async (subject) => {
    const answered = Promise.withResolvers<DeliveryOutcome>();
    subject.outcome = () => answered.promise;
    subject.enqueue([1, 2, 3].map((number) => ({ ...outgoingEvent(number), roomId: `room ${number}` })));
    await subject.offer({ ...outgoingEvent(4), roomId: "room 4" });
    expect(stored(subject)).toHaveLength(5);
    answered.resolve(DELIVERED);
    await expect.poll(() => subject.attempted).toEqual([1, 2, 3, 4]);
  }));

it("totals count each delivery once, whichever is written first", () =>
  run(async (subject) => {
    const answered = Promise.withResolvers<DeliveryOutcome>();
    subject.outcome = (number) => (number === 100 ? answered.promise : DELIVERED);
    const inRoom = (number: number) => ({ ...outgoingEvent(number), roomId: `room ${number}` });
    for (let number = 1; number < 14; number += 1) await subject.offer(inRoom(number));
    const held = subject.offer(inRoom(100));
    subject.enqueue([inRoom(14)]);
    for (let number = 15; number < 20; number += 1) await subject.offer(inRoom(number));
    answered.resolve(DELIVERED);
    await held;
    for (let number = 20; number < 40; number += 1) await subject.offer(inRoom(number));
    const { length } = stored(subject);
    expect([subject.total("success"), subject.total("pending")]).toEqual([length, 0]);
    expect(subject.object.stats("1h").total.succeeded).toBe(length);
    expect(subject.state.storage.sql.exec("SELECT counted_seq > 30 AS most FROM totals").one()).toEqual({
      most: 1,
    });
  }));
