/** The download size of the dashboard. */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { bundleDashboard } from "../../src/cli/bundle/dashboard-bundle.ts";

const LIMIT_BYTES = 250 * 1024;
const YJS_LIMIT_BYTES = 40 * 1024;

let outdir: string;
/** Bytes by name, gzipped. */
const sizes = new Map<string, number>();

beforeAll(async () => {
  outdir = await mkdtemp(path.join(tmpdir(), "atrium-dashboard-"));
  await bundleDashboard({ outdir });
  const directory = path.join(outdir, "dashboard");
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = path.join(entry.parentPath, entry.name);
    sizes.set(path.relative(directory, file), gzipSync(await readFile(file)).length);
  }
});
afterAll(() => rm(outdir, { recursive: true, force: true }));

/** What pages load on demand, by the start of its name. */
const sizeOf = (part: string): number =>
  [...sizes].filter(([name]) => name.startsWith(`assets/${part}-`)).reduce((sum, [, size]) => sum + size, 0);

/** Beside the code editor, Yjs, which reads documents, and the pages that use them, is loaded on demand. */
const ON_DEMAND = ["code-editor", "read-document", "watch-document", "document-part", "workflow-page"];

it("is under 250 KiB gzipped without what it loads on demand", () => {
  const onDemand = ON_DEMAND.reduce((sum, part) => sum + sizeOf(part), 0);
  const all = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  expect(all - onDemand).toBeLessThan(LIMIT_BYTES);
});

it("loads the code editor, and what reads documents, on demand", async () => {
  const page = await readFile(path.join(outdir, "dashboard/index.html"), "utf8");
  for (const part of ON_DEMAND) {
    expect([part, sizeOf(part)]).not.toEqual([part, 0]);
    expect(page).not.toContain(part);
  }
  expect(sizeOf("read-document")).toBeLessThan(YJS_LIMIT_BYTES);
});

it("has no inline scripts or styles", async () => {
  const page = await readFile(path.join(outdir, "dashboard/index.html"), "utf8");
  expect(page).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\son\w+=/);
});
