/** A service whose thread is occupied is killed and comes back; a waiting service and a slow machine are not affected. */
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { listGroup, parseTime } from "../../../src/cli/process/supervisor.ts";
import { runEveryMinute } from "../../../src/cli/service/development.ts";
import { watch } from "../../../src/cli/service/watchdog.ts";
import { eventually, run } from "./processes.ts";

const LIMIT_MS = 1_000;

/**
 * Answers, unless it was asked to occupy its thread (`/spin`), to have a third of it for a while (`/slow`), or to leave
 * requests unanswered (`/wait`).
 */
const PROGRAM = `
  const cell = new Int32Array(new SharedArrayBuffer(4));
  function work(share, ms) {
    const end = Date.now() + ms;
    while (Date.now() < end) {
      const pause = Date.now() + 100 * share;
      while (Date.now() < pause);
      Atomics.wait(cell, 0, 0, 100 * (1 - share));
    }
  }
  let isWaiting = false;
  const server = require("node:http").createServer((request, response) => {
    if (request.url === "/spin") for (;;);
    if (request.url === "/slow") work(0.35, 2300);
    if (request.url === "/wait") isWaiting = true;
    if (!isWaiting || request.url === "/wait") response.end();
  });
  server.listen(0, "127.0.0.1", () => process.send(server.address().port));
`;

/** A program in a process group of its own, and its watchdog. */
interface Program {
  readonly child: ChildProcess;
  readonly url: string;
  /** The name of its program, as `ps` reports it. */
  readonly name: string;
  readonly watching: Promise<void>;
  /** How often the watchdog has killed it. */
  kills: number;
  /** The watchdog's reason for each kill. */
  readonly reasons: string[];
}

let children: ChildProcess[] = [];
let stop: AbortController;
beforeEach(() => {
  stop = new AbortController();
  return () => {
    stop.abort();
    for (const child of children) child.kill("SIGKILL");
    children = [];
  };
});

async function watchProgram(limitMs = LIMIT_MS): Promise<Program> {
  const stdio: StdioOptions = ["ignore", "inherit", "inherit", "ipc"];
  const child = spawn(process.execPath, ["-e", PROGRAM], { detached: true, stdio });
  children.push(child);
  const [port] = await once(child, "message");
  const url = `http://127.0.0.1:${port}`;
  const pid = child.pid ?? 0;
  const name = (await run("ps", ["-p", String(pid), "-o", "comm="])).stdout.trim().split("/").at(-1) ?? "";
  const restart = (stuck: number, why: string) => {
    program.kills += 1;
    program.reasons.push(why);
    process.kill(stuck, "SIGKILL");
  };
  const watching = watch({ url, groupId: pid, program: name }, restart, stop.signal, limitMs);
  watching.catch(() => undefined);
  const program: Program = { child, url, name, watching, kills: 0, reasons: [] };
  return program;
}

const wasKilled = ({ child, kills }: Program): boolean => child.signalCode === "SIGKILL" && kills === 1;
const isAlive = ({ child, kills }: Program): boolean => child.signalCode === null && kills === 0;

describe("the watchdog", () => {
  it("kills a process whose thread is occupied", async () => {
    const program = await watchProgram();
    fetch(`${program.url}/spin`).catch(() => undefined);
    await eventually("it is killed", () => wasKilled(program));
    const why = "used 1 s of processor time without an answer: its watchdog restarts it.";
    expect(program.reasons).toEqual([`The service ${why}`]);
  });

  it("leaves alone a process that gets little processor time, and so answers late", async () => {
    const starved = await watchProgram(2 * LIMIT_MS);
    expect((await fetch(`${starved.url}/slow`)).status).toBe(200);
    expect(isAlive(starved)).toBe(true);
  });

  it("kills a process that is paused, but not one that waits", async () => {
    const waiting = await watchProgram();
    await fetch(`${waiting.url}/wait`);
    for (let round = 0; round < 2; round += 1) {
      const stopped = await watchProgram();
      stopped.child.kill("SIGSTOP");
      await eventually("it is killed", () => wasKilled(stopped));
    }
    expect(isAlive(waiting)).toBe(true);
  });

  it("restarts its time limit when it was itself delayed", async () => {
    const program = await watchProgram();
    program.child.kill("SIGSTOP");
    const cell = new Int32Array(new SharedArrayBuffer(4));
    for (let pauses = 0; pauses < 12; pauses += 1) {
      Atomics.wait(cell, 0, 0, LIMIT_MS / 3);
      await new Promise((resolve) => setImmediate(resolve));
    }
    program.child.kill("SIGCONT");
    expect((await fetch(program.url)).status).toBe(200);
    expect(isAlive(program)).toBe(true);
  });

  it("stops when its signal aborts", async () => {
    const program = await watchProgram();
    stop.abort();
    await expect(program.watching).rejects.toThrow("aborted");
    expect(isAlive(program)).toBe(true);
  });
});

describe("the processes of a process group", () => {
  it("are listed by the name of their program", async () => {
    const { child, name } = await watchProgram();
    const [listed, ...others] = await listGroup(child.pid ?? 0, name);
    expect(others).toEqual([]);
    expect(listed).toMatchObject({ pid: child.pid, isStopped: false });
    expect(await listGroup(child.pid ?? 0, "another")).toEqual([]);
  });

  it("have a processor time, in every format that ps prints", () => {
    const times = ["00:00:01", "0:01.50", "01:01:01", "2-00:00:01"].map(parseTime);
    expect(times).toEqual([1_000, 1_500, 3_661_000, 2 * 86_400_000 + 1_000]);
  });
});

describe("When a service on one machine runs its scheduled tasks", () => {
  const NEVER = new AbortController().signal;

  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("runs them at its start and then every minute, even after one that fails", async () => {
    const failures: unknown[] = [];
    let runs = 0;
    const tasks = async () => {
      runs += 1;
      if (runs === 2) throw new Error("the service restarts");
    };
    runEveryMinute(tasks, (error) => failures.push(error), NEVER);
    expect(runs).toBe(1);
    await vi.advanceTimersByTimeAsync(59_999);
    expect(runs).toBe(1);
    await vi.advanceTimersByTimeAsync(60_001);
    expect(runs).toBe(3);
    expect(failures).toEqual([new Error("the service restarts")]);
  });

  it("waits for a run that takes longer", async () => {
    let runs = 0;
    let finish = () => {};
    const tasks = () => {
      runs += 1;
      return new Promise<void>((resolve) => {
        finish = resolve;
      });
    };
    runEveryMinute(tasks, () => {}, NEVER);
    await vi.advanceTimersByTimeAsync(180_000);
    expect(runs).toBe(1);
    finish();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(runs).toBe(2);
  });

  it("ends with the service, and reports no run that ends with it", async () => {
    const failures: unknown[] = [];
    const ending = new AbortController();
    let runs = 0;
    let fail = (_: Error) => {};
    const tasks = () => {
      runs += 1;
      return new Promise<void>((_, reject) => {
        fail = reject;
      });
    };
    runEveryMinute(tasks, (error) => failures.push(error), ending.signal);
    ending.abort();
    fail(new Error("the instance is disposed"));
    await vi.advanceTimersByTimeAsync(180_000);
    expect(runs).toBe(1);
    expect(failures).toEqual([]);
  });
});
