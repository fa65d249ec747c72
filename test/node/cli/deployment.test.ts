/** The steps of `npm run deploy`, as they ask wrangler to do them. `npm run deployment` tries them with wrangler itself. */
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import v8 from "node:v8";
import { TokenBucket } from "@atrium/contract/pacing/token-bucket.ts";
import { describe, expect, it, onTestFinished } from "vitest";
import { unstable_readConfig as readConfig } from "wrangler";
import * as z from "zod";
import {
  buildOnly,
  describePlan,
  ensureDatabases,
  explainRefusal,
  publish,
} from "../../../src/cli/deployment.ts";
import { type DataLocation, ensureBucket, locationIn } from "../../../src/cli/deployment-location.ts";
import { describeMissing, missingSecrets } from "../../../src/cli/deployment-secrets.ts";
import { print } from "../../../src/cli/package/declarations.ts";
import { CommandError } from "../../../src/cli/process/command.ts";
import { Steps } from "../../../src/cli/process/steps.ts";
import { latestLine, type Wrangler } from "../../../src/cli/process/wrangler.ts";
import { DEVELOPMENT } from "../../../src/cli/service/development.ts";
import { signUpPolicy } from "../../../src/platform/config.ts";
import { readSetting, type Settings } from "../../../src/platform/settings.ts";
import { MessageQueue } from "../../../src/room/engine/message-queue.ts";
import { RoomConnections } from "../../../src/room/transport/connections.ts";
import { joinedSocket } from "../../room/support/joined-socket.ts";
import { ROOT } from "./processes.ts";

const AUTOMATIC: DataLocation = { location: "", jurisdiction: "" };
const NAMES = { worker: "atrium", databases: ["atrium", "atrium-2"], bucket: "atrium-files" };

/** The path of a file that does not exist yet. */
async function newFile(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "atrium-secrets-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return path.join(folder, "atrium.secrets.toml");
}

