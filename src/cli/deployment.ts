/** The steps of a deployment, which upgrade when they are run again, and the plan of a dry run. */

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type DataLocation, type ListedDatabase, locationFlags } from "./deployment-location.ts";
import type { CommandError } from "./process/command.ts";
import { writePrivateFile } from "./process/folder.ts";
import type { Wrangler } from "./process/wrangler.ts";

/** The names in wrangler.toml. */
export interface Names {
  readonly worker: string;
  readonly databases: readonly string[];
  /** Null for a deployment without files. */
  readonly bucket: string | null;
}

/** The databases of the deployment that exist. */
export async function listDatabases(
  wrangler: Wrangler,
  { databases }: Names,
): Promise<readonly ListedDatabase[]> {
  const all = JSON.parse(await wrangler(["d1", "list", "--json"])) as readonly ListedDatabase[];
  return all.filter(({ name }) => databases.includes(name));
}

/** Creates the databases that are missing, and returns their names. Safe to repeat after a lost answer. */
export async function ensureDatabases(
  wrangler: Wrangler,
  names: Names,
  location: DataLocation,
): Promise<readonly string[]> {
  const present = await listDatabases(wrangler, names);
  const missing = names.databases.filter((each) => !present.some(({ name }) => name === each));
  for (const name of missing) await wrangler(["d1", "create", name, ...locationFlags(location)]);
  return missing;
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

const ALL_PERMISSIONS = '"Workers Scripts Write", "D1 Write" and "Workers R2 Storage Write"';

/** Reasons that the checks cannot foresee, such as a permission that is for reading only, and what to do about them. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/\[code: 10000\]/, `Give the token the permissions ${ALL_PERMISSIONS}.`],
  [/\[code: (10042|10136)\]/, 'Enable R2 in Cloudflare\'s dashboard, or set FILES = "off" in atrium.toml.'],
  [
    /\[code: 10195\]|of type worker_loader is invalid/,
    'WORKFLOWS = "worker-loader" needs the paid plan of Workers: choose it, or remove the setting from atrium.toml.',
  ],
];

/** The reason why a step failed after the checks, and how to go on: every step does only what is missing. */
export function explainRefusal({ message }: CommandError): string {
  const [, remedy] = REMEDIES.find(([reason]) => reason.test(message)) ?? [];
  return `${[message, remedy].filter(Boolean).join("\n")}
The deployment is not complete. Run npm run deploy again: it goes on where it ended.`;
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

  create   the ${names.databases.length === 1 ? "database" : "databases"} ${names.databases.join(", ")}${names.bucket === null ? "" : `, the bucket ${names.bucket}`} and the secrets JWT_SECRET and VAPID_PRIVATE_KEY
  apply    ${migrations.length === 1 ? "1 migration" : `${migrations.length} migrations`}, up to ${migrations.at(-1) ?? "none"}
  publish  the Worker ${names.worker}${size === null ? "" : ` (${size})`}
  print    a code for the first owner of "${organization}", unless someone can sign in

${runners.length > 0 ? `Workflows run by ${runners.join(" and ")}.` : "Workflows would not run: set WORKFLOWS in atrium.toml. All else works."}`;
