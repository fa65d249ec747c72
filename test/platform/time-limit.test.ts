/** Work that fails or hangs costs the work beside it nothing. */
import { expect, it } from "vitest";
import { runTasks } from "../../src/platform/flow/concurrency.ts";

const HANGS = () => new Promise<never>(() => {});

it("tasks that fail or hang keep no other from its end, and are all named in the error", async () => {
  const ended: string[] = [];
  const end = async () => void ended.push("ended");
  const fail = async () => Promise.reject(new Error("It failed"));
  await runTasks({ end }, 60_000);
  await expect(runTasks({ fail, end }, 60_000)).rejects.toThrow(/^It failed$/);
  const both = runTasks({ hangs: HANGS, fail, end }, 20);
  await expect(both).rejects.toThrow("Error: It failed; Error: The task hangs did not end in time");
  expect(ended).toEqual(["ended", "ended", "ended"]);
});