/** Answers as wrangler does, and notes the commands. */
const answering = (answers: Record<string, string | Error>) => {
  const commands: string[] = [];
  const wrangler: Wrangler = async (args) => {
    commands.push(args.join(" "));
    const [, answer = ""] =
      Object.entries(answers).find(([command]) => args.join(" ").startsWith(command)) ?? [];
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { commands, wrangler };
};

it("each database is created when there is none of its name, and then kept", async () => {
  const ensure = async (list: string, location: DataLocation) => {
    const { commands, wrangler } = answering({ "d1 list": list });
    return { created: await ensureDatabases(wrangler, NAMES, location), commands };
  };
  expect(await ensure('[{"name":"another"}]', AUTOMATIC)).toEqual({
    created: ["atrium", "atrium-2"],
    commands: ["d1 list --json", "d1 create atrium", "d1 create atrium-2"],
  });
  expect(await ensure('[{"name":"atrium"}]', { ...AUTOMATIC, jurisdiction: "eu" })).toEqual({
    created: ["atrium-2"],
    commands: ["d1 list --json", "d1 create atrium-2 --jurisdiction eu"],
  });
  expect(await ensure('[{"name":"atrium-2"},{"name":"atrium"}]', AUTOMATIC)).toEqual({
    created: [],
    commands: ["d1 list --json"],
  });
});

it("a database whose creation has lost its answer is not created again", async () => {
  const names: string[] = [];
  const wrangler: Wrangler = async ([, verb, name = ""]) => {
    if (verb === "list") return JSON.stringify(names.map((each) => ({ name: each })));
    if (names.includes(name)) throw new CommandError(`A database with the name ${name} already exists.`);
    names.push(name);
    if (names.length === 1) throw new CommandError("wrangler failed: fetch failed");
    return "";
  };
  const steps = new Steps(new AbortController().signal, { write: () => true });
  await steps.run("Creating", () => ensureDatabases(wrangler, NAMES, AUTOMATIC));
  expect(names).toEqual(NAMES.databases);
});

describe("the location of a deployment", () => {
  it("is a place or a jurisdiction", () => {
    expect(locationIn({})).toEqual(AUTOMATIC);
    expect(locationIn({ LOCATION: "weur", JURISDICTION: "" })).toEqual({
      location: "weur",
      jurisdiction: "",
    });
    expect(() => locationIn({ LOCATION: "weur", JURISDICTION: "eu" })).toThrow(
      /^LOCATION and JURISDICTION are/,
    );
  });

  it("places the bucket, which wrangler creates otherwise, and keeps one that is there", async () => {
    const [none, first] = [answering({}), answering({})];
    await ensureBucket(none.wrangler, "files", AUTOMATIC);
    expect(none.commands).toEqual([]);
    await ensureBucket(first.wrangler, "files", { location: "weur", jurisdiction: "" });
    expect(first.commands).toEqual(["r2 bucket create files --location weur"]);
    const answers = (message: string) =>
      answering({ "r2 bucket create": new CommandError(message) }).wrangler;
    const place = { location: "", jurisdiction: "eu" };
    await ensureBucket(answers("The bucket exists already, and you own it. [code: 10004]"), "files", place);
    await expect(ensureBucket(answers("Enable R2. [code: 10042]"), "files", place)).rejects.toThrow("10042");
  });
});

it("secrets are made for a Worker that lacks them or does not exist, and never replaced", async () => {
  const environment = {};
  const listing = async (answer: string | Error) => {
    const file = await newFile();
    const { wrangler } = answering({ "secret list": answer });
    return (await missingSecrets(wrangler, "atrium", { environment, file })).values;
  };
  const missing = new CommandError(
    "wrangler failed: This Worker does not exist on your account. [code: 10007]",
  );
  const unknown = new CommandError(
    'wrangler failed: Worker "atrium" not found. If this is a new Worker, run `wrangler deploy` first to create it.',
  );
  for (const answer of ["[]", '[{"name":"TURNSTILE_SECRET_KEY"}]', missing, unknown]) {
    const made = await listing(answer);
    expect(made).toEqual({ JWT_SECRET: expect.any(String), VAPID_PRIVATE_KEY: expect.any(String) });
    for (const secret of Object.values(made)) expect(secret).toMatch(/^[\w-]{43}$/);
  }
  expect(Object.keys(await listing('[{"name":"JWT_SECRET"}]'))).toEqual(["VAPID_PRIVATE_KEY"]);
  expect(await listing('[{"name":"JWT_SECRET"},{"name":"VAPID_PRIVATE_KEY"}]')).toEqual({});
  for (const text of ["Authentication error [code: 10000]", "Received a malformed response: Not Found"]) {
    const refused = new CommandError(`wrangler failed: ${text}`);
    await expect(listing(refused)).rejects.toBe(refused);
  }
});

it("a secret that a setting needs is asked for, until the Worker has it", () => {
  const settings = {
    vars: { COPY_TO: "https://copies.example/a", TURNSTILE_SITE_KEY: "0x4", MAIL_FROM: "a@example.com" },
    dispatch_namespaces: [{ binding: "DISPATCHER", namespace: "workflows" }],
  };
  expect(describeMissing(settings, ["JWT_SECRET"])).toEqual([
    "COPY_TO needs a secret: npx wrangler secret put COPY_SECRET_ACCESS_KEY",
    "TURNSTILE_SITE_KEY needs a secret: npx wrangler secret put TURNSTILE_SECRET_KEY",
    'WORKFLOWS = "dispatch-namespace" needs a secret: npx wrangler secret put WORKFLOWS_API_TOKEN',
  ]);
  const present = ["COPY_SECRET_ACCESS_KEY", "TURNSTILE_SECRET_KEY", "WORKFLOWS_API_TOKEN"];
  expect(describeMissing(settings, present)).toEqual([]);
  expect(describeMissing({ vars: { COPY_TO: "" } }, [])).toEqual([]);
});

it("progress shows what wrangler does, without its asides and its drawings", () => {
  const aside =
    "(truncating changed assets log, set `WRANGLER_LOG=debug` environment variable to see full diff)";
  expect(latestLine(`Uploaded 3 of 12 assets\n  ${aside}\n─────\n`)).toBe("Uploaded 3 of 12 assets");
  expect(latestLine(`${aside}\n\n`)).toBeUndefined();
});

it("the operator has a copy of new secrets before a Worker has them, for each deployment by its name", async () => {
  const file = await newFile();
  const { wrangler } = answering({ "secret list": "[]" });
  const find = (name: string, environment: NodeJS.ProcessEnv = {}) =>
    missingSecrets(wrangler, name, { environment, file });
  const first = await find("atrium");
  expect(first.copiedTo).toBe("atrium.secrets.toml");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await find("atrium"), "a run that was interrupted goes on with them").toEqual({
    values: first.values,
    present: [],
    copiedTo: null,
  });
  const given = "a secret from the environment, which is long enough";
  const other = await find("other", { ATRIUM_JWT_SECRET: given });
  expect(other.values.JWT_SECRET).toBe(given);
  const kept = await readFile(file, "utf8");
  expect(kept).not.toContain(given);
  for (const secret of [...Object.values(first.values), other.values.VAPID_PRIVATE_KEY])
    expect(kept).toContain(secret);
  await expect(find("third", { ATRIUM_JWT_SECRET: "short" })).rejects.toThrow(/^ATRIUM_JWT_SECRET: /);
  await writeFile(file, "not toml");
  await expect(find("atrium")).rejects.toThrow("move it away");
});

