/** Assignment of programs to processes: sharing among organizations, turns, and the end of a process. */

import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeEach, describe, expect, it } from "vitest";
import { ProgramPool } from "../../../src/cli/service/pool/program-pool.ts";
import {
  type ProgramProcess,
  parseProc,
  readUsage,
  type Usage,
} from "../../../src/cli/service/pool/program-process.ts";
import type { Lease, LeaseRequest } from "../../../src/sandbox/runners/pool-protocol.ts";
import { readsTooMuch } from "../../support/query-plans.ts";

const MEBIBYTE = 1024 * 1024;
const LIMITS = { wallMs: 1_000, cpuMs: 100, memoryMb: 128 };
const SETTINGS = { maxProcesses: 5, maxAtWork: 4, maxPerAccount: 2, idleMs: 5_000, maxWaitMs: 2_000 };

/** A process that the test controls. */
interface FakeProcess extends ProgramProcess {
  readonly usage: { cpuMs: number; memoryBytes: number };
  isAlive: boolean;
  end(isOutOfMemory: boolean): void;
}

let now: number;
let started: FakeProcess[];
let pool: ProgramPool;

function startFake(): FakeProcess {
  const { promise: ended, resolve } = Promise.withResolvers<boolean>();
  const pid = started.length + 1;
  const process: FakeProcess = {
    pid,
    address: `unix:${pid}`,
    token: `token ${pid}`,
    ready: Promise.resolve(),
    ended,
    usage: { cpuMs: 50, memoryBytes: 10 * MEBIBYTE },
    isAlive: true,
    end(isOutOfMemory) {
      process.isAlive = false;
      resolve(isOutOfMemory);
    },
    kill: () => process.end(false),
  };
  started.push(process);
  return process;
}

beforeEach(() => {
  now = 0;
  started = [];
  const readFake = async (pids: readonly number[]): Promise<ReadonlyMap<number, Usage>> =>
    new Map(
      started
        .filter(({ pid, isAlive }) => isAlive && pids.includes(pid))
        .map(({ pid, usage }) => [pid, { ...usage }]),
    );
  pool = new ProgramPool(SETTINGS, { start: startFake, readUsage: readFake, now: () => now });
  return () => pool.stop();
});

const request = (accountId: string, name = "a"): LeaseRequest => ({
  accountId,
  program: `${accountId}/${name}`,
  limits: LIMITS,
});
const processOf = ({ address }: Lease): FakeProcess => {
  const found = started.find((process) => process.address === address);
  if (found === undefined) throw new Error("There is no such process");
  return found;
};
const giveBack = (lease: Lease, { isSpent = false, isLost = false } = {}) =>
  pool.end({ id: lease.id, isSpent, isLost });
/** Polls when those that idle are measured again. */
async function pollIdle(): Promise<void> {
  now += 1_000;
  await pool.poll();
}
const alive = () => started.filter(({ isAlive }) => isAlive).length;

