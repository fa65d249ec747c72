/** The README's five-minute tour, executed as it is printed. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type SharedService, useSharedService } from "../cli/shared-service.ts";
import { readDocument } from "../docs/markdown.ts";
import { expectedOf, readTour, runTour } from "../docs/tour.ts";

let service: SharedService;
let directory: string;

beforeAll(async () => {
  service = await useSharedService();
  directory = await mkdtemp(path.join(tmpdir(), "atrium-tour-"));
});
afterAll(() => rm(directory, { recursive: true }));

it("the commands of the README's tour print what it says", async () => {
  const steps = readTour(await readDocument("README.md"));
  expect(steps.length).toBeGreaterThanOrEqual(5);
  // A person reads the response to JOIN_ROOM before going on.
  const adapt = (script: string) =>
    script.replace("& ADA=$!", "> joined & ADA=$!\nuntil [ -s joined ]; do :; done");
  expect(await runTour(steps, service, directory, adapt, false)).toEqual(expectedOf(steps));
  const joined = JSON.parse((await readFile(path.join(directory, "joined"), "utf8")).split("\n")[0] ?? "");
  expect(joined).toMatchObject({
    type: "response",
    success: true,
    data: { user: { name: "Ada", status: "online" } },
  });
});
