/** Checks of the Cloudflare account before a deployment: all at once, and before anything is created. */
import type { Unstable_RawConfig as Config } from "wrangler";
import * as z from "zod";
import { SELECT_TABLES } from "./database.ts";
import { type Ask, connect, Refusal } from "./process/cloudflare.ts";
import { CommandError } from "./process/command.ts";
import type { Steps } from "./process/steps.ts";
import type { Wrangler } from "./process/wrangler.ts";

/** The result of a check, in one sentence. Only a failed one ends the deployment. */
interface Finding {
  readonly state: "ok" | "failed" | "unknown";
  readonly sentence: string;
  /** The page that helps. */
  readonly link?: string;
  /** Settings that the check chooses, unless the operator has. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** An account that can be asked. */
interface Account {
  readonly id: string;
  readonly ask: Ask;
  /** Names and IDs of its databases. */
  readonly databases: Promise<readonly { readonly name: string; readonly uuid: string }[]>;
  /** Where its pages in Cloudflare's dashboard begin. */
  readonly dashboard: string;
}

const TOKENS = "https://dash.cloudflare.com/profile/api-tokens";

const ok = (sentence: string, settings = {}): Finding => ({ state: "ok", sentence, settings });
const failed = (sentence: string, link: string): Finding => ({ state: "failed", sentence, link });
const unknown = (sentence: string, link?: string): Finding => ({
  state: "unknown",
  sentence,
  ...(link && { link }),
});

/** Resolves to null for one of the codes. */
async function unless<T>(codes: readonly number[], answer: Promise<T>): Promise<T | null> {
  return answer.catch((error: unknown) => {
    if (error instanceof Refusal && codes.includes(error.code)) return null;
    throw error;
  });
}

/** Resolves to null for an answer that is a refusal, or is not as expected: the check of that product says so. */
async function ifAnswered<T>(answer: Promise<T>): Promise<T | null> {
  return answer.catch((error: unknown) => {
    if (error instanceof Refusal || error instanceof z.ZodError) return null;
    throw error;
  });
}

const bindings = z.object({
  bindings: z.array(z.object({ type: z.string(), name: z.string() })).default([]),
});

async function checkWorker({ id, ask, dashboard }: Account, { name = "" }: Config): Promise<Finding> {
  const found = await unless([10_007], ask(`/accounts/${id}/workers/scripts/${name}/settings`));
  if (found === null) return ok(`The Worker ${name} is new`);
  const isOurs = bindings
    .parse(found)
    .bindings.some((each) => each.type === "durable_object_namespace" && each.name === "ROOMS");
  return isOurs
    ? ok(`The Worker ${name} is Atrium's, and is upgraded`)
    : failed(
        `Another program is the Worker ${name}: set NAME in atrium.toml to a name that is free.`,
        `${dashboard}/workers/services/view/${name}`,
      );
}

const databaseNames = ({ d1_databases = [] }: Config): readonly string[] =>
  d1_databases.flatMap(({ database_name }) => database_name ?? []);

/** Tables that each database of Atrium has. */
const OUR_TABLES = ["accounts", "outbox_events"];
const tables = z.array(z.object({ results: z.array(z.object({ name: z.string() })) }));

async function checkDatabases({ id, ask, databases, dashboard }: Account, config: Config): Promise<Finding> {
  const names = databaseNames(config);
  const present = (await databases).filter(({ name }) => names.includes(name));
  for (const { name, uuid } of present) {
    const answer = await ask(`/accounts/${id}/d1/database/${uuid}/query`, { body: { sql: SELECT_TABLES } });
    const found = tables.parse(answer).flatMap(({ results }) => results.map((table) => table.name));
    if (found.length > 0 && !OUR_TABLES.every((table) => found.includes(table)))
      return failed(
        `The database ${name} has tables of another program: set NAME in atrium.toml to a name that is free.`,
        `${dashboard}/workers/d1/databases/${uuid}`,
      );
  }
  const missing = names.filter((name) => !present.some((each) => each.name === name));
  return ok(missing.length === 0 ? `D1: ${names.join(", ")}` : `D1 is ready for ${missing.join(", ")}`);
}

async function checkBucket(
  { id, ask, databases, dashboard }: Account,
  { r2_buckets: [bucket] = [], d1_databases = [] }: Config,
): Promise<Finding> {
  if (bucket?.bucket_name === undefined) return ok('No files can be stored, because FILES is "off"');
  const { bucket_name: name, jurisdiction } = bucket;
  const headers = jurisdiction === undefined ? {} : { "cf-r2-jurisdiction": jurisdiction };
  try {
    await ask(`/accounts/${id}/r2/buckets/${name}`, { headers });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.code === 10_006) return ok(`R2 is ready for ${name}`);
    if (error.code === 10_042 || error.code === 10_136)
      return failed(
        'R2 is not enabled in this account: enable it there once, or set FILES = "off" in atrium.toml to do without files.',
        `${dashboard}/r2/overview`,
      );
    throw error;
  }
  const directory = d1_databases[0]?.database_name;
  const hasDatabase = (await ifAnswered(databases))?.some((each) => each.name === directory) ?? true;
  return hasDatabase
    ? ok(`R2: ${name}`)
    : failed(
        `The bucket ${name} is there without a database of Atrium: delete it if it is empty, or set NAME in atrium.toml to a name that is free.`,
        `${dashboard}/r2/default/buckets/${name}`,
      );
}

