/**
 * `npm run deploy` in a clone, against a stand-in for Cloudflare's API: dry, the first time, again, and after `git pull`
 * with settings; for accounts that lack something; and after an error. By hand: `node test/node/deploy/run.ts`.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { copyFile, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setupHashOf } from "../../../src/features/people/links.ts";
import { copyCheckout } from "../cli/checkout.ts";
import { ROOT } from "../cli/processes.ts";
import { ACCOUNT, type Circumstances, CloudflareAccount, serveAccount } from "./cloudflare-api.ts";

const AUTHOR = ["-c", "user.name=Atrium", "-c", "user.email=atrium@example.com"];
const git = (cwd: string, ...args: string[]): string =>
  execFileSync("git", [...AUTHOR, ...args], { cwd, encoding: "utf8" });

/** The repository that operators clone. */
const published = await copyCheckout();
await copyFile(path.join(ROOT, ".gitignore"), published.at(".gitignore"));
git(published.root, "init", "--quiet", "--initial-branch", "main");
function publishVersion(subject: string): void {
  git(published.root, "add", "--all");
  git(published.root, "commit", "--quiet", "--message", subject);
}
publishVersion("The first version");

/** A clone of the repository, as an operator has it. */
async function clonePublished(): Promise<string> {
  const clone = await mkdtemp(path.join(tmpdir(), "atrium-clone-"));
  git(clone, "clone", "--quiet", published.root, ".");
  await symlink(path.join(ROOT, "node_modules"), path.join(clone, "node_modules"));
  return clone;
}

const clones = await Promise.all([clonePublished(), clonePublished(), clonePublished()]);
const stops: (() => void)[] = [];

interface Run {
  /** What the person reads: both streams, in their order. */
  readonly output: string;
  readonly exitCode: number | null;
}

/** The end of a question, after which the terminal places its cursor. */
const PROMPT = new RegExp(`(> |Enter: )${String.fromCharCode(27)}\\[\\d+G$`);

/** An operator who runs the command in a clone, for an account of the stand-in. */
async function operate(clone: string, account: CloudflareAccount) {
  const { url, stop } = await serveAccount(account);
  stops.push(stop);
  const run = async (
    args: readonly string[] = [],
    variables: Record<string, string> = {},
    onOutput: (output: string) => void = () => undefined,
    answers: readonly string[] = [],
  ): Promise<Run> => {
    const command = [process.execPath, path.join(clone, "src/cli/deploy.ts"), ...args];
    // Answers are typed on a terminal.
    const terminal = ["script", "--quiet", "--return", "--command", command.join(" "), "/dev/null"];
    const [program = "", ...given] = answers.length === 0 ? command : terminal;
    const child = spawn(program, given, {
      cwd: clone,
      env: {
        ...process.env,
        CLOUDFLARE_API_BASE_URL: url,
        CLOUDFLARE_API_TOKEN: ACCOUNT.token,
        CLOUDFLARE_ACCOUNT_ID: "",
        ...variables,
      },
      stdio: [answers.length === 0 ? "ignore" : "pipe", "pipe", "pipe"],
    });
    let output = "";
    const unanswered = [...answers];
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => {
        output += text;
        onOutput(output);
        if (PROMPT.test(output)) child.stdin?.write(`${unanswered.shift()}\n`);
      });
    const [exitCode] = (await once(child, "close")) as [number | null];
    return { output, exitCode };
  };
  const deploy = async (args?: readonly string[], variables?: Record<string, string>): Promise<string> => {
    const { output, exitCode } = await run(args, variables);
    if (exitCode !== 0) throw new Error(`npm run deploy ended with ${exitCode}:\n${output}`);
    return output;
  };
  return { run, deploy };
}

function check(what: string, isTrue: boolean): void {
  if (!isTrue) throw new Error(`Not true: ${what}`);
  console.log(`✓ ${what}`);
}

function checkRequests({ unknown }: CloudflareAccount): void {
  check(`the stand-in knows every request${unknown.map((each) => `, but ${each}`)}`, unknown.length === 0);
}

const SETTINGS = `
DOMAIN = "rooms.example"
SIGN_UP = "open"
MAIL_FROM = "atrium@example.com"
WORKFLOWS = "worker-loader"
METRICS = "on"
DATABASES = 2
`;

interface Upload {
  readonly bindings: readonly {
    readonly name: string;
    readonly text?: string;
    readonly id?: string;
    readonly jurisdiction?: string;
  }[];
  readonly limits?: object;
  readonly keep_bindings?: readonly string[];
  readonly observability?: { readonly logs?: { readonly invocation_logs?: boolean } };
}

const rowsOf = (account: CloudflareAccount, sql: string) =>
  [...account.databases.values()].flatMap(({ rows }) => rows.prepare(sql).all());

