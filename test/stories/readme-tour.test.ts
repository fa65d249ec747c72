/** The README's five-minute tour, executed as it is printed. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readDocument } from "../docs/markdown.ts";
import { expectedOf, readTour, saidBy, scriptOf } from "../docs/tour.ts";
import { ROOT, run } from "../node/processes.ts";
import { type SharedService, useSharedService } from "../node/shared-service.ts";

let service: SharedService;
let directory: string;

beforeAll(async () => {
  service = await useSharedService();
  directory = await mkdtemp(path.join(tmpdir(), "atrium-tour-"));
});
afterAll(() => rm(directory, { recursive: true }));

it("the README's tour ends as it says", async () => {
  const steps = readTour(await readDocument("README.md"));
  expect(steps.length).toBeGreaterThanOrEqual(5);
  const script = scriptOf(steps)
    // A person reads the response to JOIN_ROOM before going on.
    .replace("& ADA=$!", "> joined & ADA=$!\nuntil [ -s joined ]; do :; done")
    .replaceAll("localhost:8787", `localhost:${service.port}`)
    .replace("PATH=$PWD", `PATH=${ROOT}`);
  const { accountId, apiKey } = service;
  const { exitCode, stdout, stderr } = await run("bash", ["-euc", script], {
    cwd: directory,
    env: { ACCOUNT_ID: accountId, API_KEY: apiKey },
  });
  expect(stderr).toBe("");
  expect([exitCode, saidBy(stdout)]).toEqual([0, expectedOf(steps)]);
  const joined = JSON.parse((await readFile(path.join(directory, "joined"), "utf8")).split("\n")[0] ?? "");
  expect(joined).toMatchObject({
    type: "response",
    success: true,
    data: { user: { name: "Ada", status: "online" } },
  });
});
