/** The steps of a deployment, each of which does what is still missing: run again, they upgrade. */
import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { CommandError } from "../process/command.ts";
import { writePrivateFile } from "../process/folder.ts";
import type { Wrangler } from "../process/wrangler.ts";

/** What a deployment is made of, as wrangler.toml names it. */
export interface Names {
  readonly worker: string;
  readonly databases: readonly string[];
  readonly bucket: string;
}

const SECRET_BYTES = 32;

const namesIn = (json: string): readonly string[] =>
  (JSON.parse(json) as readonly { readonly name: string }[]).map(({ name }) => name);

/** Creates the databases that do not exist, and returns their names. Wrangler creates the bucket when it publishes. */
export async function ensureDatabases(wrangler: Wrangler, { databases }: Names): Promise<readonly string[]> {
  const present = namesIn(await wrangler(["d1", "list", "--json"]));
  const missing = databases.filter((name) => !present.includes(name));
  for (const name of missing) await wrangler(["d1", "create", name]);
  return missing;
}

/** The secrets that the Worker needs and does not have, with values for them. A Worker that does not exist has none. */
export async function missingSecrets(wrangler: Wrangler): Promise<Readonly<Record<string, string>>> {
  const present = await wrangler(["secret", "list", "--format", "json"]).then(
    namesIn,
    (error: unknown): readonly string[] => {
      if (error instanceof CommandError && /\b10007\b|not found/i.test(error.message)) return [];
      throw error;
    },
  );
  return present.includes("JWT_SECRET")
    ? {}
    : { JWT_SECRET: randomBytes(SECRET_BYTES).toString("base64url") };
}

/** A line that wrangler writes about a deployment. */
interface Report {
  readonly type: string;
  readonly targets?: readonly string[];
}

/**
 * Publishes the Worker with the secrets, which appear in no command line, and returns its addresses, such as
 * `https://atrium.example.workers.dev`.
 */
export async function publish(
  wrangler: Wrangler,
  secrets: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const folder = await mkdtemp(path.join(tmpdir(), "atrium-deploy-"));
  const [secretsFile, report] = ["secrets.json", "report.json"].map((name) => path.join(folder, name));
  if (secretsFile === undefined || report === undefined) throw new Error("unreachable");
  try {
    const withSecrets = Object.keys(secrets).length === 0 ? [] : ["--secrets-file", secretsFile];
    if (withSecrets.length > 0) await writePrivateFile(secretsFile, JSON.stringify(secrets));
    await wrangler(["deploy", "--minify", ...withSecrets], { WRANGLER_OUTPUT_FILE_PATH: report });
    const lines = (await readFile(report, "utf8")).split("\n").filter((line) => line !== "");
    const reports = lines.map((line) => JSON.parse(line) as Report);
    const targets = reports.flatMap(({ type, targets }) => (type === "deploy" ? (targets ?? []) : []));
    return targets.filter((target) => target.startsWith("https://"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