async function checkAddress(
  { id, ask, dashboard }: Account,
  { name, workers_dev, routes }: Config,
): Promise<Finding | null> {
  if (workers_dev === false) return null;
  const found = await unless([10_007, 10_063], ask(`/accounts/${id}/workers/subdomain`));
  if (found !== null) {
    const { subdomain } = z.object({ subdomain: z.string() }).parse(found);
    return ok(`workers.dev: https://${name}.${subdomain}.workers.dev`);
  }
  const way = routes === undefined ? "set DOMAIN in atrium.toml to one of your own, and" : "set";
  return failed(
    `The account has no subdomain of workers.dev yet: choose one, or ${way} WORKERS_DEV = "off".`,
    `${dashboard}/workers/onboarding`,
  );
}

const subscriptions = z.array(
  z.object({ rate_plan: z.object({ id: z.string().optional(), public_name: z.string().optional() }) }),
);

async function isPaid({ id, ask }: Account): Promise<boolean | null> {
  try {
    const plans = subscriptions.parse(await ask(`/accounts/${id}/subscriptions`));
    return plans.some(({ rate_plan }) =>
      /workers|enterprise/i.test(`${rate_plan.id} ${rate_plan.public_name}`),
    );
  } catch (error) {
    if (error instanceof Refusal || error instanceof z.ZodError) return null;
    throw error;
  }
}

async function checkPlan(account: Account, { vars = {}, worker_loaders = [] }: Config): Promise<Finding> {
  const plans = `${account.dashboard}/workers/plans`;
  const paid = await isPaid(account);
  if (worker_loaders.length > 0 && (paid === false || vars.PLAN === "free"))
    return failed(
      'WORKFLOWS = "worker-loader" needs the paid plan of Workers: choose it, or remove the setting from atrium.toml.',
      plans,
    );
  if (paid === null)
    return vars.PLAN
      ? ok(`The plan is ${vars.PLAN}, as PLAN in atrium.toml says`)
      : unknown(
          'This sign-in may not read the plan, which counts as paid: for the free plan, set PLAN = "free" in atrium.toml.',
          plans,
        );
  if (paid) return ok("The plan is paid");
  return vars.PLAN === "paid"
    ? failed('PLAN is "paid" in atrium.toml, but the account has the free plan: remove the setting.', plans)
    : ok('The plan is free, so PLAN is "free"', { PLAN: "free" });
}

async function checkNamespace(
  { id, ask, dashboard }: Account,
  { vars = {}, dispatch_namespaces: [dispatcher] = [] }: Config,
): Promise<Finding | null> {
  if (dispatcher === undefined) return null;
  const { namespace } = dispatcher;
  try {
    await ask(`/accounts/${id}/workers/dispatch/namespaces/${namespace}`);
    const settings = vars.WORKFLOWS_CF_ACCOUNT_ID ? {} : { WORKFLOWS_CF_ACCOUNT_ID: id };
    return ok(`Workers for Platforms: ${namespace}`, settings);
  } catch (error) {
    if (!(error instanceof Refusal) || error.isForbidden) throw error;
    return error.status === 404
      ? failed(
          `The dispatch namespace ${namespace} is missing: create it with npx wrangler dispatch-namespace create ${namespace}.`,
          `${dashboard}/workers-for-platforms`,
        )
      : failed(
          'WORKFLOWS = "dispatch-namespace" needs Workers for Platforms: buy it, or remove the setting from atrium.toml.',
          `${dashboard}/workers-for-platforms`,
        );
  }
}

interface Check {
  /** The permission that the check and the deployment need, in Cloudflare's words. */
  readonly permission: string;
  /** The subject of the refusal. */
  readonly subject: string;
  readonly run: (account: Account, config: Config) => Promise<Finding | null>;
}

const CHECKS: readonly Check[] = [
  { permission: "Workers Scripts Write", subject: "The Worker", run: checkWorker },
  { permission: "D1 Write", subject: "D1", run: checkDatabases },
  { permission: "Workers R2 Storage Write", subject: "R2", run: checkBucket },
  { permission: "Workers Scripts Write", subject: "workers.dev", run: checkAddress },
  { permission: "Billing Read", subject: "The plan", run: checkPlan },
  { permission: "Workers Scripts Write", subject: "The dispatch namespace", run: checkNamespace },
];

async function runCheck(
  { permission, subject, run }: Check,
  account: Account,
  config: Config,
): Promise<Finding | null> {
  try {
    return await run(account, config);
  } catch (error) {
    if (error instanceof Refusal && error.isForbidden)
      return failed(
        `${subject} is closed to this sign-in: give the token the permission "${permission}", or run npx wrangler login again.`,
        TOKENS,
      );
    if (error instanceof Refusal)
      return unknown(`${subject} could not be checked: ${error.message} [${error.code}]`);
    if (error instanceof z.ZodError)
      return unknown(`${subject} could not be checked: Cloudflare's answer is not as expected`);
    throw error;
  }
}

