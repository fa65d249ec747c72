/** What `npm run deploy` finds out about an account before it creates anything, against a stand-in for Cloudflare's API. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { parse } from "smol-toml";
import { afterEach, expect, it, vi } from "vitest";
import type { Unstable_RawConfig as Config } from "wrangler";
import { checkAccount } from "../../../src/cli/deployment-checks.ts";
import { mergeConfig, readSettings } from "../../../src/cli/deployment-config.ts";
import { CommandError } from "../../../src/cli/process/command.ts";
import { Steps } from "../../../src/cli/process/steps.ts";
import type { Wrangler } from "../../../src/cli/process/wrangler.ts";
import { ACCOUNT, type Circumstances, CloudflareAccount, serveAccount } from "../deploy/cloudflare-api.ts";
import { ROOT } from "./processes.ts";

const tracked = parse(await readFile(path.join(ROOT, "wrangler.toml"), "utf8")) as Config;

const cleanUps: (() => void)[] = [];
afterEach(() => {
  vi.unstubAllEnvs();
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});

/** The credentials of `wrangler auth token`. */
const signedIn =
  (token: string = ACCOUNT.token): Wrangler =>
  async () =>
    JSON.stringify({ type: "api_token", token });

/** Checks an account, and returns the printed lines, the chosen settings, and the error in place of them. */
async function check(
  circumstances: Circumstances | CloudflareAccount = {},
  toml = "",
  wrangler: Wrangler = signedIn(),
) {
  const account =
    circumstances instanceof CloudflareAccount ? circumstances : new CloudflareAccount(circumstances);
  const { url, stop } = await serveAccount(account);
  cleanUps.push(stop);
  vi.stubEnv("CLOUDFLARE_API_BASE_URL", url);
  let output = "";
  const { signal } = new AbortController();
  const steps = new Steps(signal, {
    write: (text: string | Uint8Array) => {
      output += text;
      return true;
    },
  });
  const config = mergeConfig(tracked, readSettings(toml, {}));
  const before = account.isUntouched;
  const result = await checkAccount(wrangler, config, steps, signal).catch((error: unknown) => {
    if (!(error instanceof CommandError)) throw error;
    return error.message;
  });
  expect(account.isUntouched).toBe(before);
  expect(account.unknown).toEqual([]);
  return { output, result };
}

const dashboard = `https://dash.cloudflare.com/${ACCOUNT.id}`;
const REFUSED = "One check has failed (✗), so nothing was created. Run npm run deploy again afterwards.";

it("a new account that has all passes, with a line for each check", async () => {
  const { output, result } = await check();
  expect(result).toEqual({ accountId: ACCOUNT.id, settings: {} });
  expect(output).toBe(`  ✓ Signed in to the account Example (${ACCOUNT.id})
  ✓ The Worker atrium is new
  ✓ D1 is ready for atrium
  ✓ R2 is ready for atrium-files
  ✓ workers.dev: https://atrium.example.workers.dev
  ✓ The plan is paid
`);
});

