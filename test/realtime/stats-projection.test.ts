/** R27 as a machine of its own: never two copies at once, and never a stale one last. */
import { expect, it } from "vitest";
import { StatsProjection } from "../../src/realtime/participants/stats-projection.ts";

/** A database that answers when it is told to. */
function slowDatabase() {
  const written: number[] = [];
  const pending: (() => void)[] = [];
  let version = 1;
  const copy = new StatsProjection({
    now: () => 0,
    current: () => ({
      version,
      figures: { activeParticipants: version, occupiedMs: 0, occupiedSince: null },
    }),
    isOwed: () => !written.includes(version),
    write: () => new Promise((resolve) => pending.push(resolve)),
    written: (done) => written.push(done),
  });
  return { copy, written, pending, change: () => (version += 1) };
}

it("a second copy begins when the first has ended, with the figures of that moment (R27)", async () => {
  const { copy, written, pending, change } = slowDatabase();
  const [first, second] = [copy.copy(), copy.copy()];
  await Promise.resolve();
  expect(pending).toHaveLength(1);
  change();
  pending.shift()?.();
  await first;
  await Promise.resolve();
  expect(pending).toHaveLength(1);
  pending.shift()?.();
  await second;
  expect(written).toEqual([1, 2]);
  expect(copy.dueAt()).toBeNull();
});
