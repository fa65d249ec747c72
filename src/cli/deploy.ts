/** `npm run deploy`: provisions, migrates and publishes Atrium on Cloudflare; run again, it upgrades. */
import { parseArgs } from "node:util";
import { unstable_readConfig as readConfig } from "wrangler";
import { CONFIG } from "./bundle/worker-bundle.ts";
import { applyMigrations, type Database } from "./database.ts";
import { buildOnly, describePlan } from "./deployment/plan.ts";
import { ensureDatabases, missingSecrets, type Names, publish } from "./deployment/steps.ts";
import { type FirstOwner, linkForFirstOwner } from "./first-owner.ts";
import { listMigrations } from "./migrations.ts";
import { isOrganizationName } from "./organization.ts";
import { CommandError, runCommand, UsageError } from "./process/command.ts";
import { runWrangler, type Wrangler } from "./process/wrangler.ts";

const USAGE = "Usage: npm run deploy -- [--organization NAME] [--dry-run]";
const HELP = `${USAGE}

Deploys Atrium to the Cloudflare account that wrangler is signed in to (npx wrangler login), or to that of the variables
CLOUDFLARE_API_TOKEN and CLOUDFLARE_ACCOUNT_ID: creates what is missing, brings the tables up to date, sets the secrets
that are missing, and publishes the Worker. Run it again to upgrade.

  --organization NAME  the first organization; "My organization" by default
  --dry-run            builds the Worker and says what would be done; needs no account, and changes nothing

Settings are in wrangler.toml. docs/guides/deploying.md says more.`;

const REMOTE: Database = { kind: "remote" };

interface Options {
  readonly organization: string;
  readonly isDryRun: boolean;
}

function parseArguments(args: string[]): Options {
  try {
    const { values } = parseArgs({
      args,
      options: { organization: { type: "string" }, "dry-run": { type: "boolean" } },
    });
    const organization = values.organization ?? "My organization";
    if (isOrganizationName(organization)) return { organization, isDryRun: values["dry-run"] === true };
  } catch {
    // Falls through: the usage says what is allowed.
  }
  throw new UsageError(USAGE);
}

interface Configured {
  readonly names: Names;
  /** The setting PUBLIC_ORIGIN, if there is one. */
  readonly origin: string | undefined;
  /** The bindings that run workflows. */
  readonly runners: readonly string[];
}

/** What wrangler.toml says. */
function readNames(): Configured {
  const { name, d1_databases, r2_buckets, vars, worker_loaders, dispatch_namespaces } = readConfig(
    { config: CONFIG },
    { hideWarnings: true },
  );
  const nameOf = ({ database_name = "" }: { database_name?: string }) => database_name;
  const databases: string[] = d1_databases.map(nameOf).filter((each: string) => each !== "");
  const bucket = r2_buckets[0]?.bucket_name;
  if (name === undefined || databases.length < Math.max(1, d1_databases.length) || bucket === undefined)
    throw new CommandError("wrangler.toml must name the Worker, each database and the bucket; restore them.");
  const origin = vars.PUBLIC_ORIGIN;
  return {
    names: { worker: name, databases, bucket },
    origin: typeof origin === "string" && origin !== "" ? origin : undefined,
    runners: [...(worker_loaders ?? []), ...dispatch_namespaces].map(({ binding }) => binding),
  };
}

const welcome = (address: string, { accountId, path }: FirstOwner): string => `
Sign up as the first owner by this link, once and within seven days:

  ${address}${path}

  Account ID  ${accountId}

API keys are made in the dashboard, under Settings.`;

async function main(stop: AbortSignal): Promise<void> {
  const { organization, isDryRun } = parseArguments(process.argv.slice(2));
  const { names, origin, runners } = readNames();
  const wrangler: Wrangler = (args, env) => runWrangler(args, stop, env);
  if (isDryRun) {
    console.log("Building the Worker …");
    const plan = { names, organization, migrations: await listMigrations(), runners };
    console.log(describePlan(plan, await buildOnly(wrangler)));
    return;
  }
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
    console.log("Deployed, but no address leads there: set workers_dev or a route in wrangler.toml.");
    return;
  }
  console.log(`\nAtrium is deployed at ${address}, its dashboard at ${address}/dashboard`);
  const owner = await linkForFirstOwner(REMOTE, organization, stop);
  if (owner !== null) console.log(welcome(address, owner));
}

await runCommand(main, { help: HELP, interruptedExitCode: 130 });
