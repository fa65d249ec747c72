/** `npm run deploy`: provisions, migrates and publishes Atrium on Cloudflare; run again, it upgrades. */
import { setupCode } from "../features/people/links.ts";
import { publishPackage } from "./bundle/published-package.ts";
import { applyMigrations, type Database, listMigrations } from "./database.ts";
import {
  buildOnly,
  describePlan,
  ensureDatabases,
  explainRefusal,
  listDatabases,
  type Names,
  publish,
} from "./deployment.ts";
import { checkAccount } from "./deployment-checks.ts";
import { createSettingsFile, writeDeploymentConfig } from "./deployment-config.ts";
import {
  askForLocation,
  type DataLocation,
  describeLocation,
  ensureBucket,
  isKeptAt,
  keepLocation,
  locationIn,
} from "./deployment-location.ts";
import { describeMissing, missingSecrets } from "./deployment-secrets.ts";
import { isOrganizationName } from "./organization.ts";
import { codeForFirstOwner, type FirstOwner } from "./person.ts";
import { CommandError, readFlags, runCommand, UsageError } from "./process/command.ts";
import { Steps } from "./process/steps.ts";
import { runWrangler, type Wrangler } from "./process/wrangler.ts";

const USAGE = "Usage: npm run deploy -- [--organization NAME] [--dry-run]";
const HELP = `${USAGE}

Deploys Atrium to the Cloudflare account that wrangler is signed in to (npx wrangler login), or to that of the variables
CLOUDFLARE_API_TOKEN and CLOUDFLARE_ACCOUNT_ID: checks the account, creates what is missing, brings the tables up to date,
sets the secrets that are missing, and publishes the Worker. Run it again to upgrade, or to go on after an error.

  --organization NAME  the first organization; "My organization" by default
  --dry-run            builds the Worker and says what would be done; needs no account, and changes nothing

Settings are in atrium.toml, which the first run makes, and in variables such as ATRIUM_SIGN_UP. docs/guides/deploying.md says more.`;

const REMOTE: Database = { kind: "remote" };

function parseArguments(args: string[]): { readonly organization: string; readonly isDryRun: boolean } {
  const flags = { organization: { type: "string" }, "dry-run": { type: "boolean" } } as const;
  const { values, positionals } = readFlags(USAGE, args, flags);
  const { organization = "My organization", "dry-run": isDryRun = false } = values;
  if (positionals.length > 0 || !isOrganizationName(organization)) throw new UsageError(USAGE);
  return { organization, isDryRun };
}

/** Writes the configuration for wrangler, and returns what the steps need of it. */
async function configure() {
  const config = await writeDeploymentConfig();
  const {
    name,
    d1_databases = [],
    r2_buckets = [],
    vars = {},
    worker_loaders = [],
    dispatch_namespaces = [],
  } = config;
  const nameOf = ({ database_name = "" }: { database_name?: string }) => database_name;
  const databases: string[] = d1_databases.map(nameOf).filter((each: string) => each !== "");
  const bucket = r2_buckets[0]?.bucket_name ?? null;
  if (name === undefined || databases.length < Math.max(1, d1_databases.length))
    throw new CommandError("wrangler.toml must name the Worker and each database; restore them.");
  const origin = vars.PUBLIC_ORIGIN;
  return {
    config,
    names: { worker: name, databases, bucket },
    location: locationIn(vars),
    origin: typeof origin === "string" && origin !== "" ? origin : undefined,
    runners: [...worker_loaders, ...dispatch_namespaces].map(({ binding }) => binding),
  };
}

/** Such as "20:49 UTC". */
const clockOf = (time: number): string =>
  new Date(time).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", timeZoneName: "short" });

const welcome = (address: string, { accountId, code, expiresAt }: FirstOwner): string => `
No one can sign in yet. Sign up as the first owner:

  ${address}${setupCode.path}

  Code        ${code}
  Account ID  ${accountId}

The code works once, within an hour, until ${clockOf(expiresAt)}. Keep it from others until then, also in the log of a build:
a code that was used or has expired opens nothing. If you come too late, run the command again, which makes a new code
and ends this one.

API keys are made in the dashboard, under Settings.`;

