/** What a command does for each organization of a deployment: some at a time, and one that fails stops no other. */
import { expect, it } from "vitest";
import { eachOrganization } from "../../src/cli/archive/each-organization.ts";
import { CommandError } from "../../src/cli/process/command.ts";

async function* named(count: number) {
  for (let index = 0; index < count; index += 1) yield { id: `${index}`, name: `Organization ${index}` };
}

const fail = (): never => {
  throw new CommandError("It is damaged.");
};

it("goes on after one that failed, and names it, unless it needs nothing any more", async () => {
  const handled: string[] = [];
  const failures = await eachOrganization(
    named(10),
    async ({ id }) => {
      if (id === "2" || id === "3") fail();
      handled.push(id);
    },
    async ({ id }) => id === "3",
  );
  expect(failures).toEqual([{ id: "2", name: "Organization 2", why: "It is damaged." }]);
  expect(handled.toSorted()).toEqual(["0", "1", "4", "5", "6", "7", "8", "9"]);
});

it("begins four at a time, and the next when one is done", async () => {
  const begun: string[] = [];
  const waiting: (() => void)[] = [];
  const four = Promise.withResolvers<void>();
  const all = eachOrganization(
    named(9),
    ({ id }) =>
      new Promise<void>((resolve) => {
        begun.push(id);
        waiting.push(resolve);
        if (waiting.length === 4) four.resolve();
      }),
    async () => false,
  );
  for (let left = 9; left > 0; left -= 1) {
    if (left === 9) await four.promise;
    expect(waiting.length).toBeLessThanOrEqual(4);
    waiting.shift()?.();
    // What follows is begun by then: nothing in it waits for anything but promises.
    await new Promise((resolve) => setImmediate(resolve));
    expect(begun).toHaveLength(Math.min(9, 4 + 10 - left));
  }
  expect(await all).toEqual([]);
});

it("ends when the deployment does not answer either, after what is under way", async () => {
  const handled: string[] = [];
  const all = eachOrganization(
    named(10),
    async ({ id }) => {
      if (id === "0") fail();
      await new Promise((resolve) => setImmediate(resolve));
      handled.push(id);
    },
    () => Promise.reject(new CommandError("The service does not answer.")),
  );
  await expect(all).rejects.toThrow("The service does not answer.");
  expect(handled).toEqual(["1", "2", "3"]);
});

it("ends with what is no failure of an organization, such as a full disk", async () => {
  const full = async () => {
    throw new Error("ENOSPC");
  };
  await expect(eachOrganization(named(3), full, async () => false)).rejects.toThrow("ENOSPC");
});
