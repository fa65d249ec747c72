/** The secrets that a deployment makes, and the operator's copy of them: Cloudflare keeps secrets, and shows none. */
import path from "node:path";
import { AppError } from "@atrium/contract/errors.ts";
import { parse, stringify } from "smol-toml";
import type { Unstable_RawConfig as Config } from "wrangler";
import { readSetting } from "../platform/settings.ts";
import { CommandError } from "./process/command.ts";
import { readIfThere, writePrivateFile } from "./process/folder.ts";
import { ROOT } from "./process/supervisor.ts";
import type { Wrangler } from "./process/wrangler.ts";
import { createSecret, createVapidKey } from "./secrets.ts";

/** Ignored by git. It has a table for each deployment, by its NAME. */
const COPY = path.join(ROOT, "atrium.secrets.toml");
const HEADER = `# The secrets that npm run deploy made. Keep a copy where only you can read it: Cloudflare does not show them, and a
# restore elsewhere needs JWT_SECRET.
`;

const MADE = { JWT_SECRET: createSecret, VAPID_PRIVATE_KEY: createVapidKey };
type Made = keyof typeof MADE;

export const isMadeSecret = (name: string): name is Made => Object.hasOwn(MADE, name);

type Secrets = Readonly<Record<string, string>>;

/**
 * Wrangler's words for the code 10007, and no others: a passing error that looked like it would replace the secrets of a
 * Worker that has some.
 */
const NO_WORKER = /\[code: 10007\]|^wrangler failed: Worker "[^"]+" not found\. If this is a new Worker/;

/** The names of the Worker's secrets. A Worker that does not exist has none. */
const listSecrets = (wrangler: Wrangler): Promise<readonly string[]> =>
  wrangler(["secret", "list", "--format", "json"]).then(
    (json) => (JSON.parse(json) as readonly { readonly name: string }[]).map(({ name }) => name),
    (error: unknown) => {
      if (error instanceof CommandError && NO_WORKER.test(error.message)) return [];
      throw error;
    },
  );

async function readCopies(file: string): Promise<Record<string, Secrets>> {
  try {
    return parse((await readIfThere(file)) ?? "") as Record<string, Secrets>;
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${file} is not as npm run deploy writes it: mend it, or move it away.`);
  }
}

/** The value of an ATRIUM_… variable; undefined without one. Throws a CommandError for one that the service refuses. */
function givenSecret(environment: NodeJS.ProcessEnv, name: Made): string | undefined {
  const value = environment[`ATRIUM_${name}`] || undefined;
  if (value === undefined) return undefined;
  try {
    readSetting({ [name]: value }, name);
    return value;
  } catch (error) {
    throw error instanceof AppError ? new CommandError(`ATRIUM_${name}: ${error.message}.`) : error;
  }
}

/** A line for each secret that a setting needs and that only the operator can set, unless it is `present`. */
export const describeMissing = (
  { vars = {}, dispatch_namespaces = [] }: Config,
  present: readonly string[],
): readonly string[] =>
  (
    [
      [vars.COPY_TO, "COPY_TO", "COPY_SECRET_ACCESS_KEY"],
      [vars.TURNSTILE_SITE_KEY, "TURNSTILE_SITE_KEY", "TURNSTILE_SECRET_KEY"],
      [dispatch_namespaces.length > 0, 'WORKFLOWS = "dispatch-namespace"', "WORKFLOWS_API_TOKEN"],
    ] as const
  )
    .filter(([isSet, , secret]) => isSet && !present.includes(secret))
    .map(([, setting, secret]) => `${setting} needs a secret: npx wrangler secret put ${secret}`);

interface FoundSecrets {
  readonly values: Secrets;
  /** The names of those that the Worker has. */
  readonly present: readonly string[];
  /** The name of the file that has new ones; null without any. */
  readonly copiedTo: string | null;
}

/**
 * Values for the missing secrets of the deployment `name`: those of ATRIUM_… variables, those of the operator's copy, and
 * else new ones, which the copy has before anything uses them.
 */
export async function missingSecrets(
  wrangler: Wrangler,
  name: string,
  { environment = process.env, file = COPY }: { environment?: NodeJS.ProcessEnv; file?: string } = {},
): Promise<FoundSecrets> {
  const present = await listSecrets(wrangler);
  const missing = Object.keys(MADE)
    .filter(isMadeSecret)
    .filter((each) => !present.includes(each));
  if (missing.length === 0) return { values: {}, present, copiedTo: null };
  const copies = await readCopies(file);
  const known = copies[name] ?? {};
  const values: Record<string, string> = {};
  const made: Record<string, string> = {};
  for (const each of missing) {
    const value = givenSecret(environment, each) ?? known[each];
    values[each] = value ?? MADE[each]();
    if (value === undefined) made[each] = values[each];
  }
  if (Object.keys(made).length === 0) return { values, present, copiedTo: null };
  await writePrivateFile(file, HEADER + stringify({ ...copies, [name]: { ...known, ...made } }));
  return { values, present, copiedTo: path.basename(file) };
}
