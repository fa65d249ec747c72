/** However `npm start` ends, all of its processes end, and its port is free for the next start. */
import { spawn } from "node:child_process";
import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { findPortProblem } from "../../../src/cli/service/reservation.ts";
import { allGone, eventually, findFreePort, processTree, ROOT, run } from "./processes.ts";
import { type Service, type StartOptions, startService } from "./service.ts";
import { preparedState } from "./shared-service.ts";

interface Container {
  /** The command, with the state folder in place of the volume and another port. */
  readonly command: (persistTo: string, port: number) => readonly string[];
  readonly health: (port: number) => readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  readonly user: string;
  readonly volume: string;
}

const stringsIn = (json: string): readonly string[] => JSON.parse(json) as readonly string[];

async function readContainer(): Promise<Container> {
  const text = (await readFile(path.join(ROOT, "Dockerfile"), "utf8")).replaceAll("\\\n", " ");
  const instruction = (name: string): string => {
    const found = [...text.matchAll(new RegExp(`^${name} (.+)$`, "gm"))].at(-1)?.[1];
    if (found === undefined) throw new Error(`The Dockerfile has no ${name}`);
    return found;
  };
  const [volume, port] = [instruction("VOLUME"), instruction("EXPOSE")];
  const health = /CMD (\[.+\])$/.exec(instruction("HEALTHCHECK"))?.[1] ?? "[]";
  const variables = instruction("ENV")
    .split(" ")
    .map((pair) => pair.split("="));
  return {
    command: (persistTo, other) => [
      ...stringsIn(instruction("CMD")).map((part) => (part === volume ? persistTo : part)),
      ...["--port", String(other)],
    ],
    health: (other) => stringsIn(health).map((part) => part.replaceAll(port, String(other))),
    variables: Object.fromEntries(variables),
    user: instruction("USER"),
    volume,
  };
}

/** Stopping takes less than a second; a busy machine may need more. */
const LIMIT_MS = 30_000;
const START_LIMIT_MS = 180_000;

let running: Service | undefined;

const persistTo = await mkdtemp(path.join(tmpdir(), "atrium-stop-"));
await cp(await preparedState(), persistTo, { recursive: true });

afterEach(async () => {
  await running?.kill();
  running = undefined;
});
afterAll(() => rm(persistTo, { recursive: true, force: true }));

type Command = StartOptions["command"];
type End = (service: Service) => unknown;

async function start(command?: Command): Promise<Service> {
  running = await startService({ persistTo, ...(command === undefined ? {} : { command }) });
  return running;
}

/** Starts the service, and ends it as {@link endAndCheck} does. */
const startAndEnd = async (command: Command, end: End): Promise<number | null> =>
  endAndCheck(await start(command), end);

/** Ends a service, and checks that nothing remains; returns the exit code. */
async function endAndCheck(service: Service, end: End): Promise<number | null> {
  const pids = processTree(service.pid).map(({ pid }) => pid);
  expect(pids.length).toBeGreaterThan(2);
  await end(service);
  await allGone(pids, LIMIT_MS);
  await eventually("the port is free", async () => (await findPortProblem(service.port)) === null, LIMIT_MS);
  expect(service.stderr()).toBe("");
  return service.ended;
}

/** The processes of the tree whose command line contains the text. */
const pidsOf = (service: Service, text: string): number[] =>
  processTree(service.pid).flatMap(({ pid, command }) => (command.includes(text) ? [pid] : []));

const kill = (pids: readonly number[]) => {
  for (const pid of pids) process.kill(pid, "SIGKILL");
};

describe("a signal to the command", () => {
  it("ends it with exit code 0 on SIGINT, and frees its port for the next start at once, which ends on SIGHUP", async () => {
    const { port, stop } = await start();
    expect(await stop("SIGINT")).toBe(0);
    running = await startService({ persistTo, port });
    expect((await fetch(`${running.url}/docs`)).status).toBe(200);
    expect(await endAndCheck(running, (next) => next.stop("SIGHUP"))).toBe(0);
  });

  it("ends it when sent twice in a row, as when Ctrl-C is pressed twice", async () => {
    const exitCode = await startAndEnd(undefined, ({ pid }) => {
      process.kill(-pid, "SIGINT");
      process.kill(-pid, "SIGINT");
    });
    expect(exitCode).toBe(0);
  });
});

