/** `npm run deploy` against a stand-in for Cloudflare's API: dry, the first time, and again. By hand: `node test/node/deploy/run.ts`. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { ACCOUNT, CloudflareAccount, serveAccount } from "./cloudflare-api.ts";

const ROOT = path.join(import.meta.dirname, "../../..");

const account = new CloudflareAccount();
const { url, stop } = await serveAccount(account);

async function deploy(...args: string[]): Promise<string> {
  const child = spawn(process.execPath, [path.join(ROOT, "src/cli/deploy.ts"), ...args], {
    cwd: ROOT,
    env: {
      ...process.env,
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

const rowsOf = (sql: string) =>
  [...account.databases.values()].flatMap(({ rows }) => rows.prepare(sql).all());

try {
  const dry = await deploy("--dry-run");
  check("a dry run says what it would create", dry.includes("the database atrium"));
  check("it creates nothing", account.databases.size + account.secrets.size + account.uploads.length === 0);
  const first = await deploy("--organization", "O'Hara & Söhne");
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
  check("the stand-in knows every request", account.unknown.length === 0);
} finally {
  if (account.unknown.length > 0) console.log("Unknown requests:", account.unknown);
  stop();
}
