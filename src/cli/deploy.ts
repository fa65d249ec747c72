/** `npm run deploy`: provisions, migrates and publishes Atrium on Cloudflare; run again, it upgrades. */
import { applyMigrations, type Database, listMigrations } from "./database.ts";
import { buildOnly, describePlan, ensureDatabases, missingSecrets, publish } from "./deployment.ts";
import { createSettingsFile, writeDeploymentConfig } from "./deployment-config.ts";
import { isOrganizationName } from "./organization.ts";
import { type FirstOwner, linkForFirstOwner } from "./person.ts";
import { CommandError, readFlags, runCommand, UsageError } from "./process/command.ts";
import { runWrangler, type Wrangler } from "./process/wrangler.ts";

const USAGE = "Usage: npm run deploy -- [--organization NAME] [--dry-run]";
const HELP = `${USAGE}

Deploys Atrium to the Cloudflare account that wrangler is signed in to (npx wrangler login), or to that of the variables
CLOUDFLARE_API_TOKEN and CLOUDFLARE_ACCOUNT_ID: creates what is missing, brings the tables up to date, sets the secrets
that are missing, and publishes the Worker. Run it again to upgrade.

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
  const {
    name,
    d1_databases = [],
    r2_buckets = [],
    vars = {},
    worker_loaders = [],
    dispatch_namespaces = [],
  } = await writeDeploymentConfig();
  const nameOf = ({ database_name = "" }: { database_name?: string }) => database_name;
  const databases: string[] = d1_databases.map(nameOf).filter((each: string) => each !== "");
  const bucket = r2_buckets[0]?.bucket_name;
  if (name === undefined || databases.length < Math.max(1, d1_databases.length) || bucket === undefined)
    throw new CommandError("wrangler.toml must name the Worker, each database and the bucket; restore them.");
  const origin = vars.PUBLIC_ORIGIN;
  return {
    names: { worker: name, databases, bucket },
    origin: typeof origin === "string" && origin !== "" ? origin : undefined,
    runners: [...worker_loaders, ...dispatch_namespaces].map(({ binding }) => binding),
  };
}

const welcome = (address: string, { accountId, path }: FirstOwner): string => `
Sign up as the first owner by this link, once and within seven days:

  ${address}${path}

  Account ID  ${accountId}

API keys are made in the dashboard, under Settings.`;

async function main(stop: AbortSignal): Promise<void> {
  const { organization, isDryRun } = parseArguments(process.argv.slice(2));
  const { names, origin, runners } = await configure();
  const wrangler: Wrangler = (args, env) => runWrangler(args, stop, env);
  if (isDryRun) {
    console.log("Building the Worker …");
    const plan = { names, organization, migrations: await listMigrations(), runners };
    console.log(describePlan(plan, await buildOnly(wrangler)));
    return;
  }
  if (await createSettingsFile()) console.log("Made atrium.toml, which has the settings of this deployment");
  const created = await ensureDatabases(wrangler, names);
  if (created.length > 0) console.log(`Created ${created.join(", ")}`);
  console.log("Bringing the tables up to date …");
  await applyMigrations(REMOTE, stop);
  const secrets = await missingSecrets(wrangler);
  for (const name of Object.keys(secrets)) console.log(`Setting the secret ${name}, which was missing`);
  console.log("Publishing the Worker …");
  const addresses = await publish(wrangler, secrets);
  const address = origin ?? addresses[0];
  if (address === undefined) {
    console.log("Deployed, but no address leads there: set DOMAIN in atrium.toml.");
    return;
  }
  console.log(`\nAtrium is deployed at ${address}, its dashboard at ${address}/dashboard`);
  const owner = await linkForFirstOwner(REMOTE, organization, stop);
  if (owner !== null) console.log(welcome(address, owner));
}

await runCommand(main, { help: HELP });
