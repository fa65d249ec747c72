/** R27 for the stats projection alone: one copy at a time, and the latest one last. */
import { expect, it } from "vitest";
import { StatsProjection } from "../../../../src/room/engine/content/stats-projection.ts";
import { StoreQuota } from "../../../../src/room/engine/content/stores.ts";

/** A room with stats to copy, and a database that responds when the test says so. */
function slowDatabase() {
  const written: number[] = [];
  const pending: (() => void)[] = [];
  const room = {
    sessions: {
      record: { version: 1, copiedVersion: 0 },
      get stats() {
        return { activeParticipants: this.record.version, occupiedMs: 0, occupiedSince: null };
      },
      markProjected(copiedVersion: number) {
        written.push(copiedVersion);
        this.record = { ...this.record, copiedVersion };
      },
      change() {
        this.record = { ...this.record, version: this.record.version + 1 };
      },
    },
    storeQuota: new StoreQuota({ planAlarm: () => {}, storage: { occupancy: { limits: {} } } }, () => 0),
  };
  const projection = new StatsProjection({
    now: () => 0,
    room,
    write: () => new Promise((resolve) => pending.push(resolve)),
  });
  return { projection, room, written, pending };
}

it("a second copy begins when the first has ended, with the stats of that moment (R27)", async () => {
  const { projection, room, written, pending } = slowDatabase();
  const [first, second] = [projection.copy(), projection.copy()];
  await Promise.resolve();
  expect(pending).toHaveLength(1);
  room.sessions.change();
  pending.shift()?.();
  await first;
  await Promise.resolve();
  expect(pending).toHaveLength(1);
  pending.shift()?.();
  await second;
  expect(written).toEqual([1, 2]);
  expect(projection.dueAt()).toBeNull();
});
