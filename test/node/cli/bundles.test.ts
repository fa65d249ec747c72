/** The bundles of the pages are complete, even when several processes make them at the same time. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the programs here hold templates.
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { parseTarGzip } from "nanotar";
import { afterAll, describe, expect, it } from "vitest";
import { withBundleLock } from "../../../src/cli/bundle/served-files.ts";
import { DEV_WARNING } from "../../../src/cli/service/development.ts";
import { copyCheckout, linkOwnPackages } from "./checkout.ts";
import { runCompiled } from "./compiled.ts";
import { findFreePort, ROOT, run, runCli } from "./processes.ts";
import { sharedService } from "./shared-service.ts";

const checkout = await copyCheckout();
const index = checkout.at("src/index.ts");
// A time that a test can restore, so that the file counts as unchanged.
await utimes(index, 1, 1);

afterAll(() => checkout.remove());

it("several processes that bundle at once leave every file that the dashboard's page loads", async () => {
  const script = checkout.at("src/cli/bundle/custom-build.ts");
  // The bundler names files by their content, which depends on NODE_ENV: two builders may name them differently.
  const bundle = (NODE_ENV: string) =>
    run(process.execPath, [script], { cwd: checkout.root, timeoutMs: 200_000, env: { NODE_ENV } });
  const finished = await Promise.all([bundle("test"), bundle("production"), bundle("test")]);
  expect(finished.map(({ exitCode, stderr }) => ({ exitCode, stderr }))).toEqual(
    finished.map(() => ({ exitCode: 0, stderr: "" })),
  );
  const page = await readFile(checkout.at(".wrangler/public/dashboard/index.html"), "utf8");
  const loaded = [...page.matchAll(/(?:src|href)="\/assets\/dashboard\/([^"]+)"/g)].map(([, name]) => name);
  expect(loaded.length).toBeGreaterThan(2);
  expect(await readdir(checkout.at(".wrangler/public/assets/dashboard"))).toEqual(
    expect.arrayContaining(loaded),
  );
});

it.each([
  ["dev", DEV_WARNING],
  ["deploy", ""],
])(
  "the build of wrangler %s says that it has no processes for programs, if it runs any",
  async (command, said) => {
    const env = { WRANGLER_COMMAND: command };
    const script = checkout.at("src/cli/bundle/custom-build.ts");
    const { exitCode, stderr } = await run(process.execPath, [script], {
      cwd: checkout.root,
      timeoutMs: 200_000,
      env,
    });
    expect({ exitCode, stderr: stderr.trim() }).toEqual({ exitCode: 0, stderr: said });
  },
);

it("a start is refused with the reason when the Worker does not compile", async () => {
  const { size } = await stat(index);
  await writeFile(index, "oops(".padEnd(size));
  await utimes(index, 1, 1); // the pages count as current
  const flags = ["--port", String(await findFreePort()), "--persist-to", checkout.at("state")];
  const { exitCode, stderr } = await runCli("start.ts", flags, checkout.root);
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/^wrangler failed: .*Unexpected end of file.*\n$/);
});

it("the package is that of the present sources, also after an edit that is undone", async () => {
  await linkOwnPackages(checkout);
  const tarballs = checkout.at("src/cli/package/tarball.ts");
  const { packageService }: typeof import("../../../src/cli/package/tarball.ts") = await import(tarballs);
  const { signal } = new AbortController();
  const readme = async (serve: () => Promise<Response>) => {
    const files = await parseTarGzip(await (await serve()).arrayBuffer());
    return files.find(({ name }) => name === "package/README.md")?.text;
  };
  const file = checkout.at("packages/sdk/README.md");
  const text = await readFile(file, "utf8");
  await utimes(file, 1, 1);
  const serve = packageService(signal);
  const folder = checkout.at(".wrangler/package");
  const { stdout: ended } = await run(process.execPath, ["-p", "process.pid"]);
  for (const pid of [ended.trim(), process.ppid])
    await mkdir(path.join(folder, `draft-${pid}`), { recursive: true });
  await writeFile(path.join(folder, `draft-${ended.trim()}.tgz`), "cut off");
  await writeFile(file, "edited");
  expect(await readme(serve)).toBe("edited");
  await writeFile(file, text);
  await utimes(file, 1, 1);
  expect(await readme(serve)).toBe(text);
  expect(await readme(packageService(signal))).toBe(text); // after a restart
  const left = await readdir(folder);
  expect(left).toHaveLength(2);
  expect(left).toContain(`draft-${process.ppid}`); // a living process may be building it
  expect(left).toContainEqual(expect.stringMatching(/^[0-9a-f]{16}\.tgz$/));
});

it("one bundles at a time, and the lock is released when bundling fails", async () => {
  let active = 0;
  let most = 0;
  const bundle = async () => {
    active += 1;
    most = Math.max(most, active);
    await turn();
    active -= 1;
    throw new Error("The bundle failed");
  };
  const results = await Promise.allSettled([1, 2, 3].map(() => withBundleLock(bundle)));
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  expect(most).toBe(1);
});

// Compiled programs throw errors with the lines of their source, and import nothing.

describe("a compiled program", () => {
  it("throws errors with the lines of its source", async () => {
    const source = [
      "type A = {",
      "  a: number;",
      "};",
      "const Color = { Red: 0, Green: 1 } satisfies",
      "  Record<string, number>;",
      "export default (event: A) => {",
      "  const f = (): never => {",
      "    for (const a of [1, 2]) {",
      "      if (a === Color.Green + 1) throw new Error(`${a}`);",
      "    }",
      "    return undefined as never;",
      "  };",
      "  return f();",
      "};",
    ];
    for (const lineBreak of ["\n", "\r\n"]) {
      expect(await runCompiled(source.join(lineBreak))).toMatchObject({ result: "Error: 2", line: 9 });
    }
  });

  it("cannot import anything, however the name is computed", async () => {
    const source = `export default async (event) => {
      const tried = [];
      for (const load of [() => import(event), () => import((0, event), {}), async () => { await import(/* ( */ event) }]) {
        try { await load() } catch (error) { tried.push(String(error)) }
      }
      return [tried, typeof import.meta, import.meta.url ?? null];
    }`;
    const message =
      'TypeError: Cannot find module "node:fs": a workflow is one module and can import nothing';
    const { result } = await runCompiled(source, "node:fs");
    expect(JSON.parse(result)).toEqual([[message, message, message], "object", null]);
  });
});

// The running service's OpenAPI description passes a linter without problems.

const LINTER = path.join(ROOT, "node_modules/@redocly/cli/bin/cli.js");

/** The linter's recommended rules, except those that contradict the API's contract. */
const CONFIG = `
extends: [recommended]
rules:
  # The contract has both /rooms/custom/{customId} and /rooms/{roomId}/socket, and the same for users; IDs are UUIDs,
  # so none is "custom".
  no-ambiguous-paths: off
  # A WebSocket upgrade succeeds with 101; that every operation lists its successes is tested beside the endpoints.
  operation-2xx-response: off
  info-contact: warn
