/** The folder of a backup that an interrupted run has left: it is continued, or refused when it is not as that has noted. */
import { appendFile, mkdtemp, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ArchiveFolder, type Extent } from "../../src/cli/archive/archive-folder.ts";

const SLICE = { signature: "signature", text: "{}" };
const DAMAGED = /is damaged, by a failure of power or by another command/;

let directory: string;
let folder: ArchiveFolder;
let noted: Extent;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "atrium-folder-"));
  folder = new ArchiveFolder(directory);
  noted = await folder.append("rooms", SLICE, { slices: 0, bytes: 0 });
});
afterEach(() => rm(directory, { recursive: true, force: true }));

it("loses what was appended and not noted, the half of a slice included", async () => {
  await folder.append("rooms", SLICE, noted);
  await appendFile(folder.fileOf("rooms"), "signature {");
  await folder.cut("rooms", noted);
  expect(await readFile(folder.fileOf("rooms"), "utf8")).toBe("signature {}\n");
  await folder.describe("rooms", noted);
});

it("is refused when it has less than was noted, or more in the end", async () => {
  await appendFile(folder.fileOf("rooms"), "of another command");
  await expect(folder.describe("rooms", noted)).rejects.toThrow(DAMAGED);
  await truncate(folder.fileOf("rooms"), 3);
  await expect(folder.cut("rooms", noted)).rejects.toThrow(DAMAGED);
  await rm(folder.fileOf("rooms"));
  await expect(folder.cut("rooms", noted)).rejects.toThrow(DAMAGED);
});

it("is refused when what was noted cannot be read", async () => {
  await folder.writeProgress({ part: 1 });
  expect(await folder.readProgress()).toEqual({ part: 1 });
  await writeFile(path.join(directory, "progress.json"), "{");
  await expect(folder.readProgress()).rejects.toThrow(DAMAGED);
});

it("returns slices as they were appended, whatever line separators their text has", async () => {
  const hostile = ["\u2028", "a\u2029b", "\u0085\u000b\u000c", "\ud83d\ude00".repeat(600_000), "\\n \\r"];
  const slices = [SLICE, ...hostile.map((text) => ({ signature: "signature", text: `{"text":"${text}"}` }))];
  let extent = noted;
  for (const slice of slices.slice(1)) extent = await folder.append("rooms", slice, extent);
  const read = [];
  for await (const slice of folder.slices("rooms")) read.push(slice);
  expect(read).toEqual(slices);
});
