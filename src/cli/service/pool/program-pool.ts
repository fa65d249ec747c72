/** Which organization's program gets which process, and when a process ends: the policy of the pool. */
import { randomUUID } from "node:crypto";
import type {
  KillReason,
  Lease,
  LeaseEnd,
  LeaseReport,
  LeaseRequest,
} from "../../../sandbox/pool/pool-protocol.ts";
import type { ProgramProcess, StartProcess } from "./program-process.ts";
import { Tenants } from "./tenants.ts";
import type { Usage } from "./usage.ts";

export interface PoolSettings {
  /** How many processes there may be at once. */
  readonly maxProcesses: number;
  /** How many of them one organization may have at work. */
  readonly maxPerAccount: number;
  /** How long a process stays without work. */
  readonly idleMs: number;
  /** How long a lease may wait for a process. */
  readonly maxWaitMs: number;
}

export interface PoolPorts {
  readonly start: StartProcess;
  readonly readUsage: (pids: readonly number[]) => Promise<ReadonlyMap<number, Usage>>;
  /** Milliseconds. */
  readonly now: () => number;
}

const MEBIBYTE = 1024 * 1024;
/** How much more than its program may use a process may occupy: for garbage, and for what V8 itself needs. */
const MEMORY_SLACK_MB = 64;
/** What a process may use after its last lease, to collect garbage: a program that goes on without a run uses more. */
const MAX_IDLE_CPU_MS = 500;
/** How long what became of a lease is kept for its return. */
const FORGOTTEN_MS = 5 * 60_000;
/** How long a process that gave no answer may take to end by itself. */
const DEATH_MS = 1_000;

interface OpenLease {
  readonly request: LeaseRequest;
  startedAt: number;
  /** The processor time of the process by then. */
  cpuMsAtStart: number;
  /** This lease and those that overlapped it: each of them may have used what the process used. */
  sharers: number;
}

interface Member {
  readonly process: ProgramProcess;
  /** Settles when the process listens, and its usage without a program is known. */
  readonly ready: Promise<void>;
  /** Null until the first lease. */
  owner: Pick<LeaseRequest, "accountId" | "program"> | null;
  readonly leases: Map<string, OpenLease>;
  usage: Usage;
  /** Memory before its program, in bytes. */
  baseBytes: number;
  /** Null while it takes leases. */
  ending: { readonly reason: KillReason | null } | null;
  idleSince: number;
  /** The processor time of the process by then. */
  idleCpuMs: number;
}

interface Waiting {
  readonly request: LeaseRequest;
  readonly since: number;
  readonly resolve: (lease: { readonly member: Member; readonly id: string }) => void;
  readonly reject: (why: Error) => void;
}

export class ProgramPool {
  readonly #settings: PoolSettings;
  readonly #ports: PoolPorts;
  readonly #tenants: Tenants;
  readonly #members = new Set<Member>();
  /** By lease. */
  readonly #lessors = new Map<string, Member>();
  /** Of leases whose process has ended before they were returned. */
  readonly #reports = new Map<string, LeaseReport & { readonly at: number }>();
  #waiting: Waiting[] = [];
  #isPolling = false;
  #isStopped = false;

  constructor(settings: PoolSettings, ports: PoolPorts) {
    this.#settings = settings;
    this.#ports = ports;
    this.#tenants = new Tenants(ports.now);
  }