`;

/** No update checks and no telemetry: the linter stays off the network. */
const OFFLINE = { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };

const directory = await mkdtemp(path.join(tmpdir(), "atrium-openapi-"));
const service = await sharedService();

afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

/** Lints a document and returns the problems, from the linter's JSON output. */
async function lint(document: string): Promise<{ totals: Record<string, number>; problems: unknown[] }> {
  const file = path.join(directory, "openapi.json");
  const config = path.join(directory, "redocly.yaml");
  await writeFile(file, document);
  await writeFile(config, CONFIG);
  const args = [LINTER, "lint", file, "--config", config, "--format", "json"];
  const { stdout, stderr } = await run(process.execPath, args, { cwd: directory, env: OFFLINE });
  if (!stdout.startsWith("{")) throw new Error(stderr);
  return JSON.parse(stdout);
}

it("the OpenAPI description passes every recommended rule", async () => {
  const response = await fetch(`${service.url}/v1/openapi.json`);
  expect(response.status).toBe(200);
  const { totals, problems } = await lint(await response.text());
  expect(problems).toEqual([]);
  expect(totals).toMatchObject({ errors: 0, warnings: 0 });
});

it("the rules find problems in an incomplete description", async () => {
  const { totals } = await lint(JSON.stringify({ openapi: "3.1.1", info: { title: "Empty" }, paths: {} }));
  expect(totals.errors).toBeGreaterThan(0);
});
