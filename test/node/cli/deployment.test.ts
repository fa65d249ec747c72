/** The steps of `npm run deploy`, as they ask wrangler to do them. `npm run deployment` tries them with wrangler itself. */
import { readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import v8 from "node:v8";
import { TokenBucket } from "@atrium/contract/pacing/token-bucket.ts";
import { describe, expect, it } from "vitest";
import { unstable_readConfig as readConfig } from "wrangler";
import * as z from "zod";
import {
  buildOnly,
  describePlan,
  ensureDatabases,
  missingSecrets,
  publish,
} from "../../../src/cli/deployment.ts";
import { print } from "../../../src/cli/package/declarations.ts";
import { CommandError } from "../../../src/cli/process/command.ts";
import type { Wrangler } from "../../../src/cli/process/wrangler.ts";
import { DEVELOPMENT } from "../../../src/cli/service/development.ts";
import { signUpPolicy } from "../../../src/platform/config.ts";
import { readSetting, type Settings } from "../../../src/platform/settings.ts";
import { MessageQueue } from "../../../src/room/engine/message-queue.ts";
import { RoomConnections } from "../../../src/room/transport/connections.ts";
import { joinedSocket } from "../../room/support/joined-socket.ts";
import { ROOT } from "./processes.ts";

const NAMES = { worker: "atrium", databases: ["atrium", "atrium-2"], bucket: "atrium-files" };

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
  const first = answering({ "d1 list": '[{"name":"another"}]' });
  expect(await ensureDatabases(first.wrangler, NAMES)).toEqual(["atrium", "atrium-2"]);
  expect(first.commands).toEqual(["d1 list --json", "d1 create atrium", "d1 create atrium-2"]);
  const later = answering({ "d1 list": '[{"name":"atrium-2"},{"name":"atrium"}]' });
  expect(await ensureDatabases(later.wrangler, NAMES)).toEqual([]);
  expect(later.commands).toEqual(["d1 list --json"]);
});

it("secrets are made for a Worker that lacks them or does not exist, and never replaced", async () => {
  const listing = (answer: string | Error) => missingSecrets(answering({ "secret list": answer }).wrangler);
  const missing = new CommandError(
    "wrangler failed: This Worker does not exist on your account. [code: 10007]",
  );
  for (const answer of ["[]", '[{"name":"TURNSTILE_SECRET_KEY"}]', missing]) {
    const made = await listing(answer);
    expect(made).toEqual({ JWT_SECRET: expect.any(String), VAPID_PRIVATE_KEY: expect.any(String) });
    for (const secret of Object.values(made)) expect(secret).toMatch(/^[\w-]{43}$/);
  }
  expect(Object.keys(await listing('[{"name":"JWT_SECRET"}]'))).toEqual(["VAPID_PRIVATE_KEY"]);
  expect(await listing('[{"name":"JWT_SECRET"},{"name":"VAPID_PRIVATE_KEY"}]')).toEqual({});
  const refused = new CommandError("wrangler failed: Authentication error [code: 10000]");
  await expect(listing(refused)).rejects.toBe(refused);
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
    expect(text).toContain("the Worker atrium (1 KiB)");
    expect(text).toContain("Workflows would not run: ");
    expect(describePlan({ ...plan, runners: ["LOADER"] }, null)).toContain("Workflows run by LOADER.");
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
