/**
 * `npm run deploy` in a clone, against a stand-in for Cloudflare's API: dry, the first time, again, and after `git pull`
 * with settings. By hand: `node test/node/deploy/run.ts`.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { copyCheckout } from "../cli/checkout.ts";
import { ROOT } from "../cli/processes.ts";
import { ACCOUNT, CloudflareAccount, serveAccount } from "./cloudflare-api.ts";

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

const clone = await mkdtemp(path.join(tmpdir(), "atrium-clone-"));
git(clone, "clone", "--quiet", published.root, ".");
await symlink(path.join(ROOT, "node_modules"), path.join(clone, "node_modules"));

const account = new CloudflareAccount();
const { url, stop } = await serveAccount(account);

async function deploy(args: readonly string[] = [], settings: Record<string, string> = {}): Promise<string> {
  const child = spawn(process.execPath, [path.join(clone, "src/cli/deploy.ts"), ...args], {
    cwd: clone,
    env: {
      ...process.env,
      ...settings,
      CLOUDFLARE_API_BASE_URL: url,
      CLOUDFLARE_API_TOKEN: ACCOUNT.token,
      CLOUDFLARE_ACCOUNT_ID: ACCOUNT.id,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    process.stdout.write(text);
  });
  const [exitCode] = (await once(child, "close")) as [number | null];
  if (exitCode !== 0) throw new Error(`npm run deploy ended with ${exitCode}`);
  return output;
}

function check(what: string, isTrue: boolean): void {
  if (!isTrue) throw new Error(`Not true: ${what}`);
  console.log(`✓ ${what}`);
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
  readonly bindings: readonly { readonly name: string; readonly text?: string; readonly id?: string }[];
  readonly keep_bindings?: readonly string[];
  readonly observability?: { readonly logs?: { readonly invocation_logs?: boolean } };
}

const rowsOf = (sql: string) =>
  [...account.databases.values()].flatMap(({ rows }) => rows.prepare(sql).all());

try {
  const dry = await deploy(["--dry-run"]);
  check("a dry run says what it would create", dry.includes("the database atrium"));
  const another = { ATRIUM_NAME: "rooms", ATRIUM_WORKFLOWS: "dispatch-namespace", ATRIUM_WORKERS_DEV: "off" };
  const renamed = await deploy(["--dry-run"], another);
  check("another name has data of its own", renamed.includes("the database rooms, the bucket rooms-files"));
  check("a dispatch namespace runs workflows", renamed.includes("Workflows run by DISPATCHER"));
  check("it creates nothing", account.databases.size + account.secrets.size + account.uploads.length === 0);
  const first = await deploy(["--organization", "O'Hara & Söhne"]);
  check("the first run names the address", first.includes("https://atrium.example.workers.dev"));
  check("it links the first owner", /dashboard\/invitations\/[\w-]{43}\n/.test(first));
  check("it makes one database and one bucket", account.databases.size === 1 && account.buckets.size === 1);
  check("it sets the secrets", account.secrets.has("JWT_SECRET") && account.secrets.has("VAPID_PRIVATE_KEY"));
  const [organization] = rowsOf("SELECT name FROM accounts");
  check("it makes the organization", organization?.name === "O'Hara & Söhne");
  rowsOf(
    "INSERT INTO people (id, name, email, created_at, updated_at) VALUES ('p', 'Ada', 'ada@example.com', 1, 1)",
  );
  rowsOf(
    "INSERT INTO memberships (account_id, person_id, role, joined_at) SELECT id, 'p', 'owner', 1 FROM accounts",
  );

  const second = await deploy();
  check("the second run upgrades", account.uploads.length === 2);
  check("it sets no secret again", !second.includes("secret"));
  check("it makes nothing again", account.databases.size === 1 && !second.includes("Created"));
  check("it links no one", !second.includes("invitations"));

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
  check("the stand-in knows every request", account.unknown.length === 0);
} finally {
  if (account.unknown.length > 0) console.log("Unknown requests:", account.unknown);
  stop();
  await published.remove();
  await rm(clone, { recursive: true, force: true });
}