it("publishing passes secrets in a file that only its owner reads and that is gone afterwards, and returns the addresses", async () => {
  const seen: { file: string; mode: number; content: string; command: string }[] = [];
  const wrangler: Wrangler = async (args, env = {}) => {
    const file = args[args.indexOf("--secrets-file") + 1] ?? "";
    const { mode } = await stat(file);
    seen.push({ file, mode: mode & 0o777, content: await readFile(file, "utf8"), command: args.join(" ") });
    const report = {
      type: "deploy",
      targets: ["https://atrium.example.workers.dev", "schedule: * * * * *"],
    };
    await writeFile(
      env.WRANGLER_OUTPUT_FILE_PATH ?? "",
      `{"type":"wrangler-session"}\n${JSON.stringify(report)}\n`,
    );
    return "";
  };
  expect(await publish(wrangler, { JWT_SECRET: "a secret" })).toEqual(["https://atrium.example.workers.dev"]);
  expect(seen).toMatchObject([{ mode: 0o600, content: '{"JWT_SECRET":"a secret"}' }]);
  expect(seen[0]?.command).not.toContain("a secret");
  await expect(stat(seen[0]?.file ?? "")).rejects.toMatchObject({ code: "ENOENT" });
});

it("a refusal that the checks could not foresee has its reason, a remedy, and the way to go on", () => {
  const onward = "The deployment is not complete. Run npm run deploy again: it goes on where it ended.";
  const explain = (message: string) => explainRefusal(new CommandError(message)).split("\n");
  for (const [message, remedy] of [
    ["Authentication error [code: 10000]", /^Give the token the permissions "Workers Scripts Write", /],
    ["R2 binding error: Please enable R2 [code: 10136]", /^Enable R2 .* or set FILES = "off"/],
    ["binding LOADER of type worker_loader is invalid [code: 10021]", /^WORKFLOWS = .* the paid plan/],
  ] as const)
    expect(explain(message)).toEqual([message, expect.stringMatching(remedy), onward]);
  expect(explain("No remedy")).toEqual(["No remedy", onward]);
});