/** Whether a promise has settled once all that is under way has. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const settle = () => {
    settled = true;
  };
  promise.then(settle, settle);
  await new Promise((resolve) => setImmediate(resolve));
  return settled;
}

describe("the pool of processes for programs", () => {
  it("keeps a program's process for its next run, and one unused beside it", async () => {
    const first = await pool.lease(request("acme"));
    expect(await giveBack(first)).toEqual({ ranMs: 0, killed: null });
    const second = await pool.lease(request("acme"));
    expect(second.address).toBe(first.address);
    expect(second.id).not.toBe(first.id);
    expect(alive()).toBe(2);
  });

  it("gives no two programs one process, neither at once nor one after the other", async () => {
    const leases = [await pool.lease(request("acme", "a")), await pool.lease(request("acme", "b"))];
    await giveBack(leases[0] as Lease);
    leases.push(await pool.lease(request("other", "a")));
    expect(new Set(leases.map(({ address }) => address)).size).toBe(3);
  });

  it("lets an organization have so many at work, and others start at once", async () => {
    await pool.lease(request("acme", "a"));
    const second = await pool.lease(request("acme", "b"));
    const third = pool.lease(request("acme", "c"));
    expect(await isSettled(third)).toBe(false);
    expect(await isSettled(pool.lease(request("other")))).toBe(true);
    await giveBack(second);
    expect(await isSettled(third)).toBe(true);
  });

  it.each([
    ["at once, while there are processes", 1, 0],
    ["as soon as one of them ends, when others have taken the rest", 2, 1],
  ])("starts another organization's program beside twenty endless ones: %s", async (_, villains, ends) => {
    const begun: Lease[] = [];
    for (let villain = 0; villain < villains; villain += 1) {
      for (let count = 0; count < 20; count += 1) {
        const lease = pool.lease(request(`villain ${villain}`, `${count}`));
        lease.then(
          (started) => begun.push(started),
          () => {},
        ); // waiting leases are refused at the end
      }
    }
    const other = pool.lease(request("other"));
    expect(await isSettled(other)).toBe(ends === 0);
    expect(begun).toHaveLength(villains * SETTINGS.maxPerAccount);
    for (const lease of begun.slice(0, ends)) processOf(lease).end(false);
    expect(await isSettled(other)).toBe(true);
    expect(begun).toHaveLength(villains * SETTINGS.maxPerAccount);
  });

  it("ends one that idles when another program needs its place", async () => {
    const idle = await pool.lease(request("acme", "a"));
    await giveBack(idle);
    const leases: Lease[] = [];
    for (const account of ["b", "c", "d", "e"]) leases.push(await pool.lease(request(account)));
    expect(processOf(idle).isAlive).toBe(true);
    await giveBack(leases[0] as Lease);
    await pool.lease(request("f"));
    expect(processOf(idle).isAlive).toBe(false);
    expect(alive()).toBe(SETTINGS.maxProcesses);
  });

  it("keeps one that idles while so many are at work that its program has to wait", async () => {
    const idle = await pool.lease(request("acme"));
    await giveBack(idle);
    const leases: Lease[] = [];
    for (const account of ["b", "c", "d", "e"]) leases.push(await pool.lease(request(account)));
    const again = pool.lease(request("acme"));
    expect(await isSettled(again)).toBe(false);
    await giveBack(leases[0] as Lease);
    expect((await again).address).toBe(idle.address);
  });

  it("serves organizations in turn, and first the one that used less", async () => {
    const held = await Promise.all(["a", "b", "c", "d"].map((account) => pool.lease(request(account))));
    const order: string[] = [];
    const wait = (account: string, name: string) =>
      pool.lease(request(account, name)).then((lease) => {
        order.push(`${account}/${name}`);
        return lease;
      });
    const waiting = [wait("x", "1"), wait("x", "2"), wait("y", "1")];
    for (const lease of held) {
      await giveBack(lease, { isSpent: true });
      await isSettled(Promise.resolve());
    }
    await Promise.all(waiting);
    expect(order).toEqual(["x/1", "y/1", "x/2"]);
  });

  it("kills the process of a program that uses too much processor time, and says so", async () => {
    const lease = await pool.lease(request("acme"));
    processOf(lease).usage.cpuMs += LIMITS.cpuMs;
    await pool.poll();
    expect(processOf(lease).isAlive).toBe(true);
    processOf(lease).usage.cpuMs += 10;
    await pool.poll();
    expect(processOf(lease).isAlive).toBe(false);
    expect(await giveBack(lease, { isLost: true })).toEqual({ ranMs: 110, killed: "cpu" });
  });

  it("gives each of several runs at once its own share of processor time", async () => {
    const [one, two] = [await pool.lease(request("acme")), await pool.lease(request("acme"))];
    processOf(one).usage.cpuMs += 2 * LIMITS.cpuMs;
    await pool.poll();
    expect(await giveBack(one)).toEqual({ ranMs: LIMITS.cpuMs, killed: null });
    processOf(two).usage.cpuMs += 10;
    await pool.poll();
    expect(await giveBack(two)).toMatchObject({ killed: "cpu" });
  });

  it.each([
    [
      "holds too much memory",
      "memory",
      (process: FakeProcess) => (process.usage.memoryBytes += 200 * MEBIBYTE),
    ],
    ["takes too long", "wall", () => (now += LIMITS.wallMs + 1)],
  ] as const)("kills the process of a program that %s", async (_, killed, misbehave) => {
    const lease = await pool.lease(request("acme"));
    misbehave(processOf(lease));
    await pool.poll();
    expect(processOf(lease).isAlive).toBe(false);
    expect(await giveBack(lease, { isLost: true })).toMatchObject({ killed });
  });

  it.each([
    [true, "memory"],
    [false, "crash"],
  ] as const)("says that a process ended by itself, for want of memory or not: %s", async (isOut, killed) => {
    const lease = await pool.lease(request("acme"));
    processOf(lease).end(isOut);
    expect(await giveBack(lease, { isLost: true })).toMatchObject({ killed });
    const next = await pool.lease(request("acme"));
    expect(next.address).not.toBe(lease.address);
  });

  it("ends a process whose program was stopped once its other runs are over", async () => {
    const [one, two] = [await pool.lease(request("acme")), await pool.lease(request("acme"))];
    await giveBack(one, { isSpent: true });
    expect(processOf(one).isAlive).toBe(true);
    const next = await pool.lease(request("acme"));
    expect(next.address).not.toBe(one.address);
    expect(await giveBack(two)).toMatchObject({ killed: null });
    expect(processOf(two).isAlive).toBe(false);
  });

  it("ends a process after a run that leaves the next one too little memory", async () => {
    const [one, two] = [await pool.lease(request("acme")), await pool.lease(request("acme"))];
    processOf(one).usage.memoryBytes += 64 * MEBIBYTE;
    await giveBack(one);
    expect((await pool.lease(request("acme"))).address).toBe(one.address);
    processOf(two).usage.memoryBytes += 1;
    expect(await giveBack(two)).toMatchObject({ killed: null });
    expect(processOf(two).isAlive).toBe(true); // one run is not over
    expect((await pool.lease(request("acme"))).address).not.toBe(one.address);
  });

  it("ends a process whose program goes on without a run", async () => {
    const lease = await pool.lease(request("acme"));
    await giveBack(lease);
    processOf(lease).usage.cpuMs += 400;
    await pollIdle();
    expect(processOf(lease).isAlive).toBe(true);
    processOf(lease).usage.cpuMs += 200;
    await pollIdle();
    expect(processOf(lease).isAlive).toBe(false);
  });

  it("ends a process whose program takes more memory without a run", async () => {
    const lease = await pool.lease(request("acme"));
    await giveBack(lease);
    processOf(lease).usage.memoryBytes += 65 * MEBIBYTE;
    await pollIdle();
    expect(processOf(lease).isAlive).toBe(false);
  });

  it("ends all processes when none has worked for a while", async () => {
    await giveBack(await pool.lease(request("acme")));
    now += SETTINGS.idleMs + 1;
    await pool.poll();
    await pool.poll();
    await isSettled(Promise.resolve());
    await pool.poll();
    expect(alive()).toBe(0);
  });

  it("refuses what has waited too long for a process", async () => {
    for (const account of ["a", "b", "c", "d"]) await pool.lease(request(account));
    const late = pool.lease(request("e"));
    now += SETTINGS.maxWaitMs + 1;
    const refused = expect(late).rejects.toThrow("All processes for programs were busy");
    await pool.poll();
    await refused;
  });

  it("starts nothing once it was stopped", async () => {
    pool.stop();
    await expect(pool.lease(request("acme"))).rejects.toThrow("The service ends");
    expect(started).toEqual([]);
  });
});

describe("the usage of processes", () => {
  it("is read from /proc, whatever the program is called", () => {
    const stat = "42 (a) b (c) S 1 42 42 0 -1 4194560 11 0 0 0 150 25 0 0 20 0 2 0 100 1 1";
    const status = "Name:\ta\nRssAnon:\t    2048 kB\nRssFile:\t   9999 kB\nRssShmem:\t    1024 kB\n";
    expect(parseProc(stat, status)).toEqual({ cpuMs: 1_750, memoryBytes: 3 * MEBIBYTE });
  });

  it("is known for this process, and for none that has ended", async () => {
    const usages = await readUsage([process.pid, 2 ** 22 + 1]);
    expect([...usages.keys()]).toEqual([process.pid]);
    expect(usages.get(process.pid)?.memoryBytes).toBeGreaterThan(MEBIBYTE);
  });
});

// The statements of the commands find their rows by an index, as those of the service do.

const ROOT = path.join(import.meta.dirname, "../../..");

/** The expressions in templates that are SQL; all others are values. */
const FRAGMENTS: Readonly<Record<string, string>> = {
  person: "FROM people WHERE email = 'x'",
  "listed(accountIds)": "(SELECT value FROM json_each('[]'))",
  isWanted: "changes() > 0",
  setupCodes: "'setup*'",
};

