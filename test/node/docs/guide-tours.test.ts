/** The shell tours of the guides, executed as they are printed, against a running service. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { sharedService } from "../cli/shared-service.ts";
import { listDocuments, readDocument } from "./markdown.ts";
import { expectedOf, readTour, runTour, type Step } from "./tour.ts";

/** The guide whose first two steps set the variables that all guides use. */
const VARIABLES_GUIDE = "docs/guides/rest-api.md";

const read = async (file: string): Promise<Step[]> => readTour(await readDocument(file));
const variables = (await read(VARIABLES_GUIDE)).slice(0, 2);

const pages = (await listDocuments()).filter((file) => file.startsWith("docs/"));
const tours = await Promise.all(pages.map(async (file) => ({ file, steps: await read(file) })));
const guides = tours.filter(({ steps }) => steps.length > 0);

const service = await sharedService();
const directory = await mkdtemp(path.join(tmpdir(), "atrium-guides-"));

afterAll(() => rm(directory, { recursive: true }));

describe("the tour of", () => {
  it.each(guides)("$file ends as it says", async ({ file, steps }) => {
    const all = file === VARIABLES_GUIDE ? steps : [...variables, ...steps];
    const own = await mkdtemp(path.join(directory, "tour-"));
    expect(await runTour(all, service, own)).toEqual(expectedOf(all));
  });
});
