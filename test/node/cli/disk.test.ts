/** The disk of the service's state: warnings before it is full. */
import { tmpdir } from "node:os";
import { expect, it, vi } from "vitest";
import { diskService, findDiskProblem, watchDisk } from "../../../src/cli/service/disk.ts";

const MEBIBYTE = 1024 * 1024;
const free = (mebibytes: number) => async () => ({ bavail: mebibytes * 256, bsize: MEBIBYTE / 256 });

it("a disk with less than 200 MiB is a problem, named with its remedy", async () => {
  expect(await findDiskProblem("state", free(200))).toBeNull();
  const problem = await findDiskProblem("state", free(199.5));
  expect(problem).toMatch(/^Only 199 MiB are free .* Free some space, or move the state to a larger disk/);
  expect(await (await diskService("state", free(0))()).text()).toMatch(/^Only 0 MiB are free/);
  expect(await (await diskService("state", free(1e6))()).text()).toBe("");
  expect(await findDiskProblem(tmpdir(), undefined)).toSatisfy(
    (text: string | null) => text === null || text.startsWith("Only "),
  );
});

it("the log says once that the disk runs low, once that there is space again, and once that it cannot be read", async () => {
  const readings = [300, 150, 10, 0, 250, 100];
  const lines: string[] = [];
  const stopping = new AbortController();
  const read = async () => {
    const next = readings.shift();
    if (next === undefined) throw new Error("no such folder");
    return free(next)();
  };
  watchDisk("/data", (line) => lines.push(line), stopping.signal, { read, everyMs: 0 });
  await vi.waitFor(() => expect([readings, lines.length]).toEqual([[], 3]));
  stopping.abort();
  expect(lines).toEqual([
    expect.stringMatching(/^Only 150 MiB .* The folder is \/data\.$/),
    "The disk of /data has enough space again.",
    expect.stringMatching(/^Only 100 MiB/),
  ]);
});
