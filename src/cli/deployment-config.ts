/** The configuration of a deployment: wrangler.toml, and the operator's settings in atrium.toml and in the environment. */
import { copyFile, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { AppError } from "@atrium/contract/errors.ts";
import { parse, TomlError } from "smol-toml";
import type { Unstable_RawConfig as Config } from "wrangler";
import { isSettingName, readSetting } from "../platform/settings.ts";
import { isMadeSecret } from "./deployment-secrets.ts";
import { CommandError } from "./process/command.ts";
import { readIfThere } from "./process/folder.ts";
import { ROOT } from "./process/supervisor.ts";
import { CONFIG } from "./process/wrangler.ts";
import { settingsOf } from "./service/development.ts";

export const SETTINGS_FILE = path.join(ROOT, "atrium.toml");
const EXAMPLE = path.join(ROOT, "atrium.example.toml");
/** Found by wrangler before wrangler.toml, so that every `npx wrangler` command concerns the deployment. */
const GENERATED = path.join(ROOT, "wrangler.jsonc");
const HEADER = "// Written by npm run deploy from wrangler.toml and atrium.toml: change atrium.toml.\n";

/** A deployment's settings by name, all as text; an empty one stands for the default. */
export type DeploymentSettings = ReadonlyMap<string, string>;

const ON_OR_OFF = { pattern: /^(on|off)$/, problem: 'must be "on" or "off"' };

/** The settings that change the configuration. All others are variables of the Worker. */
const OF_CONFIGURATION = {
  NAME: {
    pattern: /^[a-z][a-z0-9-]{0,48}[a-z0-9]$/,
    problem: "must have 2 to 50 lower-case letters, digits and hyphens, and begin with a letter",
  },
  DOMAIN: { pattern: /^([a-z0-9-]+\.)+[a-z0-9-]+$/, problem: "must be a host name, such as atrium.example" },
  WORKERS_DEV: ON_OR_OFF,
  WORKFLOWS: {
    pattern: /^(worker-loader|dispatch-namespace|off)$/,
    problem: 'must be "worker-loader", "dispatch-namespace" or "off"',
  },
  METRICS: ON_OR_OFF,
  FILES: ON_OR_OFF,
  CLOUDFLARE_ACCOUNT_ID: {
    pattern: /^[0-9a-f]{32}$/,
    problem: "must be the ID of a Cloudflare account: 32 digits and letters from a to f",
  },
  DATABASES: { pattern: /^[1-9]\d?$/, problem: "must be a whole number from 1 to 99" },
  DATABASE_NAMES: {
    pattern: /^[a-z0-9][a-z0-9_-]{0,63}(\s*,\s*[a-z0-9][a-z0-9_-]{0,63})*$/,
    problem:
      "must be names of databases, comma-separated: lower-case letters, digits, hyphens and underscores",
  },
};
type ConfigurationName = keyof typeof OF_CONFIGURATION;

const isOfConfiguration = (name: string): name is ConfigurationName => Object.hasOwn(OF_CONFIGURATION, name);

const SECRETS = [
  "COPY_SECRET_ACCESS_KEY",
  "JWT_SECRET",
  "JWT_SECRET_PREVIOUS",
  "METRICS_TOKEN",
  "OIDC_CLIENT_SECRET",
  "TURNSTILE_SECRET_KEY",
  "VAPID_PRIVATE_KEY",
  "WORKFLOWS_API_TOKEN",
];
const OF_ONE_MACHINE = ["CLIENT_ADDRESS", "MAIL_ORIGIN", "WEBHOOK_DEV_TARGETS", "WORKFLOW_DEV_TARGETS"];

/** Parses TOML. Throws a CommandError that names the file and the line. */
function parseToml(file: string, text: string) {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const problem = error.message.split("\n")[0]?.replace("Invalid TOML document: ", "");
    throw new CommandError(`${file}, line ${error.line}: ${problem}.`);
  }
}

