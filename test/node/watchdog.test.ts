/** A service whose thread is occupied is killed and comes back; a waiting service and a slow machine are not affected. */
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { beforeEach, describe, expect, it } from "vitest";
import { listGroup, parseTime } from "../../src/cli/service/process-group.ts";
import { watch } from "../../src/cli/service/watchdog.ts";
import type { WorkflowExecution } from "../../src/workflows/execution-schema.ts";
import type { Workflow } from "../../src/workflows/schema.ts";
import { Customer } from "../stories/client.ts";
import { eventually, run } from "./processes.ts";
import { type Service, startService } from "./service.ts";

const LIMIT_MS = 1_000;

/** Answers, unless it was asked to occupy its thread (`/spin`) or to leave requests unanswered (`/wait`). */
const PROGRAM = `
  let isWaiting = false;
  const server = require("node:http").createServer((request, response) => {
    if (request.url === "/spin") for (;;);
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
}

let children: ChildProcess[] = [];
let service: Service | undefined;
let stop: AbortController;
beforeEach(() => {
  stop = new AbortController();
  return async () => {
    stop.abort();
    for (const child of children) child.kill("SIGKILL");
    children = [];
    await service?.kill();
    service = undefined;
  };
});

async function watchProgram(): Promise<Program> {
  const stdio: StdioOptions = ["ignore", "inherit", "inherit", "ipc"];
  const child = spawn(process.execPath, ["-e", PROGRAM], { detached: true, stdio });
  children.push(child);
  const [port] = await once(child, "message");
  const url = `http://127.0.0.1:${port}`;
  const pid = child.pid ?? 0;
  const name = (await run("ps", ["-p", String(pid), "-o", "comm="])).stdout.trim().split("/").at(-1) ?? "";
  const onKill = () => {
    program.kills += 1;
  };
  const watching = watch({ url, groupId: pid, program: name }, onKill, stop.signal, LIMIT_MS);
  watching.catch(() => undefined);
  const program = { child, url, name, watching, kills: 0 };
  return program;
}

const wasKilled = ({ child, kills }: Program): boolean => child.signalCode === "SIGKILL" && kills === 1;
const isAlive = ({ child, kills }: Program): boolean => child.signalCode === null && kills === 0;

describe("the watchdog", () => {
  it("kills a process whose thread is occupied", async () => {
    const program = await watchProgram();
    fetch(`${program.url}/spin`).catch(() => undefined);
    await eventually("it is killed", () => wasKilled(program));
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

describe("npm start", () => {
  const programs = { linear: "/^(a+)+$/", endless: "/^(a+)+\\1$/" };
  const codeOf = (pattern: string) => `export default () => ${pattern}.test("a".repeat(40) + "b");`;

  it("runs backtracking expressions in linear time, and restarts a service that one occupies anyway", async () => {
    service = await startService();
    const customer = new Customer(service, service);
    const room = await customer.createRoom();
    const createWorkflow = async (name: keyof typeof programs): Promise<Workflow> => {
      const body = { name, code: codeOf(programs[name]), events: ["user.created"], roomId: room.id };
      return (await customer.send<{ workflow: Workflow }>("POST", "/workflows", body)).data.workflow;
    };
    const executionsOf = async ({ id }: Workflow): Promise<WorkflowExecution[]> =>
      (await customer.send<{ executions: WorkflowExecution[] }>("GET", `/workflows/${id}/executions`)).data
        .executions;

    const linear = await createWorkflow("linear");
    const ada = await customer.createUser(room.id, "Ada");
    const before = await customer.join(ada);
    expect(before.messages[0]?.success).toBe(true);
    await eventually("the run is recorded", async () => (await executionsOf(linear)).length === 1);
    expect(await executionsOf(linear)).toMatchObject([{ status: "success", result: "false" }]);
    expect(service.stderr()).toBe("");

    const endless = await createWorkflow("endless");
    customer.createUser(room.id, "Bo").catch(() => undefined); // it may or may not be answered
    await before.closed;
    const isBack = async () => (await customer.join(ada)).messages[0]?.success === true;
    await eventually("Ada has reconnected", isBack);
    await eventually("the interrupted run is recorded", async () => (await executionsOf(endless)).length > 0);
    const [execution] = await executionsOf(endless);
    expect(execution).toMatchObject({
      status: "failed",
      result: expect.stringContaining("The run was interrupted"),
    });
    expect(service.stderr().match(/^The service did not answer for 10 s and is restarted.*$/gm)).toHaveLength(
      1,
    );
  });
});