  /** Leases a process that has run no other program. Rejects when none could be started, or became free in time. */
  async lease(request: LeaseRequest): Promise<Lease> {
    const { member, id } = await new Promise<Parameters<Waiting["resolve"]>[0]>((resolve, reject) => {
      if (this.#isStopped) reject(new Error("The service ends"));
      else this.#waiting.push({ request, since: this.#ports.now(), resolve, reject });
      this.#assign();
    });
    try {
      await member.ready;
    } catch (error) {
      this.#close(member, id);
      throw error;
    }
    const lease = member.leases.get(id);
    if (lease !== undefined) {
      lease.startedAt = this.#ports.now();
      lease.cpuMsAtStart = member.usage.cpuMs;
    }
    const { address, token } = member.process;
    return { id, address, token };
  }

  /** Returns a lease. One that is unknown has been forgotten with its process. */
  async end({ id, isSpent, isLost }: LeaseEnd): Promise<LeaseReport> {
    const member = this.#lessors.get(id);
    if (member !== undefined && isLost && !(await this.#endsSoon(member))) this.#kill(member, "wall");
    if (member !== undefined) await this.#measure([member]);
    const { ranMs, killed } = this.#reports.get(id) ?? this.#report(id);
    this.#reports.delete(id);
    if (member !== undefined) {
      this.#close(member, id);
      if (isSpent) this.#retire(member);
      this.#assign();
    }
    return { ranMs, killed };
  }

  /** Measures, kills what passed a limit, and ends what has been idle. To be called several times a second. */
  async poll(): Promise<void> {
    if (this.#isPolling) return;
    this.#isPolling = true;
    try {
      await this.#measure([...this.#members].filter(({ owner }) => owner !== null));
      for (const member of this.#members) this.#enforce(member);
      this.#expire();
      this.#assign();
    } finally {
      this.#isPolling = false;
    }
  }

  /** Kills all processes. */
  stop(): void {
    this.#isStopped = true;
    for (const member of this.#members) this.#kill(member, "crash");
    for (const { reject } of this.#waiting) reject(new Error("The service ends"));
    this.#waiting = [];
  }

  /** Gives processes to those that wait: first of the organization that has used least. */
  #assign(): void {
    for (const waiting of this.#tenants.order(this.#waiting, ({ request }) => request.accountId)) {
      const member = this.#find(waiting.request);
      if (member === null) continue;
      this.#waiting = this.#waiting.filter((other) => other !== waiting);
      waiting.resolve({ member, id: this.#open(member, waiting.request) });
    }
    this.#keepSpare();
  }

  #open(member: Member, request: LeaseRequest): string {
    const id = randomUUID();
    const { leases, usage } = member;
    for (const other of leases.values()) other.sharers += 1;
    const sharers = leases.size + 1;
    leases.set(id, { request, startedAt: this.#ports.now(), cpuMsAtStart: usage.cpuMs, sharers });
    member.owner ??= request;
    this.#lessors.set(id, member);
    this.#tenants.lend(request.accountId);
    return id;
  }

  /** A process for the request: its own, an unused one, or a new one in place of one that idles. */
  #find({ accountId, program }: LeaseRequest): Member | null {
    const free = [...this.#members].filter(({ ending }) => ending === null);
    const own = free.find(({ owner }) => owner?.program === program);
    if (own !== undefined) return own;
    const atWork = [...this.#members].filter(
      ({ owner, leases }) => owner?.accountId === accountId && leases.size > 0,
    );
    if (atWork.length >= this.#settings.maxPerAccount) return null;
    const unused = free.find(({ owner }) => owner === null);
    if (unused !== undefined) return unused;
    if (this.#members.size < this.#settings.maxProcesses) return this.#start();
    // The place of one that ends is free once it has ended.
    if ([...this.#members].some(({ ending, leases }) => ending !== null && leases.size === 0)) return null;
    const [idlest] = free.filter(isIdle).sort((a, b) => a.idleSince - b.idleSince);
    if (idlest !== undefined) this.#retire(idlest);
    return null;
  }

  /** Keeps one unused process ready while others work: starting one takes longer than most runs. */
  #keepSpare(): void {
    const members = [...this.#members];
    const hasWork = members.some(({ owner, ending }) => owner !== null && ending === null);
    const hasSpare = members.some(({ owner, ending }) => owner === null && ending === null);
    if (hasWork && !hasSpare && members.length < this.#settings.maxProcesses) this.#start();
  }

  #start(): Member {
    const process = this.#ports.start();
    const member: Member = {
      process,
      ready: process.ready.then(async () => {
        await this.#measure([member]);
        member.baseBytes = member.usage.memoryBytes;
      }),
      owner: null,
      leases: new Map(),
      usage: { cpuMs: 0, memoryBytes: 0 },
      baseBytes: Number.POSITIVE_INFINITY,
      ending: null,
      idleSince: this.#ports.now(),
      idleCpuMs: 0,
    };
    member.ready.catch(() => {}); // the lease that waits for it reports it
    this.#members.add(member);
    void process.ended.then((isOutOfMemory) => this.#bury(member, isOutOfMemory ? "memory" : "crash"));
    return member;
  }

  /** The process has ended: its place is free, and the leases that it had are reported when they are returned. */
  #bury(member: Member, reason: KillReason): void {
    this.#mark(member, reason);
    this.#members.delete(member);
    for (const id of [...member.leases.keys()]) {
      this.#reports.set(id, { ...this.#report(id), at: this.#ports.now() });
      this.#close(member, id);
    }
    if (!this.#isStopped) this.#assign();
  }

  #report(id: string): LeaseReport {
    const member = this.#lessors.get(id);
    const lease = member?.leases.get(id);
    if (member === undefined || lease === undefined) return { ranMs: 0, killed: "crash" };
    const ranMs = (member.usage.cpuMs - lease.cpuMsAtStart) / lease.sharers;
    return { ranMs, killed: member.ending?.reason ?? null };
  }

  async #measure(members: readonly Member[]): Promise<void> {
    const usages = await this.#ports.readUsage(members.map(({ process }) => process.pid));
    for (const member of members) {
      const usage = usages.get(member.process.pid);
      if (usage === undefined) continue;
      const { owner } = member;
      if (owner !== null) this.#tenants.use(owner.accountId, usage.cpuMs - member.usage.cpuMs);
      member.usage = usage;
    }
  }

  #enforce(member: Member): void {
    if (member.ending?.reason) return;
    const { usage, baseBytes, leases, owner, idleCpuMs } = member;
    const goesOn = owner !== null && leases.size === 0 && usage.cpuMs - idleCpuMs > MAX_IDLE_CPU_MS;
    if (goesOn) this.#retire(member);
    for (const { request, cpuMsAtStart, sharers, startedAt } of leases.values()) {
      const { wallMs, cpuMs, memoryMb } = request.limits;
      if (usage.memoryBytes - baseBytes > (memoryMb + MEMORY_SLACK_MB) * MEBIBYTE) {
        this.#kill(member, "memory");
      } else if (usage.cpuMs - cpuMsAtStart > cpuMs * sharers) this.#kill(member, "cpu");
      else if (this.#ports.now() - startedAt > wallMs) this.#kill(member, "wall");
    }
  }

  /** Ends processes that have been idle, and what has waited too long. */
  #expire(): void {
    const now = this.#ports.now();
    const isInUse = [...this.#members].some((member) => member.owner !== null);
    for (const member of this.#members) {
      const isSpare = member.owner === null && isInUse;
      if (!isSpare && isIdle(member) && now - member.idleSince > this.#settings.idleMs) this.#retire(member);
    }
    for (const [id, { at }] of this.#reports) if (now - at > FORGOTTEN_MS) this.#reports.delete(id);
    for (const waiting of this.#waiting) {
      if (now - waiting.since <= this.#settings.maxWaitMs) continue;
      this.#waiting = this.#waiting.filter((other) => other !== waiting);
      waiting.reject(new Error("All processes for programs were busy"));
    }
  }

  #close(member: Member, id: string): void {
    const lease = member.leases.get(id);
    if (lease === undefined) return;
    member.leases.delete(id);
    this.#lessors.delete(id);
    this.#tenants.take(lease.request.accountId);
    if (member.leases.size > 0) return;
    member.idleSince = this.#ports.now();
    member.idleCpuMs = member.usage.cpuMs;
    if (member.ending !== null) member.process.kill();
  }

  /** Takes no further leases, and ends when those that it has are returned. */
  #retire(member: Member): void {
    this.#mark(member, null);
    if (member.leases.size === 0) member.process.kill();
  }

  #kill(member: Member, reason: KillReason): void {
    this.#mark(member, reason);
    member.process.kill();
  }

  /** Keeps the first reason. One that was retired without one may get it from the leases that it still has. */
  #mark(member: Member, reason: KillReason | null): void {
    if (member.ending?.reason) return;
    member.ending = { reason };
  }

  /** True when the process ends by itself, as one does whose answer never came because it crashed. */
  async #endsSoon({ process, ending }: Member): Promise<boolean> {
    if (ending?.reason) return true;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), DEATH_MS);
    });
    const isOver = await Promise.race([process.ended.then(() => true), late]);
    clearTimeout(timer);
    return isOver;
  }
}

const isIdle = ({ leases, ending }: Member): boolean => leases.size === 0 && ending === null;
