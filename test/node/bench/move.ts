/** The move bench: an organization goes from one of three databases to another, under a running `npm start`, while its users write. */
import { readFile, writeFile } from "node:fs/promises";
import { AtriumServer } from "atrium/server";
import { CommandError } from "../../../src/cli/process/command.ts";
import { type Checkout, copyCheckout } from "../cli/checkout.ts";
import { runCli } from "../cli/processes.ts";
import { type Service, startService } from "../cli/service.ts";
import { median } from "./load.ts";
import { Probe } from "./move/probe.ts";
import { Writers } from "./move/writers.ts";
import type { Bench, BenchOptions, BenchReport } from "./run.ts";
import { count, table } from "./table.ts";

const USERS = 1_000;
const WRITERS = 20;
/** Number of requests that create users at once. */
const CREATING = 10;
const ASKED_EVERY_MS = 1_000;

export const bench: Bench = { parts: [], run };

async function run(options: BenchOptions): Promise<BenchReport> {
  const checkout = await copyCheckout();
  try {
    await bindThree(checkout);
    const service = await startService({ root: checkout.root });
    try {
      return await measure(service, checkout, options);
    } finally {
      await service.stop();
    }
  } finally {
    await checkout.remove();
  }
}

async function bindThree({ at }: Checkout): Promise<void> {
  const file = at("wrangler.toml");
  const further = [2, 3].map(
    (number) => `[[d1_databases]]
binding = "DB_${number}"
database_name = "atrium-${number}"
preview_database_id = "atrium-${number}-local"
migrations_dir = "migrations"
`,
  );
  await writeFile(file, `${await readFile(file, "utf8")}\n${further.join("\n")}`);
}

async function measure(
  service: Service,
  checkout: Checkout,
  { stop, progress }: BenchOptions,
): Promise<BenchReport> {
  const account = async (...args: string[]) => {
    const options = ["--json", "--persist-to", service.persistTo];
    const { exitCode, stdout, stderr } = await runCli("account.ts", [...args, ...options], checkout.root);
    if (exitCode !== 0) throw new CommandError(stderr);
    return JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "") as Record<string, string | null>;
  };
  progress(`Creating an organization with ${count(USERS)} users`);
  const { accountId, apiKey } = await account("create", "Moved", "--in", "DB_2");
  if (accountId == null || apiKey == null) throw new CommandError("The organization was not created");
  const atrium = new AtriumServer({ serverUrl: service.url, accountId, apiKey });
  const room = await atrium.rooms.create({ name: "The room" });
  const tokens = await createUsers(atrium, room.id);

  progress("Writing before the move");
  const writers = await Writers.join(service.url, tokens.slice(0, WRITERS));
  const probe = new Probe({ serverUrl: service.url, accountId, apiKey }, room.id);
  await writers.writeFor(5_000);
  const before = writers.takeTimes();

  progress("Moving, which begins within a minute");
  const begin = Date.now();
  await account("move", accountId, "--to", "DB_3");
  const asked = Date.now();
  writers.start();
  probe.start();
  let phase: string | null | undefined = "copying";
  while (phase !== null) {
    stop.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, ASKED_EVERY_MS));
    ({ phase } = await account("move", accountId, "--to", "DB_3"));
  }
  const complete = Date.now();
  await probe.stop();
  const during = await writers.stop();
  const lost = await writers.countLost(atrium, room.id);
  writers.leave();
  const users = await countUsers(atrium, room.id);
  const seconds = (ms: number) => (ms / 1_000).toFixed(1);
  const rows = [
    ["the command", `${seconds(asked - begin)} s`],
    [
      "from then until the move is complete, of which the cron trigger lets up to 60 s pass first",
      `${seconds(complete - asked)} s`,
    ],
    ["changes over REST are refused, with `Retry-After`", `${seconds(probe.refusedMs)} s`],
    ["reads over REST that failed, of all", `${probe.failedReads} of ${count(probe.reads)}`],
    [
      "store writes acknowledged; writers whose last one was missing afterwards",
      `${count(during.length)}; ${lost}`,
    ],
    ["a store write waits: median, longest; before", `${ms(during)}; ${ms(before)}`],
    ["users afterwards", count(users)],
  ];
  const title = `${count(USERS)} users of a room, ${WRITERS} of whom write, move from DB_2 to DB_3`;
  return { markdown: table([title, ""], rows), raw: { rows, during, before } };
}

const ms = (times: readonly number[]): string =>
  `${median(times).toFixed(1)}, ${Math.max(...times).toFixed(0)} ms`;

async function createUsers(atrium: AtriumServer, roomId: string): Promise<string[]> {
  const tokens: string[] = [];
  const names = Array.from({ length: USERS }, (_, index) => `User ${index}`);
  const create = async (): Promise<void> => {
    for (let name = names.pop(); name !== undefined; name = names.pop())
      tokens.push((await atrium.users.create({ name, roomId })).token);
  };
  await Promise.all(Array.from({ length: CREATING }, create));
  return tokens;
}

async function countUsers(atrium: AtriumServer, roomId: string): Promise<number> {
  let users = 0;
  for await (const user of atrium.users.each(roomId)) users += user.id === "" ? 0 : 1;
  return users;
}
