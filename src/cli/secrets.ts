/** The secrets and settings of a development checkout, and the credentials of an organization. */
import { generateKeyPairSync } from "node:crypto";
import path from "node:path";
import { readIfThere, writePrivateFile } from "./process/folder.ts";
import { ROOT } from "./process/supervisor.ts";

/** The file that wrangler reads them from. */
export const SECRETS_FILE = path.join(ROOT, ".dev.vars");
const SECRET_BYTES = 32;
/** Receivers on this machine, beside the public Internet. */
const DEV_TARGETS = "127.0.0.1,localhost";

const HAS_JWT_SECRET = /^\s*(?:export\s+)?JWT_SECRET\s*[=:]\s*(?!(?:""|''|``)?\s*(?:#.*)?$)/m;
const HAS_VAPID_KEY = /^\s*(?:export\s+)?VAPID_PRIVATE_KEY\s*[=:]/m;
/** An empty value was set on purpose. */
const HAS_DEV_TARGETS = /^\s*(?:export\s+)?WEBHOOK_DEV_TARGETS\s*[=:]/m;

export const createSecret = (): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(SECRET_BYTES))).toString("base64url");

/** A private key on P-256, as the setting VAPID_PRIVATE_KEY has it. */
export function createVapidKey(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return privateKey.export({ format: "jwk" }).d ?? "";
}

/**
 * Adds the missing settings to `.dev.vars`, and returns their names. An unreadable file stays as it is: another
 * secret would end all tokens, and could not open values that the old one sealed.
 */
export async function ensureDevSecrets(): Promise<readonly string[]> {
  const lines = (await readIfThere(SECRETS_FILE)) ?? "";
  const missing = new Map<string, string>();
  if (!HAS_JWT_SECRET.test(lines)) missing.set("JWT_SECRET", createSecret());
  if (!HAS_VAPID_KEY.test(lines)) missing.set("VAPID_PRIVATE_KEY", createVapidKey());
  if (!HAS_DEV_TARGETS.test(lines)) missing.set("WEBHOOK_DEV_TARGETS", DEV_TARGETS);
  if (missing.size === 0) return [];
  const separator = lines === "" || lines.endsWith("\n") ? "" : "\n";
  const added = [...missing].map(([name, value]) => `${name}=${value}\n`).join("");
  await writePrivateFile(SECRETS_FILE, lines + separator + added);
  return [...missing.keys()];
}

/** An organization and a key that authenticates it. The database stores only the hash of the key. */
export interface Credentials {
  readonly accountId: string;
  readonly apiKey: string;
}

/** The value of an `Authorization: Bearer` header. */
export const bearerOf = ({ accountId, apiKey }: Credentials): string =>
  Buffer.from(`${accountId}:${apiKey}`).toString("base64");