interface Wanted {
  readonly names: Names;
  readonly location: DataLocation;
  readonly origin: string | undefined;
  readonly organization: string;
  /** Whether the directory knows the location already. */
  readonly isKept: boolean;
}

interface Deployed {
  /** Undefined if no address leads there. */
  readonly address: string | undefined;
  /** The code of the first owner; null if there is an owner, or no address. */
  readonly owner: FirstOwner | null;
  /** The names of the secrets that the Worker had before. */
  readonly secrets: readonly string[];
}

/** Does the steps that are still missing. */
async function deploy(
  steps: Steps,
  wrangler: Wrangler,
  { names, location, origin, organization, isKept }: Wanted,
  stop: AbortSignal,
): Promise<Deployed> {
  const create = () => ensureDatabases(wrangler, names, location);
  const created = await steps.run("Creating the databases that are missing", create);
  if (created.length > 0) steps.print(`Created ${created.join(", ")} ${describeLocation(location)}`);
  await steps.run("Bringing the tables up to date", () => applyMigrations(REMOTE, stop));
  if (!isKept) await steps.run("Noting the place of the data", () => keepLocation(location, REMOTE, stop));
  const { bucket } = names;
  if (bucket !== null)
    await steps.run("Looking for the bucket", () => ensureBucket(wrangler, bucket, location));
  const find = () => missingSecrets(wrangler, names.worker);
  const { values, present: secrets, copiedTo } = await steps.run("Looking for the secrets", find);
  for (const name of Object.keys(values)) steps.print(`Setting the secret ${name}, which was missing`);
  if (copiedTo !== null)
    steps.print(`Keep a copy of ${copiedTo}, which has them: Cloudflare does not show secrets`);
  await steps.show("Building the package that applications install", () => publishPackage(stop));
  const addresses = await steps.run("Publishing the Worker", async () => {
    await writeDeploymentConfig(await listDatabases(wrangler, names));
    return publish(wrangler, values);
  });
  const address = origin ?? addresses[0];
  if (address === undefined) return { address, owner: null, secrets };
  const owner = await steps.run("Looking for an owner", () => codeForFirstOwner(REMOTE, organization, stop));
  return { address, owner, secrets };
}

async function main(stop: AbortSignal): Promise<void> {
  const { organization, isDryRun } = parseArguments(process.argv.slice(2));
  const { config, names, origin, runners, ...configured } = await configure();
  let { location } = configured;
  const steps = new Steps(stop);
  const wrangler: Wrangler = (args, env) =>
    runWrangler(args, stop, env, args[0] === "deploy" ? steps.note : undefined);
  if (isDryRun) {
    const size = await steps.run("Building the Worker", () => buildOnly(wrangler));
    console.log(describePlan({ names, organization, migrations: await listMigrations(), runners }, size));
    return;
  }
  if (await createSettingsFile()) console.log("Made atrium.toml, which has the settings of this deployment");
  const check = () => checkAccount(wrangler, config, steps, stop);
  const { accountId, settings } = await steps.show("Checking the Cloudflare account", check);
  process.env.CLOUDFLARE_ACCOUNT_ID = accountId;
  for (const [name, value] of Object.entries(settings)) process.env[`ATRIUM_${name}`] ||= value;
  const present = await steps.run("Looking for the databases", () => listDatabases(wrangler, names));
  if (present.length === 0 && (await askForLocation(location, stop))) ({ location } = await configure());
  const findPlace = () => isKeptAt(location, present, REMOTE, stop);
  const isKept = await steps.run("Comparing the place of the data", findPlace);
  const wanted = { names, location, origin, organization, isKept };
  const { address, owner, secrets } = await deploy(steps, wrangler, wanted, stop).catch((error: unknown) => {
    throw error instanceof CommandError ? new CommandError(explainRefusal(error)) : error;
  });
  for (const line of describeMissing(config, secrets)) console.log(line);
  if (address === undefined) {
    console.log("Deployed, but no address leads there: set DOMAIN in atrium.toml.");
    return;
  }
  console.log(`\nAtrium is deployed at ${address}, its dashboard at ${address}/dashboard`);
  if (owner !== null) console.log(welcome(address, owner));
}

await runCommand(main, { help: HELP });
