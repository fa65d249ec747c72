/** The download size of the dashboard. */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { bundleDashboard } from "../../src/cli/bundle/dashboard-bundle.ts";

const FIRST_LOAD_LIMIT_BYTES = 175 * 1024;
/** Of all pages together, without what they load on demand. */
const PAGES_LIMIT_BYTES = 300 * 1024;
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

const PAGES = [
  ...["overview-page", "rooms-page", "room-page", "files-page", "webhooks-page", "webhook-page"],
  ...["workflows-page", "workflow-page", "logs-page", "settings-page"],
];
/** What pages load on demand: the code editor, the palette, and Yjs, which reads documents. */
const ON_DEMAND = ["code-editor", "finder", "read-document", "watch-document", "document-part"];

const readPage = () => readFile(path.join(outdir, "dashboard/index.html"), "utf8");

it("loads no page, and nothing that a page loads on demand, before it is opened", async () => {
  const html = await readPage();
  for (const part of [...PAGES, ...ON_DEMAND]) {
    expect([part, sizeOf(part)]).not.toEqual([part, 0]);
    expect(html).not.toContain(`/${part}-`);
  }
  const first = [...sizes].filter(([name]) => name === "index.html" || html.includes(name));
  expect(first.length).toBeGreaterThan(2);
  expect(first.reduce((sum, [, size]) => sum + size, 0)).toBeLessThan(FIRST_LOAD_LIMIT_BYTES);
});

it("stays small on all pages together", () => {
  const onDemand = ON_DEMAND.reduce((sum, part) => sum + sizeOf(part), 0);
  const all = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  expect(all - onDemand).toBeLessThan(PAGES_LIMIT_BYTES);
  expect(sizeOf("read-document")).toBeLessThan(YJS_LIMIT_BYTES);
});

it("has no inline scripts or styles", async () => {
  expect(await readPage()).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\son\w+=/);
});
