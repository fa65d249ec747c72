/** Frames that share the wait for the disk: when each is handled, and in which order. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { FrameBatcher } from "../../../src/room/transport/batching.ts";

/** A batcher of names, with the list of handled ones. Names for which `isWriter` is true write. */
function watched(isWriter: (name: string) => boolean) {
  const handled: string[] = [];
  const together: string[][] = [];
  const clock = { now: 0 };
  let [writes, arrived] = [0, (_name: string) => {}];
  const batcher = new FrameBatcher<null>({
    handle(_, frame) {
      const name = String(frame);
      handled.push(name);
      if (isWriter(name)) writes += 1;
      arrived(name);
    },
    together: (work) => {
      const { length } = handled;
      work();
      together.push(handled.slice(length));
    },
    writes: () => writes,
    now: () => clock.now,
  });
  return {
    batcher,
    handled,
    together,
    clock,
    /** Resolves when this frame is handled. */
    until: (name: string) =>
      new Promise<void>((resolve) => {
        if (handled.includes(name)) resolve();
        else
          arrived = (next) => {
            if (next === name) resolve();
          };
      }),
  };
}

it("a frame is handled at once while nothing has been written", () => {
  const { batcher, handled } = watched(() => false);
  for (const name of ["a", "b", "c"]) {
    batcher.receive(null, name);
    expect(handled.at(-1)).toBe(name);
  }
});

it("what arrives with a write is handled together, after it and in order", async () => {
  const { batcher, handled, together, until } = watched((name) => name !== "b");
  for (const name of ["a", "b", "c", "d"]) batcher.receive(null, name);
  expect(handled).toEqual(["a"]);
  await until("d");
  expect(handled).toEqual(["a", "b", "c", "d"]);
  expect(together).toEqual([["b", "c", "d"]]);
});

it("a frame that arrives later than a write is handled at once, unless another one waits", async () => {
  const { batcher, handled, clock, until } = watched((name) => name !== "c");
  batcher.receive(null, "a");
  clock.now += 1;
  batcher.receive(null, "b");
  expect(handled).toEqual(["a", "b"]);
  batcher.receive(null, "c");
  clock.now += 1;
  batcher.receive(null, "d");
  expect(handled).toEqual(["a", "b"]);
  await until("d");
  clock.now += 1;
  batcher.receive(null, "e");
  expect(handled).toEqual(["a", "b", "c", "d", "e"]);
});

it("what waits is handled before what has to find it done", () => {
  const { batcher, handled } = watched(() => true);
  for (const name of ["a", "b"]) batcher.receive(null, name);
  batcher.finish();
  expect(handled).toEqual(["a", "b"]);
});

it("no more waits than memory is to hold", () => {
  const [many, large] = [watched(() => true), watched(() => true)];
  for (let index = 0; index <= 256; index += 1) many.batcher.receive(null, `${index}`);
  expect(many.handled).toHaveLength(257);
  large.batcher.receive(null, "a");
  large.batcher.receive(null, "b".repeat(1024 * 1024));
  expect(large.handled).toHaveLength(2);
});

it("whatever writes, and whenever batcher end, each frame is handled once and in order", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({ writes: fc.boolean(), next: fc.constantFrom("", "", "finish", "turn", "later") }),
        {
          maxLength: 40,
        },
      ),
      async (frames) => {
        const { batcher, handled, clock, until } = watched((name) => frames[Number(name)]?.writes ?? false);
        const names = frames.map((_, index) => `${index}`);
        for (const [index, { next }] of frames.entries()) {
          batcher.receive(null, `${index}`);
          if (next === "finish") batcher.finish();
          if (next === "later") clock.now += 1;
          if (next === "turn") await until(`${index}`);
        }
        batcher.finish();
        expect(handled).toEqual(names);
      },
    ),
    { numRuns: 50 },
  );
});