it.each([
  [
    "R2 is off",
    { r2: 10_042 },
    "",
    'R2 is not enabled in this account: enable it there once, or set FILES = "off" in atrium.toml to do without files.',
    `${dashboard}/r2/overview`,
  ],
  [
    "R2 is off for tokens",
    { r2: 10_136 },
    "",
    "R2 is not enabled in this account",
    `${dashboard}/r2/overview`,
  ],
  [
    "the token lacks Workers",
    { closed: ["workers"] },
    'WORKERS_DEV = "off"\nDOMAIN = "rooms.example"',
    'The Worker is closed to this sign-in: give the token the permission "Workers Scripts Write", or run npx wrangler login again.',
    "https://dash.cloudflare.com/profile/api-tokens",
  ],
  [
    "the token lacks D1",
    { closed: ["d1"] },
    "",
    'D1 is closed to this sign-in: give the token the permission "D1 Write"',
    "https://dash.cloudflare.com/profile/api-tokens",
  ],
  [
    "the token lacks R2",
    { closed: ["r2"] },
    "",
    'R2 is closed to this sign-in: give the token the permission "Workers R2 Storage Write"',
    "https://dash.cloudflare.com/profile/api-tokens",
  ],
  [
    "there is no subdomain of workers.dev",
    { hasSubdomain: false },
    "",
    'The account has no subdomain of workers.dev yet: choose one, or set DOMAIN in atrium.toml to one of your own, and WORKERS_DEV = "off".',
    `${dashboard}/workers/onboarding`,
  ],
  [
    "another Worker has the name",
    { worker: [{ type: "kv_namespace", name: "CACHE" }] },
    "",
    "Another program is the Worker atrium: set NAME in atrium.toml to a name that is free.",
    `${dashboard}/workers/services/view/atrium`,
  ],
  [
    "the free plan runs no Worker Loader",
    { plan: "free" },
    'WORKFLOWS = "worker-loader"',
    'WORKFLOWS = "worker-loader" needs the paid plan of Workers: choose it, or remove the setting from atrium.toml.',
    `${dashboard}/workers/plans`,
  ],
  [
    "the free plan has no dispatch namespace",
    { plan: "free" },
    'WORKFLOWS = "dispatch-namespace"',
    'WORKFLOWS = "dispatch-namespace" needs Workers for Platforms: buy it, or remove the setting from atrium.toml.',
    `${dashboard}/workers-for-platforms`,
  ],
  [
    "the dispatch namespace is missing",
    { hasWorkersForPlatforms: true },
    'WORKFLOWS = "dispatch-namespace"',
    "The dispatch namespace atrium-workflows is missing: create it with npx wrangler dispatch-namespace create atrium-workflows.",
    `${dashboard}/workers-for-platforms`,
  ],
  [
    "the plan is not the one of the setting",
    { plan: "free" },
    'PLAN = "paid"',
    'PLAN is "paid" in atrium.toml, but the account has the free plan: remove the setting.',
    `${dashboard}/workers/plans`,
  ],
  [
    "the sign-in has several accounts",
    {
      accounts: [
        { id: ACCOUNT.id, name: "Example" },
        { id: "f".repeat(32), name: "Another" },
      ],
    },
    "",
    `This sign-in has several accounts: set CLOUDFLARE_ACCOUNT_ID in atrium.toml to the ID of the right one.
      ${ACCOUNT.id}  Example
      ${"f".repeat(32)}  Another`,
    "https://developers.cloudflare.com/fundamentals/account/find-account-and-zone-ids/",
  ],
  [
    "the account is another one's",
    {},
    `CLOUDFLARE_ACCOUNT_ID = "${"f".repeat(32)}"`,
    `This sign-in has no account ${"f".repeat(32)}: set CLOUDFLARE_ACCOUNT_ID in atrium.toml`,
    "https://developers.cloudflare.com/fundamentals/account/find-account-and-zone-ids/",
  ],
  [
    "the token may not list accounts",
    { accounts: [] },
    "",
    "This sign-in lists no account: set CLOUDFLARE_ACCOUNT_ID in atrium.toml",
    "https://developers.cloudflare.com/fundamentals/account/find-account-and-zone-ids/",
  ],
] satisfies [string, Circumstances, string, string, string][])(
  "refuses when %s, in one sentence with a link",
  async (_case, circumstances, toml, sentence, link) => {
    const { output, result } = await check(circumstances, toml);
    expect(result).toBe(REFUSED);
    expect(output).toContain(`  ✗ ${sentence}`);
    expect(output).toContain(`    ${link}\n`);
    expect(output.match(/✗/g)).toHaveLength(1);
  },
);

it("all failures are shown at once", async () => {
  const circumstances: Circumstances = { r2: 10_042, hasSubdomain: false, closed: ["billing"] };
  const { output, result } = await check({ ...circumstances, worker: [{ type: "plain_text", name: "A" }] });
  expect(result).toBe(
    "3 checks have failed (✗), so nothing was created. Run npm run deploy again afterwards.",
  );
  expect(output.match(/^ {2}[✓✗?]/gm)).toEqual(["  ✓", "  ✗", "  ✓", "  ✗", "  ✗", "  ?"]);
});

it("is refused without a sign-in, and with one that Cloudflare does not know", async () => {
  const noSignIn: Wrangler = async () => {
    throw new CommandError("wrangler failed: Not logged in. Please run `wrangler login` to authenticate.");
  };
  const link = "    https://dash.cloudflare.com/profile/api-tokens\n";
  expect((await check({}, "", noSignIn)).output).toBe(
    `  ✗ You are not signed in to Cloudflare: run npx wrangler login; in CI, set CLOUDFLARE_API_TOKEN.\n${link}`,
  );
  expect((await check({}, "", signedIn("another"))).output).toBe(
    `  ✗ Cloudflare refuses this sign-in (Invalid access token): run npx wrangler login again; in CI, replace CLOUDFLARE_API_TOKEN.\n${link}`,
  );
});

it("a token that may not list accounts passes with the account's ID", async () => {
  vi.stubEnv("CLOUDFLARE_ACCOUNT_ID", ACCOUNT.id);
  const { result } = await check({ accounts: [] });
  expect(result).toEqual({ accountId: ACCOUNT.id, settings: {} });
});

it("the free plan chooses its setting, and a plan that may not be read is no obstacle", async () => {
  expect((await check({ plan: "free" })).result).toMatchObject({ settings: { PLAN: "free" } });
  const unread = await check({ plan: "free", closed: ["billing"] });
  expect(unread.output).toContain("  ? This sign-in may not read the plan, which counts as paid: ");
  expect(unread.result).toMatchObject({ settings: {} });
  const set = await check({ plan: "free", closed: ["billing"] }, 'PLAN = "free"');
  expect(set.output).toContain("  ✓ The plan is free, as PLAN in atrium.toml says\n");
});

