/** Two users write over networks that break at random: each acknowledged write is applied once, and both converge. */
import { beforeAll, expect, it } from "vitest";
import type { AtriumClient, Written } from "../../src/sdk/client/index.ts";
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
  /** The IDs of what was written, by what wrote it: a change by its version, or a comment. */
  readonly written = new Map<number | string, string>();
  readonly promises: Promise<unknown>[] = [];
  #count = 0;

  constructor(client: AtriumClient, proxy: BreakableProxy) {
    this.client = client;
    this.proxy = proxy;
  }

  #newId(): string {
    this.#count += 1;
    return `${this.client.userId} ${this.#count}`;
  }

  /** Keeps the id under the version that it got: a write that another one superseded has that one's version. */
  async #keep(ids: readonly string[], write: Promise<readonly Written[]>): Promise<void> {
    for (const [index, { version = 0 }] of (await write).entries())
      this.written.set(version, ids[index] ?? "");
  }

  async #comment(id: string): Promise<void> {
    await this.client.comments.create({ text: id });
    this.written.set(id, id);
  }

  act(random: (bound: number) => number): void {
    const notes = this.client.store("notes");
    const [key, other] = [`${random(4)}`, `${random(4)}`];
    const [id, otherId] = [this.#newId(), this.#newId()];
    const one = (write: Promise<Written>) =>
      this.#keep(
        [id],
        write.then((written) => [written]),
      );
    const write = [
      () => one(notes.set(key, { id })),
      () => one(notes.update(key, { id, [`by ${random(3)}`]: true })),
      () => notes.delete(key),
      () =>
        this.#keep(
          [id, otherId],
          notes.batch([
            { action: "set", key, value: { id } },
            { action: "update", key: other, value: { id: otherId } },
          ]),
        ),
      () => this.#comment(id),
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

  // A deletion that supersedes a write has no version.
  for (const { written } of writers) written.delete(0);
  const written = writers.flatMap((writer) => [...writer.written.values()]);
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
