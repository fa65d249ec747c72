/** Two users write over networks that break at random: each write is applied once, and both clients converge. */
import { beforeAll, expect, it } from "vitest";
import type { AtriumClient } from "../../src/sdk/client/index.ts";
import { eventually } from "../node/processes.ts";
import { type SharedService, useSharedService } from "../node/shared-service.ts";
import { join, meet } from "./clients.ts";
import { BreakableProxy } from "./proxy.ts";

const STEPS = 150;
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 32));

let service: SharedService;
beforeAll(async () => {
  service = await useSharedService();
});

/** Integers below `bound`, always the same for a seed (a linear congruential generator). */
function randomOf(start: number): (bound: number) => number {
  let state = start >>> 0;
  return (bound) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

/** One user's writes, and their outcome. */
class Writer {
  readonly client: AtriumClient;
  readonly proxy: BreakableProxy;
  /** The IDs of the writes, each of which must be seen once. */
  readonly written: string[] = [];
  readonly promises: Promise<unknown>[] = [];

  constructor(client: AtriumClient, proxy: BreakableProxy) {
    this.client = client;
    this.proxy = proxy;
  }

  #newId(): string {
    const id = `${this.client.userId} ${this.written.length}`;
    this.written.push(id);
    return id;
  }

  act(random: (bound: number) => number): void {
    const notes = this.client.store("notes");
    const key = `${random(4)}`;
    const write = [
      () => notes.set(key, { id: this.#newId() }),
      () => notes.update(key, { id: this.#newId(), [`by ${random(3)}`]: true }),
      () => notes.delete(key),
      () =>
        notes.batch([
          { action: "set", key, value: { id: this.#newId() } },
          { action: "update", key: `${random(4)}`, value: { id: this.#newId() } },
        ]),
      () => this.client.comments.create({ text: this.#newId() }),
    ][random(5)];
    if (write !== undefined) this.promises.push(write());
  }

  disturb(random: (bound: number) => number): void {
    const disturbance = [
      () => this.proxy.cut(),
      () => this.proxy.cutAfter("up", random(2_000)),
      () => this.proxy.cutAfter("down", random(2_000)),
      () => this.proxy.stall("down"),
      () => {
        this.proxy.delayMs = random(20);
      },
    ][random(5)];
    disturbance?.();
  }
}

it(`clients converge on one state that contains each write once (seed ${seed})`, async () => {
  const random = randomOf(seed);
  const meeting = await meet(service);
  const observer = await join(meeting, "Cleo");
  const seen: string[] = [];
  observer.store("notes").on("changed", ({ action, value }) => {
    if (action !== "delete") seen.push((value as { id: string }).id);
  });
  observer.comments.on("created", ({ text }) => seen.push(text));
  await observer.store("notes").sync();

  const writers: Writer[] = [];
  for (const name of ["Ada", "Bo"]) {
    const proxy = await BreakableProxy.before(service);
    const client = await join(meeting, name, { serverUrl: proxy.url });
    await client.store("notes").sync();
    writers.push(new Writer(client, proxy));
  }
  for (let step = 0; step < STEPS; step += 1) {
    const writer = writers[random(writers.length)];
    writer?.act(random);
    if (random(8) === 0) writer?.disturb(random);
    // Wait for a response now and then, so that some are in flight at the next cut.
    if (random(3) === 0) await observer.comments.list({ limit: 1 });
  }
  for (const { proxy } of writers) {
    proxy.delayMs = 0;
    proxy.cut(); // a stalled connection would stay stalled until the next ping
  }
  await Promise.all(writers.flatMap(({ promises }) => promises));
  expect(writers.some(({ proxy }) => proxy.accepted > 2)).toBe(true);

  const written = writers.flatMap((writer) => writer.written);
  await eventually("all writes to be seen", () => seen.length >= written.length);
  expect(seen.toSorted()).toEqual(written.toSorted());
  const { entries } = (
    await meeting.customer.send<{ entries: Record<string, { value: unknown }> }>(
      "GET",
      `/rooms/${meeting.roomId}/stores/notes`,
    )
  ).data;
  const values = Object.fromEntries(Object.entries(entries).map(([key, { value }]) => [key, value]));
  for (const client of [observer, ...writers.map((writer) => writer.client)]) {
    const notes = client.store("notes");
    await eventually(
      "all to agree",
      () => JSON.stringify(sorted(notes.getAll())) === JSON.stringify(sorted(values)),
    );
  }
  await Promise.all(writers.map(({ proxy }) => proxy.close()));
});

/** The entries sorted by key, so that insertion order does not matter. */
const sorted = (values: Readonly<Record<string, unknown>>) =>
  Object.entries(values).sort(([a], [b]) => a.localeCompare(b));