it("the container serves at all addresses, closed, is healthy, and ends with exit code 0 on SIGTERM", async () => {
  const container = await readContainer();
  expect([container.user, container.volume]).toEqual(["node", "/data"]);
  const variables = Object.entries(container.variables).map(([name, value]) => `${name}=${value}`);
  const inContainer: Command = ([, port = "", , folder = ""]) => [
    "env",
    ...variables,
    ...container.command(folder, Number(port)),
  ];
  const exitCode = await startAndEnd(inContainer, async ({ port, url, stop }) => {
    const [program = "", ...args] = container.health(port);
    expect((await run(program, args)).exitCode).toBe(0);
    // Another address than those that `localhost` means.
    expect((await fetch(`http://127.0.0.2:${port}/health`)).status).toBe(200);
    const policy = await fetch(`${url}/dashboard/api/sign-up`, { headers: { Origin: url } });
    expect(await policy.json()).toMatchObject({ data: { type: "invite" } });
    expect((await fetch(`${url}/demo/visitors`, { method: "POST" })).status).toBe(404);
    await stop("SIGTERM");
  });
  expect(exitCode).toBe(0);
});

describe("SIGKILL", () => {
  it("of the command ends its processes too", async () => {
    expect(await startAndEnd(undefined, ({ pid }) => kill([pid]))).toBeNull();
  });

  it("of every Node.js process ends workerd too", async () => {
    await startAndEnd(undefined, (service) => kill(pidsOf(service, "src/cli/")));
  });

  it("of the serving process makes the command fail with one line", async () => {
    const service = await start();
    const pids = processTree(service.pid).map(({ pid }) => pid);
    kill(pidsOf(service, "service/host.ts"));
    expect(await service.ended).toBe(1);
    expect(service.stderr()).toBe("The service has ended unexpectedly (killed).\n");
    await allGone(pids, LIMIT_MS);
  });
});

describe("under npm", () => {
  const npm: Command = (options) => ["npm", "start", "--loglevel=silent", "--", ...options];

  it("ends on SIGTERM to npm", () => startAndEnd(npm, ({ stop }) => void stop("SIGTERM")));
  it("ends on SIGTERM to the process group", () =>
    startAndEnd(npm, ({ pid }) => process.kill(-pid, "SIGTERM")));
  it("ends on SIGKILL of npm", () => startAndEnd(npm, ({ pid }) => kill([pid])));
  it("ends on SIGKILL of the process group", () =>
    startAndEnd(npm, ({ pid }) => process.kill(-pid, "SIGKILL")));
  it("ends when Ctrl-C is pressed twice", () =>
    startAndEnd(npm, ({ pid }) => {
      process.kill(-pid, "SIGINT");
      process.kill(-pid, "SIGINT");
    }));
});

it("closing the terminal ends it", async () => {
  // `script` runs the command in a terminal of its own, which closes when `script` ends.
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const inTerminal: Command = (options) => [
    "script",
    "-qec",
    `exec npm start --loglevel=silent -- ${options.map(quote).join(" ")}`,
    "/dev/null",
  ];
  await startAndEnd(inTerminal, ({ pid }) => kill([pid]));
});

it("a start that is killed while the tables are made leaves nothing behind", async () => {
  const empty = await mkdtemp(path.join(tmpdir(), "atrium-stop-"));
  const args = [
    path.join(ROOT, "src/cli/start.ts"),
    "--port",
    String(await findFreePort()),
    "--persist-to",
    empty,
  ];
  const command = spawn(process.execPath, args, { stdio: "ignore" });
  const pid = command.pid ?? 0;
  const tree = () => processTree(pid);
  const isMigrating = () => tree().some((child) => child.command.includes("local-database"));
  await eventually("the tables are made", isMigrating, START_LIMIT_MS);
  const pids = tree().map((child) => child.pid);
  kill([pid]);
  await allGone(pids, LIMIT_MS);
  await rm(empty, { recursive: true });
});