/** The first line that sets the key, or begins a table of its name. */
const lineOf = (toml: string, key: string): number =>
  toml.split("\n").findIndex((line) => /^[\s[]*["']?([^\s"'=.\]]+)/.exec(line)?.[1] === key) + 1;

/**
 * The settings in the text of atrium.toml, and those in `ATRIUM_…` variables, which override them: not the secrets that a deployment makes. Throws a CommandError
 * with the place of a setting that is unknown, secret or invalid, or with the names of those that do not go together.
 */
export function readSettings(toml: string, environment: NodeJS.ProcessEnv): DeploymentSettings {
  const inFile = Object.entries(parseToml("atrium.toml", toml)).map(
    ([name, value]) => [name, value, `atrium.toml, line ${lineOf(toml, name)}`] as const,
  );
  const inEnvironment = Object.entries(settingsOf(environment))
    .filter(([name]) => !isMadeSecret(name))
    .map(([name, value]) => [name, value, `ATRIUM_${name}`] as const);
  const settings = new Map(
    [...inFile, ...inEnvironment].map(([name, value, place]) => {
      const { text, problem } = checkSetting(name, value);
      if (problem !== null) throw new CommandError(`${place}: ${name} ${problem}.`);
      return [name, text];
    }),
  );
  checkTogether(settings);
  return settings;
}

function checkSetting(
  name: string,
  value: unknown,
): { readonly text: string; readonly problem: string | null } {
  const text = typeof value === "object" ? "" : String(value);
  const problem = () => {
    if (SECRETS.includes(name)) return `is a secret, which \`npx wrangler secret put ${name}\` stores`;
    if (OF_ONE_MACHINE.includes(name)) return "is for a service on one machine only";
    if (!isOfConfiguration(name) && !isSettingName(name))
      return "is no setting: docs/guides/deploying.md, Settings, lists them";
    if (typeof value !== "string" && !Number.isSafeInteger(value)) return "must be text or a whole number";
    if (isOfConfiguration(name)) {
      const { pattern, problem } = OF_CONFIGURATION[name];
      return text === "" || pattern.test(text) ? null : problem;
    }
    try {
      const parsed = readSetting({ [name]: text }, name);
      return typeof value === "number" && typeof parsed !== "number" ? "must be text in quotes" : null;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return error.message.replace(`The setting ${name} `, "");
    }
  };
  return { text, problem: problem() };
}

const databaseNamesIn = (settings: DeploymentSettings): readonly string[] =>
  (settings.get("DATABASE_NAMES") || undefined)?.split(",").map((name) => name.trim()) ?? [];

const countDatabases = (settings: DeploymentSettings): number => Number(settings.get("DATABASES") || 1);

/** Settings that do nothing, or lock everyone out, without another one. */
const NEEDS: readonly (readonly [name: string, needed: string, isMeant?: (value: string) => boolean])[] = [
  ["COPY_TO", "COPY_ACCESS_KEY_ID"],
  ["OIDC_ISSUER", "OIDC_CLIENT_ID"],
  ["OIDC_ONLY", "OIDC_ISSUER", (value) => value === "on"],
];

/** Throws a CommandError for settings that do not go together. */
function checkTogether(settings: DeploymentSettings): void {
  for (const [name, needed, isMeant = () => true] of NEEDS) {
    const value = settings.get(name);
    if (value && isMeant(value) && !settings.get(needed))
      throw new CommandError(`${name} needs ${needed}: set both, or neither.`);
  }
  const names = databaseNamesIn(settings);
  const count = countDatabases(settings);
  if (names.length > count)
    throw new CommandError(`DATABASE_NAMES has ${names.length} names, but DATABASES is ${count}.`);
}

/** Merges the settings into wrangler.toml's configuration. `earlier` are the variables of the configuration before it. */
export function mergeConfig(
  tracked: Config,
  settings: DeploymentSettings,
  earlier: Config["vars"] = {},
): Config {
  const of = (name: ConfigurationName) => settings.get(name) || undefined;
  const { name: trackedName = "", d1_databases = [], r2_buckets = [] } = tracked;
  const name = of("NAME") ?? trackedName;
  const named = (text = "") => text.replace(trackedName, name);
  const domain = of("DOMAIN");
  const sender = settings.get("MAIL_FROM");
  const jurisdiction = settings.get("JURISDICTION");
  const namespace = settings.get("WORKFLOWS_NAMESPACE") ?? `${name}-workflows`;
  const isDispatching = of("WORKFLOWS") === "dispatch-namespace";
  const chosenNames = databaseNamesIn(settings);
  const databases = Array.from(
    { length: Math.max(countDatabases(settings), d1_databases.length) },
    (_, index) => ({
      ...(d1_databases[index] ?? {
        ...d1_databases[0],
        binding: `DB_${index + 1}`,
        preview_database_id: `atrium-${index + 1}-local`,
      }),
      database_name: chosenNames[index] ?? (index === 0 ? name : `${name}-${index + 1}`),
    }),
  );
  const twice = databases.find(({ database_name }, index) =>
    databases.slice(0, index).some((each) => each.database_name === database_name),
  );
  if (twice !== undefined)
    throw new CommandError(`Two databases have the name ${twice.database_name}: change DATABASE_NAMES.`);
  return {
    ...tracked,
    name,
    ...(of("CLOUDFLARE_ACCOUNT_ID") && { account_id: of("CLOUDFLARE_ACCOUNT_ID") }),
    workers_dev: of("WORKERS_DEV") === undefined ? (tracked.workers_dev ?? true) : of("WORKERS_DEV") === "on",
    ...(of("WORKERS_DEV") === "off" && { preview_urls: false }),
    ...(domain && { routes: [{ pattern: domain, custom_domain: true }] }),
    d1_databases: databases,
    r2_buckets:
      of("FILES") === "off"
        ? []
        : r2_buckets.map((each) => ({
            ...each,
            bucket_name: named(each.bucket_name),
            ...(jurisdiction && { jurisdiction }),
          })),
    ...(of("WORKFLOWS") === "worker-loader" && { worker_loaders: [{ binding: "LOADER" }] }),
    ...(isDispatching && { dispatch_namespaces: [{ binding: "DISPATCHER", namespace }] }),
    ...(of("METRICS") === "on" && { analytics_engine_datasets: [{ binding: "METRICS", dataset: name }] }),
    ...(sender && { send_email: [{ name: "MAIL", allowed_sender_addresses: [sender] }] }),
    vars: {
      // A deployment keeps variables that it does not name (`keep_vars`): those that are no longer set become empty.
      ...Object.fromEntries(Object.keys(earlier).map((each) => [each, ""])),
      ...tracked.vars,
      ...(domain && { PUBLIC_ORIGIN: `https://${domain}` }),
      ...(isDispatching && { WORKFLOWS_NAMESPACE: namespace }),
      ...Object.fromEntries([...settings].filter(([each]) => !isOfConfiguration(each))),
      ...(domain && { OWN_HOSTS: [domain, settings.get("OWN_HOSTS")].filter(Boolean).join(",") }),
    },
  };
}

/** Makes atrium.toml, in which every setting is a comment, unless it is there. Returns whether it made it. */
export async function createSettingsFile(): Promise<boolean> {
  if ((await readIfThere(SETTINGS_FILE)) !== null) return false;
  await copyFile(EXAMPLE, SETTINGS_FILE);
  return true;
}

function varsIn(generated: string): Config["vars"] {
  try {
    return (JSON.parse(generated.replace(/^\/\/.*\n/, "")) as Config).vars;
  } catch {
    throw new CommandError("wrangler.jsonc is not as npm run deploy writes it: delete it.");
  }
}

/**
 * Writes the deployment's configuration where wrangler finds it, and returns it. It has the IDs of the databases that are
 * given: without them, wrangler publishes no Worker whose earlier database is deleted.
 */
export async function writeDeploymentConfig(
  present: readonly { readonly name: string; readonly uuid: string }[] = [],
): Promise<Config> {
  const tracked = parseToml("wrangler.toml", await readFile(CONFIG, "utf8")) as Config;
  const settings = readSettings((await readIfThere(SETTINGS_FILE)) ?? "", process.env);
  const before = await readIfThere(GENERATED);
  const { d1_databases = [], ...merged } = mergeConfig(
    tracked,
    settings,
    before === null ? {} : varsIn(before),
  );
  const withId = (each: (typeof d1_databases)[number]) => {
    const found = present.find(({ name }) => name === each.database_name);
    return found === undefined ? each : { ...each, database_id: found.uuid };
  };
  const config = { ...merged, d1_databases: d1_databases.map(withId) };
  const text = `${HEADER}${JSON.stringify(config, null, 2)}\n`;
  if (text !== before) await writeFile(GENERATED, text);
  return config;
}