const accounts = z.array(z.object({ id: z.string(), name: z.string() }));

/** Whether Cloudflare knows the token at all: one of a person, or one of the account. */
async function isValidToken(ask: Ask, id: string | undefined): Promise<boolean> {
  const paths = ["/user/tokens/verify", ...(id === undefined ? [] : [`/accounts/${id}/tokens/verify`])];
  const answers = await Promise.all(paths.map((path) => ifAnswered(ask(path))));
  return answers.some((answer) => z.object({ status: z.literal("active") }).safeParse(answer).success);
}

/** The account of the sign-in, or why there is none. */
async function findAccount(
  wrangler: Wrangler,
  { account_id }: Config,
  { retry }: Steps,
  stop: AbortSignal,
): Promise<{ readonly finding: Finding; readonly account?: Account }> {
  let ask: Ask;
  try {
    ask = await connect(wrangler, retry, stop);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const reason = /not logged in/i.test(error.message) ? "" : ` (${error.message.replace(/\.$/, "")})`;
    return {
      finding: failed(
        `You are not signed in to Cloudflare${reason}: run npx wrangler login; in CI, set CLOUDFLARE_API_TOKEN.`,
        TOKENS,
      ),
    };
  }
  const chosen = account_id ?? (process.env.CLOUDFLARE_ACCOUNT_ID || undefined);
  let listed: z.infer<typeof accounts> = [];
  try {
    listed = accounts.parse(await ask("/accounts?per_page=50"));
  } catch (error) {
    if (error instanceof z.ZodError || (error instanceof Refusal && error.isOutage)) {
      const reason = error instanceof Refusal ? error.message : "its answer is not as expected";
      throw new CommandError(`Cloudflare's API lists no accounts at the moment: ${reason}.`);
    }
    if (!(error instanceof Refusal)) throw error;
    if (!(await isValidToken(ask, chosen)))
      return {
        finding: failed(
          `Cloudflare refuses this sign-in (${error.message}): run npx wrangler login again; in CI, replace CLOUDFLARE_API_TOKEN.`,
          TOKENS,
        ),
      };
  }
  const [only] = listed;
  const id = chosen ?? (listed.length === 1 ? only?.id : undefined);
  const found = listed.find((each) => each.id === id);
  if (id === undefined || (found === undefined && only !== undefined)) {
    const problem =
      only === undefined
        ? "lists no account"
        : id === undefined
          ? "has several accounts"
          : `has no account ${id}`;
    const list = listed.map((each) => `\n      ${each.id}  ${each.name}`).join("");
    return {
      finding: failed(
        `This sign-in ${problem}: set CLOUDFLARE_ACCOUNT_ID in atrium.toml to the ID of the right one.${list}`,
        "https://developers.cloudflare.com/fundamentals/account/find-account-and-zone-ids/",
      ),
    };
  }
  const databases = ask(`/accounts/${id}/d1/database?per_page=1000`).then((found) =>
    z.array(z.object({ name: z.string(), uuid: z.string() })).parse(found),
  );
  databases.catch(() => undefined); // the checks that need them say so
  return {
    finding: ok(`Signed in to the account ${found === undefined ? id : `${found.name} (${id})`}`),
    account: { id, ask, databases, dashboard: `https://dash.cloudflare.com/${id}` },
  };
}

/** Finds the account, and runs all checks at once. Throws a CommandError while Cloudflare does not answer. */
async function runChecks(wrangler: Wrangler, config: Config, steps: Steps, stop: AbortSignal) {
  const { finding, account } = await findAccount(wrangler, config, steps, stop);
  const others =
    account === undefined ? [] : await Promise.all(CHECKS.map((check) => runCheck(check, account, config)));
  return { findings: [finding, ...others.filter((each) => each !== null)], account };
}

const MARKS = { ok: "✓", failed: "✗", unknown: "?" };

/**
 * Prints a line for each check of the account. Returns the account's ID and the settings that the checks chose. Throws a
 * CommandError if one has failed.
 */
export async function checkAccount(
  wrangler: Wrangler,
  config: Config,
  steps: Steps,
  stop: AbortSignal,
): Promise<{ readonly accountId: string; readonly settings: Readonly<Record<string, string>> }> {
  const { findings, account } = await runChecks(wrangler, config, steps, stop).catch((error: unknown) => {
    if (!(error instanceof CommandError)) throw error;
    throw new CommandError(`${error.message} Nothing was created. Run npm run deploy again.`);
  });
  for (const { state, sentence, link } of findings) {
    steps.print(`${MARKS[state]} ${sentence}`);
    if (link !== undefined) steps.print(`  ${link}`);
  }
  const count = findings.filter(({ state }) => state === "failed").length;
  if (account === undefined || count > 0) {
    const subject = count === 1 ? "One check has" : `${count} checks have`;
    throw new CommandError(
      `${subject} failed (✗), so nothing was created. Run npm run deploy again afterwards.`,
    );
  }
  return { accountId: account.id, settings: Object.assign({}, ...findings.map(({ settings }) => settings)) };
}
