/** The secrets of a development checkout, in the file that `wrangler dev` reads them from. */
import { chmod, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { ROOT } from "./wrangler.ts";

const FILE = path.join(ROOT, ".dev.vars");
const SECRET_BYTES = 32;
const HAS_JWT_SECRET = /^\s*(?:export\s+)?JWT_SECRET\s*[=:]\s*(?!(?:""|''|``)?\s*(?:#.*)?$)/m;

/** Adds a JWT_SECRET of its own to `.dev.vars` unless it has one; all other lines stay. True when it did. */
export async function ensureDevSecrets(): Promise<boolean> {
  const lines = await readFile(FILE, "utf8").catch(() => "");
  if (HAS_JWT_SECRET.test(lines)) return false;
  const secret = Buffer.from(crypto.getRandomValues(new Uint8Array(SECRET_BYTES))).toString("base64url");
  const separator = lines === "" || lines.endsWith("\n") ? "" : "\n";
  await writeFile(FILE, `${lines}${separator}JWT_SECRET=${secret}\n`, { mode: 0o600 });
  // The mode above counts only for a file that is new.
  await chmod(FILE, 0o600);
  return true;
}
