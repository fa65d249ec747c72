/** The download size of the dashboard. */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { bundleDashboard } from "../../src/cli/bundle/dashboard-bundle.ts";

const LIMIT_BYTES = 250 * 1024;

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

const isEditor = (name: string): boolean => /^assets\/code-editor-/.test(name);

it("is under 250 KiB gzipped without the code editor", () => {
  const others = [...sizes].filter(([name]) => !isEditor(name)).map(([, size]) => size);
  expect(others.reduce((sum, size) => sum + size, 0)).toBeLessThan(LIMIT_BYTES);
});

it("loads the code editor on demand", async () => {
  expect([...sizes.keys()].filter(isEditor)).toHaveLength(1);
  const page = await readFile(path.join(outdir, "dashboard/index.html"), "utf8");
  expect(page).not.toContain("code-editor");
});

it("has no inline scripts or styles", async () => {
  const page = await readFile(path.join(outdir, "dashboard/index.html"), "utf8");
  expect(page).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\son\w+=/);
});
