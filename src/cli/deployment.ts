/** The steps of a deployment, which upgrade when they are run again, and the plan of a dry run. */

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { CommandError } from "./process/command.ts";
import { writePrivateFile } from "./process/folder.ts";
import type { Wrangler } from "./process/wrangler.ts";
import { createSecret, createVapidKey } from "./secrets.ts";

/** The names in wrangler.toml. */
interface Names {
  readonly worker: string;
  readonly databases: readonly string[];
  readonly bucket: string;
}

const namesIn = (json: string): readonly string[] =>
  (JSON.parse(json) as readonly { readonly name: string }[]).map(({ name }) => name);

/** Creates the databases that do not exist, and returns their names. Wrangler creates the bucket when it publishes. */
export async function ensureDatabases(wrangler: Wrangler, { databases }: Names): Promise<readonly string[]> {
  const present = namesIn(await wrangler(["d1", "list", "--json"]));
  const missing = databases.filter((name) => !present.includes(name));
  for (const name of missing) await wrangler(["d1", "create", name]);
  return missing;
}

/** Values for the missing secrets. A Worker that does not exist has none. */
export async function missingSecrets(wrangler: Wrangler): Promise<Readonly<Record<string, string>>> {
  const present = await wrangler(["secret", "list", "--format", "json"]).then(
    namesIn,
    (error: unknown): readonly string[] => {
      if (error instanceof CommandError && /\b10007\b|not found/i.test(error.message)) return [];
      throw error;
    },
  );
  const made = { JWT_SECRET: createSecret, VAPID_PRIVATE_KEY: createVapidKey };
  const missing = Object.entries(made).filter(([name]) => !present.includes(name));
  return Object.fromEntries(missing.map(([name, create]) => [name, create()]));
}

interface Report {
  readonly type: string;
  readonly targets?: readonly string[];
}

/** Publishes the Worker with the secrets, which appear in no command line, and returns its addresses. */
export async function publish(
  wrangler: Wrangler,
  secrets: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const folder = await mkdtemp(path.join(tmpdir(), "atrium-deploy-"));
  const secretsFile = path.join(folder, "secrets.json");
  const report = path.join(folder, "report.json");
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

interface DeploymentPlan {
  readonly names: Names;
  /** The organization of the first owner. */
  readonly organization: string;
  readonly migrations: readonly string[];
  /** The bindings that run workflows, of which one is enough. */
  readonly runners: readonly string[];
}

/** Builds the Worker as a deployment does, and returns its size as wrangler says it; sends nothing. */
export async function buildOnly(wrangler: Wrangler): Promise<string | null> {
  const output = await wrangler(["deploy", "--minify", "--dry-run"]);
  return /Total Upload: (.+)/.exec(output)?.[1] ?? null;
}

export const describePlan = (
  { names, organization, migrations, runners }: DeploymentPlan,
  size: string | null,
): string => `Nothing was sent to Cloudflare. npm run deploy would, as far as it is still missing,

  create   the ${names.databases.length === 1 ? "database" : "databases"} ${names.databases.join(", ")}, the bucket ${names.bucket} and the secrets JWT_SECRET and VAPID_PRIVATE_KEY
  apply    ${migrations.length} migrations, up to ${migrations.at(-1) ?? "none"}
  publish  the Worker ${names.worker}${size === null ? "" : ` (${size})`}
  link     the first owner of "${organization}", unless someone can sign in

${runners.length > 0 ? `Workflows run by ${runners.join(" and ")}.` : "Workflows would not run: set WORKFLOWS in atrium.toml. All else works."}`;