describe("a dry run", () => {
  const plan = { names: NAMES, organization: "Acme", migrations: ["0000_a.sql", "0001_b.sql"], runners: [] };

  it("builds the Worker and asks Cloudflare nothing", async () => {
    const { commands, wrangler } = answering({ deploy: "…\nTotal Upload: 1234.5 KiB / gzip: 345.6 KiB\n…" });
    expect(await buildOnly(wrangler)).toBe("1234.5 KiB / gzip: 345.6 KiB");
    expect(commands).toEqual(["deploy --minify --dry-run"]);
  });

  it("says what would be created, applied and published, and what workflows lack", () => {
    const text = describePlan(plan, "1 KiB");
    expect(text).toContain(
      "the databases atrium, atrium-2, the bucket atrium-files and the secrets JWT_SECRET and VAPID_PRIVATE_KEY",
    );
    expect(text).toContain("2 migrations, up to 0001_b.sql");
    expect(describePlan({ ...plan, migrations: ["0000_a.sql"] }, null)).toContain("1 migration, up to");
    expect(text).toContain("the Worker atrium (1 KiB)");
    expect(text).toContain("Workflows would not run: ");
    expect(describePlan({ ...plan, runners: ["LOADER"] }, null)).toContain("Workflows run by LOADER.");
    expect(describePlan({ ...plan, names: { ...NAMES, bucket: null } }, null)).not.toContain("bucket");
  });
});

// Configuration in wrangler.toml, and the differences of `npm start`.

const config = readConfig({ config: path.join(ROOT, "wrangler.toml") }, { hideWarnings: true });
const vars = config.vars as Settings;

describe("a deployment", () => {
  it("names its resources, which wrangler creates or finds: there are no ids to fill in", () => {
    expect(config.d1_databases).toMatchObject([{ binding: "DB", database_name: "atrium" }]);
    expect(config.d1_databases[0]?.database_id).toBe(undefined);
    expect(config.r2_buckets).toMatchObject([{ binding: "FILES", bucket_name: "atrium-files" }]);
    expect(JSON.stringify(config)).not.toMatch(/0{8}/);
  });

  it("needs neither a dispatch namespace nor a Worker Loader; `npm start` has workflows without any set-up", () => {
    expect([config.dispatch_namespaces, config.worker_loaders]).toEqual([[], []]);
    expect(DEVELOPMENT.bindings).toEqual({ workerLoaders: { LOADER: {} } });
  });

  it("lets people sign up by invitation only, until the operator opens it; `npm start` is open", () => {
    expect(signUpPolicy(vars)).toEqual({ type: "invite" });
    expect(signUpPolicy({ ...DEVELOPMENT.settings, ...vars })).toEqual({ type: "open" });
  });

  it("lets webhooks and workflows reach public hosts only: the configuration has no development settings", () => {
    expect(Object.keys(vars).filter((name) => name.endsWith("_DEV_TARGETS"))).toEqual([]);
    expect([readSetting(vars, "WEBHOOK_DEV_TARGETS"), readSetting(vars, "WORKFLOW_DEV_TARGETS")]).toEqual([
      [],
      [],
    ]);
  });
});

// A room that never rests keeps nothing of sockets that have come and gone.

const joined = (id: string) => joinedSocket({ id, tokenExpiresAt: Number.POSITIVE_INFINITY });

// The budget of each socket was kept until a thousand users had been there: one who came back all day filled the room.
it("the budgets of sockets go with them, however few users there are", () => {
  const connections = new RoomConnections();
  let now = 0;
  const queue = new MessageQueue({ now: () => now, answerableIn: () => 0 }, connections);
  for (let count = 0; count < 1_000; count += 1) {
    now += 100;
    const socket = joined(`socket ${count}`);
    connections.put(socket);
    queue.countFrame(socket, 1);
    connections.remove(socket.id);
  }
  expect(v8.queryObjects(TokenBucket, { format: "count" })).toBeLessThan(200);
  expect(queue.nextIn()).toBeNull(); // the queue still exists
});

// The TypeScript types that the package has in place of schemas.

it("a description that has the end of a comment in it ends no comment", () => {
  const schema = z.object({ cron: z.string().meta({ description: "A step such as `*/15`." }) });
  const printed = print(schema, { direction: "output", nameOf: () => null, indent: "" });
  expect(printed).toBe("{\n  /** A step such as `*\\/15`. */\n  readonly cron: string;\n}");
});