/** A dry run, the first deployment, an upgrade, and one with settings. */
async function deployAndUpgrade(clone: string): Promise<void> {
  const account = new CloudflareAccount();
  const { deploy } = await operate(clone, account);
  const dry = await deploy(["--dry-run"], {
    CLOUDFLARE_API_TOKEN: "",
    HOME: tmpdir(),
    XDG_CONFIG_HOME: tmpdir(),
  });
  check("a dry run says what it would create", dry.includes("the database atrium"));
  const another = { ATRIUM_NAME: "rooms", ATRIUM_WORKFLOWS: "dispatch-namespace", ATRIUM_WORKERS_DEV: "off" };
  const renamed = await deploy(["--dry-run"], another);
  check("another name has data of its own", renamed.includes("the database rooms, the bucket rooms-files"));
  check("a dispatch namespace runs workflows", renamed.includes("Workflows run by DISPATCHER"));
  check("it creates nothing", account.isUntouched);
  const first = await deploy(["--organization", "O'Hara & Söhne"]);
  check("the first run names the address", first.includes("https://atrium.example.workers.dev"));
  const [, code = ""] = /\.dev\/setup\n\n {2}Code {8}((?:[A-Z2-9]{4}-?){3})\n/.exec(first) ?? [];
  check("it prints a code for the first owner", code.length === 14);
  check("it makes one database and one bucket", account.databases.size === 1 && account.buckets.size === 1);
  check("it sets the secrets", account.secrets.has("JWT_SECRET") && account.secrets.has("VAPID_PRIVATE_KEY"));
  const [organization] = rowsOf(account, "SELECT name FROM accounts");
  check("it makes the organization", organization?.name === "O'Hara & Söhne");
  const codesOf = () => rowsOf(account, "SELECT token_hash, expires_at - created_at AS ms FROM invitations");
  const [stored] = codesOf();
  check("it stores the hash of the code, for an hour", stored?.token_hash === (await setupHashOf(code)));
  check("its code expires within an hour", stored?.ms === 3_600_000);
  await deploy();
  check("another run makes another code, which ends the first", codesOf().length === 1);
  check("it is another one", codesOf()[0]?.token_hash !== stored?.token_hash);
  check("it keeps the organization", rowsOf(account, "SELECT 1 FROM accounts").length === 1);
  rowsOf(
    account,
    "INSERT INTO people (id, name, email, created_at, updated_at) VALUES ('p', 'Ada', 'ada@example.com', 1, 1)",
  );
  rowsOf(
    account,
    "INSERT INTO memberships (account_id, person_id, role, joined_at) SELECT id, 'p', 'owner', 1 FROM accounts",
  );

  const second = await deploy();
  check("a further run upgrades", account.uploads.length === 3);
  check("it sets no secret again", !second.includes("Setting the secret"));
  check("it makes nothing again", account.databases.size === 1 && !second.includes("Created"));
  check("it prints no code", !second.includes("/setup"));

  const settings = await readFile(path.join(clone, "atrium.toml"), "utf8");
  check("the first run makes a file of settings, all of them comments", !/^[^#\n]/m.test(settings));
  const [database] = account.databases.keys();
  await writeFile(path.join(clone, "atrium.toml"), `${settings}${SETTINGS}`);
  const tracked = await readFile(published.at("wrangler.toml"), "utf8");
  await writeFile(
    published.at("wrangler.toml"),
    tracked.replace('crons = ["* * * * *"]', 'crons = ["*/2 * * * *"]'),
  );
  publishVersion("The second version");
  git(clone, "pull", "--quiet", "--ff-only");
  const third = await deploy();
  check("an upgrade with settings needs no merge", git(clone, "status", "--porcelain") === "");
  check("it has what the new version changes", account.schedules.at(-1)?.includes("*/2 * * * *") === true);
  const { bindings, observability, keep_bindings } = account.uploads.at(-1) as unknown as Upload;
  const bound = Object.fromEntries(bindings.map(({ name, ...binding }) => [name, binding]));
  check(
    "it binds what the settings turn on",
    ["LOADER", "METRICS", "MAIL", "DB_2"].every((name) => name in bound),
  );
  check(
    "it sets variables",
    bound.SIGN_UP?.text === "open" && bound.PUBLIC_ORIGIN?.text === "https://rooms.example",
  );
  check(
    "it keeps the database, and makes another one",
    bound.DB?.id === database && account.databases.size === 2,
  );
  check("it serves the domain", account.domains.has("rooms.example"));
  check("its address is that of the domain", third.includes("deployed at https://rooms.example"));
  check("it keeps what the dashboard has set", keep_bindings?.includes("plain_text") === true);
  check("it logs no invocations", observability?.logs?.invocation_logs === false);
  checkRequests(account);
}

/** Accounts that lack something: one run names all of it, creates nothing, and builds nothing. */
async function refuse(clone: string): Promise<void> {
  const isBuilt = () => existsSync(path.join(clone, ".wrangler/public"));
  const cases: readonly (readonly [string, Circumstances, Record<string, string>, readonly string[]])[] = [
    [
      "no sign-in",
      {},
      { CLOUDFLARE_API_TOKEN: "", HOME: clone, XDG_CONFIG_HOME: clone },
      ["✗ You are not signed in to Cloudflare: "],
    ],
    ["an invalid token", {}, { CLOUDFLARE_API_TOKEN: "another" }, ["✗ Cloudflare refuses this sign-in "]],
    [
      "a token without permissions",
      { closed: ["workers", "d1", "r2", "billing"] },
      {},
      ['"Workers Scripts Write"', '"D1 Write"', '"Workers R2 Storage Write"', "? "],
    ],
    [
      "a new account",
      { r2: 10_042, hasSubdomain: false, plan: "free" },
      { ATRIUM_WORKFLOWS: "worker-loader" },
      ["✗ R2 is not enabled", "✗ The account has no subdomain", "needs the paid plan"],
    ],
    [
      "names that are taken",
      { worker: [{ type: "kv_namespace", name: "CACHE" }] },
      { ATRIUM_WORKFLOWS: "dispatch-namespace" },
      [
        "✗ Another program is the Worker atrium",
        "✗ The database atrium has tables",
        "needs Workers for Platforms",
      ],
    ],
    [
      "several accounts",
      {
        accounts: [
          { id: ACCOUNT.id, name: "Example" },
          { id: "f".repeat(32), name: "Another" },
        ],
      },
      {},
      [`${ACCOUNT.id}  Example`, `${"f".repeat(32)}  Another`],
    ],
  ];
  for (const [name, circumstances, variables, sentences] of cases) {
    const account = new CloudflareAccount(circumstances);
    if (name === "names that are taken") account.addDatabase("atrium", "CREATE TABLE posts (id TEXT)");
    const count = account.databases.size;
    const { run } = await operate(clone, account);
    const { output, exitCode } = await run([], variables);
    check(`${name}: the command ends with 1`, exitCode === 1);
    for (const sentence of sentences)
      check(`${name}: it says ${JSON.stringify(sentence)}`, output.includes(sentence));
    check(`${name}: it has a link`, output.includes("    https://"));
    check(`${name}: nothing was created`, account.databases.size === count && account.uploads.length === 0);
    check(
      `${name}: it says so in the end`,
      output.trimEnd().endsWith("Run npm run deploy again afterwards."),
    );
    checkRequests(account);
  }
  check("no refusal waits for a build", !isBuilt());
}

/** An account of the free plan without R2, where errors come and go, and one ends the first run. */
async function resume(clone: string): Promise<void> {
  const account = new CloudflareAccount({ plan: "free", r2: 10_042 });
  const settings = { ATRIUM_FILES: "off" };
  account.troubles.push(
    { at: /^GET \/d1\/database$/, code: 7_403, times: 2 },
    { at: /^POST \/d1\/database$/, code: 10_000, times: 1 },
    { at: /^POST \/d1\/.*query$/, code: 7_403, times: 1 },
    { at: /^GET \/workers\/scripts\/atrium\/secrets/, code: null, times: 1 },
    // Wrangler tries the upload itself again before this command does.
    { at: /^(PUT|POST) \/workers\/scripts\/atrium(\/versions)?$/, code: 10_000, times: 1 },
  );
  const { run } = await operate(clone, account);
  const first = await run(["--organization", "Acme"], settings);
  console.log(first.output);
  check("an error when publishing ends the command", first.exitCode === 1 && account.uploads.length === 0);
  check(
    "transient errors before it were tried again",
    (first.output.match(/: try 2 of 4 …/g) ?? []).length >= 4,
  );
  check(
    "it has the reason, and a remedy",
    first.output.includes("[code: 10000]") && first.output.includes("Workers Scripts Write"),
  );
  check(
    "it says how to go on",
    first.output.trimEnd().endsWith("Run npm run deploy again: it goes on where it ended."),
  );
  check("it makes no organization", rowsOf(account, "SELECT name FROM accounts").length === 0);

  let read = (_output: string): void => undefined;
  const hasProgress = new Promise<void>((resolve) => {
    read = (output) => {
      if (/Publishing the Worker …\n(.*\n)* {2}\d+ s: \S/.test(output)) resolve();
    };
  });
  account.onRequest = async (at) => {
    if (/^(PUT|POST) \/workers\/scripts\/atrium(\/versions)?$/.test(at)) await hasProgress;
  };
  const { output: second, exitCode } = await run(["--organization", "Acme"], settings, read);
  console.log(second);
  check("the next run goes on, and shows that it does", exitCode === 0 && account.uploads.length === 1);
  check("it creates nothing again", account.databases.size === 1 && !second.includes("Created"));
  check("it makes one organization", rowsOf(account, "SELECT name FROM accounts").length === 1);
  const { bindings, limits } = account.uploads.at(-1) as unknown as Upload;
  check(
    "it binds no bucket, and sets no limits",
    limits === undefined && !bindings.some(({ name }) => name === "FILES"),
  );
  check(
    "it knows the free plan",
    bindings.some(({ name, text }) => name === "PLAN" && text === "free"),
  );
  check("it has created no bucket", account.buckets.size === 0);
  checkRequests(account);
}

/** An account whose operator chooses where the data is. */
async function choosePlace(clone: string): Promise<void> {
  const account = new CloudflareAccount();
  const { run, deploy } = await operate(clone, account);
  for (const [key, character] of [
    ["Ctrl-C", "\u0003"],
    ["Ctrl-D", "\u0004"],
  ] as const) {
    const interrupted = await run([], {}, () => undefined, [character]);
    check(`${key} at the question ends the command like an interruption`, interrupted.exitCode === 130);
    check("it shows no trace", !interrupted.output.includes("AbortError") && account.isUntouched);
  }
  const { output: asked } = await run([], {}, () => undefined, ["mars", "eu"]);
  check("a terminal asks where data is, until it knows the place", asked.includes("One of these, or Enter"));
  const chosen = await readFile(path.join(clone, "atrium.toml"), "utf8");
  check("it keeps the answer in the settings", chosen.endsWith('\nJURISDICTION = "eu"\n'));
  const [placed] = account.databases.values();
  check("the database is in the jurisdiction", placed?.jurisdiction === "eu" && placed.location === null);
  check("the bucket is as well", account.bucketPlaces.at(-1) === "eu" && account.buckets.size === 1);
  const europe = Object.fromEntries(
    (account.uploads.at(-1) as unknown as Upload).bindings.map(({ name, ...binding }) => [name, binding]),
  );
  check("the Worker knows it", europe.JURISDICTION?.text === "eu" && europe.FILES?.jurisdiction === "eu");
  const again = await deploy([], {
    ATRIUM_COPY_TO: "https://copies.example/a",
    ATRIUM_COPY_ACCESS_KEY_ID: "key",
  });
  check(
    "it asks for a secret that a setting needs",
    again.includes("npx wrangler secret put COPY_SECRET_ACCESS_KEY"),
  );
  check("it does not ask again", !again.includes("Where should"));
  const uploadsBefore = account.uploads.length;
  for (const settings of [
    { ATRIUM_JURISDICTION: "" },
    { ATRIUM_JURISDICTION: "us", ATRIUM_DATABASES: "2" },
  ]) {
    const { output, exitCode } = await run([], settings);
    check("another place is refused", exitCode === 1);
    check("it says what a move means", output.includes("deploy under another NAME"));
  }
  check("it changes nothing", account.uploads.length === uploadsBefore && account.databases.size === 1);
  account.addDatabase("atrium-restored", "");
  const restored = { ATRIUM_DATABASE_NAMES: "atrium-restored" };
  const { output: outside, exitCode: refused } = await run([], restored);
  check(
    "a database elsewhere is refused, and the settings are not to blame",
    refused === 1 &&
      outside.includes("The database atrium-restored is") &&
      !outside.includes("JURISDICTION ="),
  );
  account.addDatabase("atrium-copy", "", "eu");
  await deploy([], { ATRIUM_DATABASE_NAMES: "atrium-copy" });
  const { bindings } = account.uploads.at(-1) as unknown as Upload;
  const directory = account.databases.get(bindings.find(({ name }) => name === "DB")?.id ?? "");
  check("a database that was imported there replaces the first", directory?.name === "atrium-copy");
  check("the deployment creates none beside it", account.databases.size === 3);
  account.databases.clear();
  account.buckets.clear();
  await rm(path.join(clone, "atrium.toml"));
  await deploy([], { ATRIUM_LOCATION: "weur" }); // although the Worker's database is gone
  const [hinted] = account.databases.values();
  check("a location is a hint for the database", hinted?.location === "weur" && hinted.jurisdiction === null);
  check("and for the bucket", account.bucketPlaces.at(-1) === "weur");
  const { output: elsewhere } = await run([], { ATRIUM_LOCATION: "enam" });
  check(
    "another location is refused",
    elsewhere.includes('near "weur", and the settings want it near "enam"'),
  );
  checkRequests(account);
}

const [first = "", second = "", third = ""] = clones;
try {
  await Promise.all([
    deployAndUpgrade(first),
    refuse(second)
      .then(() => resume(second))
      .then(() => choosePlace(third)),
  ]);
} finally {
  for (const stop of stops) stop();
  await published.remove();
  for (const clone of clones) await rm(clone, { recursive: true, force: true });
}
