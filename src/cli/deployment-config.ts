/** The configuration of a deployment: wrangler.toml, and the operator's settings in atrium.toml and in the environment. */
import { copyFile, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { AppError } from "@atrium/contract/errors.ts";
import { parse, TomlError } from "smol-toml";
import type { Unstable_RawConfig as Config } from "wrangler";
import { isSettingName, readSetting } from "../platform/settings.ts";
import { CommandError } from "./process/command.ts";
import { readIfThere } from "./process/folder.ts";
import { ROOT } from "./process/supervisor.ts";
import { CONFIG } from "./process/wrangler.ts";
import { settingsOf } from "./service/development.ts";

const SETTINGS_FILE = path.join(ROOT, "atrium.toml");
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
  DATABASES: { pattern: /^[1-9]\d?$/, problem: "must be a whole number from 1 to 99" },
};
type ConfigurationName = keyof typeof OF_CONFIGURATION;

const isOfConfiguration = (name: string): name is ConfigurationName => Object.hasOwn(OF_CONFIGURATION, name);

const SECRETS = [
  "JWT_SECRET",
  "JWT_SECRET_PREVIOUS",
  "METRICS_TOKEN",
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
 * The settings in the text of atrium.toml, and those in `ATRIUM_…` variables, which override them. Throws a CommandError
 * with the place of a setting that is unknown, secret or invalid.
 */
export function readSettings(toml: string, environment: NodeJS.ProcessEnv): DeploymentSettings {
  const inFile = Object.entries(parseToml("atrium.toml", toml)).map(
    ([name, value]) => [name, value, `atrium.toml, line ${lineOf(toml, name)}`] as const,
  );
  const inEnvironment = Object.entries(settingsOf(environment)).map(
    ([name, value]) => [name, value, `ATRIUM_${name}`] as const,
  );
  return new Map(
    [...inFile, ...inEnvironment].map(([name, value, place]) => {
      const { text, problem } = checkSetting(name, value);
      if (problem !== null) throw new CommandError(`${place}: ${name} ${problem}.`);
      return [name, text];
    }),
  );
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
  const namespace = settings.get("WORKFLOWS_NAMESPACE") ?? `${name}-workflows`;
  const isDispatching = of("WORKFLOWS") === "dispatch-namespace";
  const count = Number(of("DATABASES") ?? 1);
  const numbers = Array.from({ length: count }, (_, index) => index + 1).slice(d1_databases.length);
  return {
    ...tracked,
    name,
    workers_dev: of("WORKERS_DEV") === undefined ? (tracked.workers_dev ?? true) : of("WORKERS_DEV") === "on",
    ...(of("WORKERS_DEV") === "off" && { preview_urls: false }),
    ...(domain && { routes: [{ pattern: domain, custom_domain: true }] }),
    d1_databases: [
      ...d1_databases.map((each) => ({ ...each, database_name: named(each.database_name) })),
      ...numbers.map((number) => ({
        ...d1_databases[0],
        binding: `DB_${number}`,
        database_name: `${name}-${number}`,
        preview_database_id: `atrium-${number}-local`,
      })),
    ],
    r2_buckets: r2_buckets.map((each) => ({ ...each, bucket_name: named(each.bucket_name) })),
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

/** Writes the deployment's configuration where wrangler finds it, and returns it. */
export async function writeDeploymentConfig(): Promise<Config> {
  const tracked = parseToml("wrangler.toml", await readFile(CONFIG, "utf8")) as Config;
  const settings = readSettings((await readIfThere(SETTINGS_FILE)) ?? "", process.env);
  const before = await readIfThere(GENERATED);
  const config = mergeConfig(tracked, settings, before === null ? {} : varsIn(before));
  const text = `${HEADER}${JSON.stringify(config, null, 2)}\n`;
  if (text !== before) await writeFile(GENERATED, text);
  return config;
}
