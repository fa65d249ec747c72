/** The upgrade of a copy that has none of the repository's history, as the Deploy button makes it, from a local repository. */
import { execFileSync, spawnSync } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeEach, expect, it } from "vitest";
import { ROOT } from "./processes.ts";

const SCRIPT = ".ci/upgrade";
const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

const IDENTITY = {
  GIT_AUTHOR_NAME: "Atrium",
  GIT_AUTHOR_EMAIL: "atrium@example.com",
  GIT_COMMITTER_NAME: "Atrium",
  GIT_COMMITTER_EMAIL: "atrium@example.com",
};
const git = (cwd: string, ...args: string[]): string =>
  execFileSync("git", args, { cwd, encoding: "utf8", env: { ...process.env, ...IDENTITY } }).trim();

type Files = Readonly<Record<string, string>>;

async function commit(folder: string, files: Files, subject: string): Promise<void> {
  for (const [file, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), text);
  }
  git(folder, "add", "--all");
  git(folder, "commit", "--quiet", "--message", subject);
}

async function repository(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "atrium-upgrade-"));
  folders.push(folder);
  git(folder, "init", "--quiet", "--initial-branch", "main");
  await mkdir(path.join(folder, ".ci"));
  await copyFile(path.join(ROOT, SCRIPT), path.join(folder, SCRIPT));
  return folder;
}

const manifest = (version: string) =>
  `{\n  "name": "atrium-service",\n  "version": "${version}",\n  "private": true\n}\n`;
const config = (name: string, crons: string) =>
  `name = "${name}"\nmain = "index.ts"\n# 1\n# 2\n# 3\n# 4\ntriggers.crons = ["${crons}"]\n`;
const FIRST: Files = {
  "package.json": manifest("0.1.0"),
  "wrangler.toml": config("atrium", "* * * * *"),
  "src/gone.ts": "gone\n",
  ".github/workflows/ci.yml": "name: CI\n",
};

let source = "";
let copy = "";

beforeEach(async () => {
  [source, copy] = [await repository(), await repository()];
  await commit(source, FIRST, "The first version");
  git(source, "tag", "v0.1.0");
  await rm(path.join(source, "src/gone.ts"));
  const second = {
    "package.json": manifest("0.2.0"),
    "wrangler.toml": config("atrium", "*/2 * * * *"),
    "src/new.ts": "new\n",
    "src/new.bin": "\0\u0001",
    ".github/workflows/ci.yml": "name: Other\n",
  };
  await commit(source, second, "The second version");
  git(source, "tag", "--annotate", "v0.2.0", "--message", "0.2.0");
  await commit(source, { "package.json": manifest("0.10.0") }, "The tenth version");
  git(source, "tag", "v0.10.0");
  git(source, "tag", "v0.11.0-beta.1");
  // What the button changes: the names, and there is no history.
  await commit(copy, { ...FIRST, "wrangler.toml": config("rooms", "* * * * *") }, "Initial commit");
});

function upgrade(tag: string): { readonly status: number | null; readonly output: string } {
  const env = { ...process.env, ...IDENTITY, ATRIUM_SOURCE: source };
  const { status, stdout, stderr } = spawnSync("bash", [SCRIPT, tag], { cwd: copy, encoding: "utf8", env });
  return { status, output: status === 0 ? stdout : stderr };
}

const inCopy = (file: string) => readFile(path.join(copy, file), "utf8");

it("merges a tag, and keeps what the copy has changed; its workflows stay, which may not change themselves", async () => {
  expect(upgrade("v0.2.0")).toEqual({ status: 0, output: "Upgraded from v0.1.0 to v0.2.0.\n" });
  expect(await inCopy("wrangler.toml")).toBe(config("rooms", "*/2 * * * *"));
  expect(await inCopy("package.json")).toBe(manifest("0.2.0"));
  expect([await inCopy("src/new.ts"), await inCopy("src/new.bin")]).toEqual(["new\n", "\0\u0001"]);
  await expect(inCopy("src/gone.ts")).rejects.toMatchObject({ code: "ENOENT" });
  expect(await inCopy(".github/workflows/ci.yml")).toBe("name: CI\n");
  expect(git(copy, "status", "--porcelain")).toBe("");
  expect(git(copy, "log", "--format=%s")).toBe("Upgrade from v0.1.0 to v0.2.0\nInitial commit");
});

it("goes on to the latest release by default, which is no preview, and then has nothing to do", async () => {
  expect(upgrade("v0.2.0").status).toBe(0);
  expect(upgrade("").output).toBe("Upgraded from v0.2.0 to v0.10.0.\n");
  const before = git(copy, "rev-parse", "HEAD");
  for (const tag of ["", "v0.2.0"]) {
    const { status, output } = upgrade(tag);
    expect([status, output]).toEqual([0, expect.stringContaining("This copy is at v0.10.0.")]);
  }
  expect(git(copy, "rev-parse", "HEAD")).toBe(before);
});

it("changes nothing, and names the file, where both changed the same lines, and without such a release", async () => {
  await commit(copy, { "wrangler.toml": config("rooms", "0 * * * *") }, "Another schedule");
  const before = git(copy, "rev-parse", "HEAD");
  const { status, output } = upgrade("v0.2.0");
  expect([status, output]).toEqual([
    1,
    expect.stringMatching(/Take back the copy's changes of: wrangler\.toml\n$/),
  ]);
  const missing = upgrade("v9.0.0");
  expect([missing.status, missing.output]).toEqual([128, expect.stringContaining("v9.0.0")]);
  expect([git(copy, "rev-parse", "HEAD"), git(copy, "status", "--porcelain")]).toEqual([before, ""]);
});
