/** The secrets and settings of a development checkout, in the file that `wrangler dev` reads them from. */
import { chmod, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { ROOT } from "./service/wrangler.ts";

const FILE = path.join(ROOT, ".dev.vars");
const SECRET_BYTES = 32;
/** What webhooks may reach beside the public Internet: receivers on this very machine. */
const DEV_TARGETS = "127.0.0.1,localhost";

const HAS_JWT_SECRET = /^\s*(?:export\s+)?JWT_SECRET\s*[=:]\s*(?!(?:""|''|``)?\s*(?:#.*)?$)/m;
/** One that is empty was emptied on purpose. */
const HAS_DEV_TARGETS = /^\s*(?:export\s+)?WEBHOOK_DEV_TARGETS\s*[=:]/m;

const createSecret = (): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(SECRET_BYTES))).toString("base64url");

/** Adds what `.dev.vars` lacks, and gives the names of what was added; all other lines stay. */
export async function ensureDevSecrets(): Promise<readonly string[]> {
  const lines = await readFile(FILE, "utf8").catch(() => "");
  const missing = new Map<string, string>();
  if (!HAS_JWT_SECRET.test(lines)) missing.set("JWT_SECRET", createSecret());
  if (!HAS_DEV_TARGETS.test(lines)) missing.set("WEBHOOK_DEV_TARGETS", DEV_TARGETS);
  if (missing.size === 0) return [];
  const separator = lines === "" || lines.endsWith("\n") ? "" : "\n";
  const added = [...missing].map(([name, value]) => `${name}=${value}\n`).join("");
  await writeFile(FILE, lines + separator + added, { mode: 0o600 });
  // The mode above counts only for a file that is new.
  await chmod(FILE, 0o600);
  return [...missing.keys()];
}