/** Query of the first `npm start` for the oldest organization of a service without members. */
const FIRST_OWNER =
  "SELECT id FROM accounts WHERE deleted_at IS NULL AND NOT EXISTS (SELECT 1 FROM memberships)";

const STATEMENT = /(["`])((?:SELECT|INSERT INTO|UPDATE|DELETE FROM) (?:(?!\1)[^\\])+)\1/g;

const statements = globSync("src/cli/**/*.ts", { cwd: ROOT })
  // wrangler's migrations are in a table of their own, objects have databases of their own, and an export reads all.
  .filter((file) => !/\/(database|database-export|copied-object-store)\.ts$/.test(file))
  .flatMap((file) => [...readFileSync(path.join(ROOT, file), "utf8").matchAll(STATEMENT)])
  .map(([, , sql = ""]) =>
    sql.replaceAll(/\$\{((?:[^{}]|\{[^{}]*\})*)\}/g, (_, name) => FRAGMENTS[name] ?? "1"),
  );

it("reads no whole table", () => {
  const db = new DatabaseSync(":memory:");
  for (const file of globSync("migrations/*.sql", { cwd: ROOT }).sort())
    db.exec(readFileSync(path.join(ROOT, file), "utf8"));
  expect(statements.length).toBeGreaterThan(15);
  const scans = statements
    .filter((sql) => !sql.startsWith(FIRST_OWNER) && sql !== "SELECT 1 AS found FROM memberships LIMIT 1")
    .flatMap((sql) =>
      db
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map(({ detail }) => String(detail))
        .filter((detail) => readsTooMuch(detail, sql))
        .map((detail) => `${detail} in ${sql}`),
    );
  expect(scans).toEqual([]);
});
