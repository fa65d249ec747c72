/** Turns for checking passwords: wrong ones must not take the thread from everyone else. */
import { describe, expect, it } from "vitest";
import { WrongPasswords } from "../../src/features/people/sign-in-limits.ts";

/** The waits of checks that all start at `now`, in whole seconds; null for a refused one. */
function waits(turns: WrongPasswords, clients: readonly string[], now = 0): (number | null)[] {
  return clients.map((client) => {
    const turn = turns.take(client, now, false);
    return "refusedForMs" in turn ? null : Math.round(turn.waitMs / 1000);
  });
}

const times = (count: number, client: string): string[] => Array<string>(count).fill(client);

describe("the checks of passwords", () => {
  it("of one client start at once five times, then wait for their turns or are refused", () => {
    const turns = new WrongPasswords();
    expect(waits(turns, times(8, "a"))).toEqual([0, 0, 0, 0, 0, 0, null, null]);
    expect(waits(turns, ["b"])).toEqual([0]);
    expect(waits(turns, times(2, "a"), 6_000)).toEqual([4, null]);
  });

  it("of many clients start at once twenty times, then one a second", () => {
    const clients = Array.from({ length: 28 }, (_, index) => `network ${index}`);
    const first = Array<number>(20).fill(0);
    expect(waits(new WrongPasswords(), clients)).toEqual([...first, 0, 1, 2, 3, 4, null, null, null]);
  });

  it("of browsers that are known have a share that strangers cannot use up", () => {
    const turns = new WrongPasswords();
    const strangers = Array.from({ length: 28 }, (_, index) => `network ${index}`);
    expect(waits(turns, strangers).at(-1)).toBeNull();
    const known = Array.from({ length: 3 }, (_, index) => turns.take(`browser ${index}`, 0, true));
    expect(known).toMatchObject([{ waitMs: 0 }, { waitMs: 0 }, { waitMs: 0 }]);
  });

  it("cost nothing when the password is right", () => {
    const turns = new WrongPasswords();
    for (let count = 0; count < 100; count += 1) {
      const turn = turns.take("a", 0, false);
      if ("refusedForMs" in turn) throw new Error("A right password was refused");
      expect(turn.waitMs).toBe(0);
      turn.refund(0);
    }
  });
});
