/** The bundles of the pages are complete, even when several processes make them at the same time. */
import { readdir, readFile } from "node:fs/promises";
import { setImmediate as turn } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { withBundleLock } from "../../src/cli/bundle/served-files.ts";
import { DEV_WARNING } from "../../src/cli/service/pool/without-pool.ts";
import { type Checkout, copyCheckout } from "./checkout.ts";
import { run } from "./processes.ts";

let checkout: Checkout;
beforeAll(async () => {
  checkout = await copyCheckout();
});
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
  const loaded = [...page.matchAll(/(?:src|href)="\/dashboard\/assets\/([^"]+)"/g)].map(([, name]) => name);
  expect(loaded.length).toBeGreaterThan(2);
  expect(await readdir(checkout.at(".wrangler/public/dashboard/assets"))).toEqual(
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