it("the namespace's account is that of the deployment, unless the settings name another one", async () => {
  const circumstances = { hasWorkersForPlatforms: true, namespaces: ["atrium-workflows"] };
  const toml = 'WORKFLOWS = "dispatch-namespace"';
  const { result } = await check(circumstances, toml);
  expect(result).toMatchObject({ settings: { WORKFLOWS_CF_ACCOUNT_ID: ACCOUNT.id } });
  const other = await check(circumstances, `${toml}\nWORKFLOWS_CF_ACCOUNT_ID = "${"f".repeat(32)}"`);
  expect(other.result).toEqual({ accountId: ACCOUNT.id, settings: {} });
});

it("R2 is not asked for without files", async () => {
  const { output, result } = await check({ r2: 10_042, closed: ["r2"] }, 'FILES = "off"');
  expect(result).toMatchObject({ accountId: ACCOUNT.id });
  expect(output).toContain('  ✓ No files can be stored, because FILES is "off"\n');
});

it("a database or a bucket of another program is refused, and those of Atrium are kept", async () => {
  const taken = new CloudflareAccount();
  taken.addDatabase("atrium", "CREATE TABLE posts (id TEXT)");
  expect((await check(taken)).output).toContain(
    "  ✗ The database atrium has tables of another program: set NAME in atrium.toml to a name that is free.\n",
  );
  const alone = new CloudflareAccount();
  alone.buckets.add("atrium-files");
  expect((await check(alone)).output).toContain(
    "  ✗ The bucket atrium-files is there without a database of Atrium: ",
  );
  const ours = new CloudflareAccount({ worker: [{ type: "durable_object_namespace", name: "ROOMS" }] });
  ours.addDatabase("atrium", await readFile(path.join(ROOT, "migrations/0000_foundation.sql"), "utf8"));
  ours.buckets.add("atrium-files");
  const { output, result } = await check(ours);
  expect(result).toMatchObject({ accountId: ACCOUNT.id });
  expect(output).toContain(
    "  ✓ The Worker atrium is Atrium's, and is upgraded\n  ✓ D1: atrium\n  ✓ R2: atrium-files\n",
  );
});

it("a database that was created, but has no tables yet, is Atrium's", async () => {
  const begun = new CloudflareAccount();
  begun.addDatabase("atrium", "CREATE TABLE d1_migrations (id INTEGER)");
  expect((await check(begun)).result).toMatchObject({ accountId: ACCOUNT.id });
});

it.each([
  ["D1's 7403", 7_403, /^GET \/d1\//, "The given account is not valid"],
  ["D1's 10000", 10_000, /^GET \/d1\//, "Authentication error"],
  ["an answer of 503", 503, /^GET \/r2\//, "Service unavailable"],
  ["a broken connection", null, /^GET \/accounts/, "other side closed"],
])("%s is tried again, with a line for each time", async (_case, code, at, message) => {
  const account = new CloudflareAccount();
  account.troubles.push({ at, code, times: 2 });
  const { output, result } = await check(account);
  expect(result).toEqual({ accountId: ACCOUNT.id, settings: {} });
  expect(output.match(/: try (\d) of 4 …/g)).toEqual([": try 2 of 4 …", ": try 3 of 4 …"]);
  expect(output).toContain(message);
});

it("a product that goes on failing is no obstacle; without any answer, nothing is created", async () => {
  const failing = new CloudflareAccount();
  failing.troubles.push({ at: /^GET \/r2\//, code: 503, times: 9 });
  expect((await check(failing)).output).toContain("  ? R2 could not be checked: Service unavailable [503]\n");
  const silent = new CloudflareAccount();
  silent.troubles.push({ at: /./, code: null, times: 9 });
  expect((await check(silent)).result).toBe(
    "Cloudflare's API does not answer: other side closed. Nothing was created. Run npm run deploy again.",
  );
});

it("something else in the API's place is named as that, and no sign-in is blamed for it", async () => {
  const answers = [
    [200, "<html>Sign in to this network</html>", "Something else than Cloudflare's API answers"],
    [503, "<html>Busy</html>", "lists no accounts at the moment: HTTP 503"],
    [200, '{"success":true,"result":7}', "its answer is not as expected"],
  ] as const;
  for (const [status, body, sentence] of answers) {
    const server = createServer((_, response) => response.writeHead(status).end(body));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    cleanUps.push(() => server.close());
    vi.stubEnv("CLOUDFLARE_API_BASE_URL", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const steps = new Steps(new AbortController().signal, { write: () => true });
    const config = mergeConfig(tracked, readSettings("", {}));
    const checking = checkAccount(signedIn(), config, steps, new AbortController().signal);
    await expect(checking).rejects.toThrow(sentence);
    await expect(checking).rejects.toThrow(CommandError);
  }
  const noisy: Wrangler = async () => `debug: reading\n{"type":"api_token","token":"t"}`;
  expect((await check({}, "", noisy)).output).toContain("take WRANGLER_LOG out");
});
