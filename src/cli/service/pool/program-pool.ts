/** The policy of the pool: the assignment of programs to processes, and their end. */
import { randomUUID } from "node:crypto";
import type {
  KillReason,
  Lease,
  LeaseEnd,
  LeaseReport,
  LeaseRequest,
} from "../../../sandbox/runners/pool-protocol.ts";
import { OrganizationUsage } from "./organization-usage.ts";
import { PoolMember } from "./pool-member.ts";
import type { StartProcess, Usage } from "./program-process.ts";

interface PoolSettings {
  /** Processes at work, idle ones and ending ones. */
  readonly maxProcesses: number;
  /** Processes at work. */
  readonly maxAtWork: number;
  /** Processes at work for one organization. */
  readonly maxPerAccount: number;
  /** The time of a process without work. */
  readonly idleMs: number;
  /** The longest wait of a lease. */
  readonly maxWaitMs: number;
}

interface PoolPorts {
  readonly start: StartProcess;
  readonly readUsage: (pids: readonly number[]) => Promise<ReadonlyMap<number, Usage>>;
  readonly now: () => number;
}

/** The time for which the report of a lease is kept. */
const FORGOTTEN_MS = 5 * 60_000;
/** The interval of measuring idle processes; those at work are measured at each poll. */
const IDLE_POLL_MS = 1_000;
/** The pause after an unused process has ended by itself, before another one. */
const SPARE_PAUSE_MS = 5_000;

interface Assignment {
  readonly member: PoolMember;
  readonly id: string;
}

interface Waiting {
  readonly request: LeaseRequest;
  readonly since: number;
  readonly resolve: (assignment: Assignment) => void;
  readonly reject: (why: Error) => void;
}

export class ProgramPool {
  readonly #settings: PoolSettings;
  readonly #ports: PoolPorts;
  readonly #usage: OrganizationUsage;
  /** The promise settles when the process listens. */
  readonly #members = new Map<PoolMember, Promise<void>>();
  readonly #assigned = new Map<string, PoolMember>();
  /** Reports of leases whose process ended before their return. */
  readonly #reports = new Map<string, LeaseReport & { readonly at: number }>();
  #waiting: Waiting[] = [];
  #spareAfter = 0;
  #idleMeasuredAt = Number.NEGATIVE_INFINITY;
  #isPolling = false;
  #isStopped = false;

  constructor(settings: PoolSettings, ports: PoolPorts) {
    this.#settings = settings;
    this.#ports = ports;
    this.#usage = new OrganizationUsage(ports.now);
  }

  /** Leases a process that has run no other program. Rejects when none could be started, or became free in time. */
  async lease(request: LeaseRequest): Promise<Lease> {
    const { member, id } = await new Promise<Assignment>((resolve, reject) => {
      if (this.#isStopped) reject(new Error("The service ends"));
      else this.#waiting.push({ request, since: this.#ports.now(), resolve, reject });
      this.#assign();
    });
    try {
      await this.#members.get(member);
    } catch (error) {
      this.#close(member, id);
      throw error;
    }
    member.begin(id);
    const { address, token } = member.process;
    return { id, address, token };
  }

  /** Returns a lease. One that is unknown has been forgotten with its process. */
  async end({ id, isSpent, isLost }: LeaseEnd): Promise<LeaseReport> {
    const member = this.#assigned.get(id);
    if (member !== undefined && isLost && !(await member.endsSoon())) member.kill("wall");
    if (member !== undefined) await this.#measure([member]);
    const early = this.#reports.get(id);
    const { ranMs, killed } = early ?? member?.report(id) ?? { ranMs: 0, killed: "crash" };
    this.#reports.delete(id);
    if (member !== undefined) {
      this.#close(member, id);
      if (isSpent || member.isFull) member.retire();
      this.#assign();
    }
    return { ranMs, killed };
  }

  /** Measures, kills processes above a limit, and ends idle ones. Called several times a second. */
  async poll(): Promise<void> {
    if (this.#isPolling) return;
    this.#isPolling = true;
    try {
      const members = this.#all();
      await this.#measure(this.#due(members));
      for (const member of members) member.enforce();
      this.#expire();
      this.#assign();
    } finally {
      this.#isPolling = false;
    }
  }

  stop(): void {
    this.#isStopped = true;
    for (const member of this.#all()) member.kill("crash");
    for (const { reject } of this.#waiting) reject(new Error("The service ends"));
    this.#waiting = [];
  }

  #all(): readonly PoolMember[] {
    return [...this.#members.keys()];
  }

  /** Gives processes to waiting leases: first of the organization with the least use. */
  #assign(): void {
    if (this.#isStopped) return;
    for (const waiting of this.#usage.order(this.#waiting, ({ request }) => request.accountId)) {
      const { request } = waiting;
      const member = this.#find(request);
      if (member === null) continue;
      this.#waiting = this.#waiting.filter((other) => other !== waiting);
      const id = randomUUID();
      member.open(id, request);
      this.#assigned.set(id, member);
      this.#usage.lend(request.accountId);
      waiting.resolve({ member, id });
    }
    this.#keepSpare();
  }

  /** A process for the request: its own, an unused one, or a new one in place of one that idles. */
  #find({ accountId, program }: LeaseRequest): PoolMember | null {
    const members = this.#all();
    const open = members.filter(({ isOpen }) => isOpen);
    const own = open.find(({ owner }) => owner?.program === program);
    if (own?.isAtWork) return own;
    const atWork = members.filter(({ isAtWork }) => isAtWork);
    if (atWork.length >= this.#settings.maxAtWork) return null;
    if (own !== undefined) return own;
    const ofAccount = atWork.filter(({ owner }) => owner?.accountId === accountId);
    if (ofAccount.length >= this.#settings.maxPerAccount) return null;
    const unused = open.find(({ owner }) => owner === null);
    if (unused !== undefined) return unused;
    if (members.length < this.#settings.maxProcesses) return this.#start();
    // The place of one that ends is free once it has ended.
    if (members.some(({ isOpen, isAtWork }) => !isOpen && !isAtWork)) return null;
    const [idlest] = open
      .filter(({ idleSince }) => idleSince !== null)
      .sort((a, b) => Number(a.idleSince) - Number(b.idleSince));
    idlest?.retire();
    return null;
  }

  /** Keeps one unused process ready while others work: starting one takes longer than most runs. */
  #keepSpare(): void {
    const open = this.#all().filter(({ isOpen }) => isOpen);
    const hasWork = open.some(({ owner }) => owner !== null);
    const hasSpare = open.some(({ owner }) => owner === null);
    if (!hasWork || hasSpare || this.#members.size >= this.#settings.maxProcesses) return;
    if (this.#ports.now() >= this.#spareAfter) this.#start();
  }

  #start(): PoolMember {
    const process = this.#ports.start();
    const member = new PoolMember(process, this.#ports.now);
    const ready = process.ready.then(async () => {
      await this.#measure([member]);
      member.settle();
    });
    ready.catch(() => {}); // the lease that waits for it reports it
    this.#members.set(member, ready);
    void process.ended.then((isOutOfMemory) => this.#bury(member, isOutOfMemory ? "memory" : "crash"));
    return member;
  }

  /** The process has ended: its place is free, and its leases are reported at their return. */
  #bury(member: PoolMember, reason: KillReason): void {
    if (member.isOpen && member.owner === null) this.#spareAfter = this.#ports.now() + SPARE_PAUSE_MS;
    member.end(reason);
    this.#members.delete(member);
    for (const id of member.leaseIds) {
      this.#reports.set(id, { ...member.report(id), at: this.#ports.now() });
      this.#close(member, id);
    }
    this.#assign();
  }

  /** The processes with programs that must be measured now. */
  #due(members: readonly PoolMember[]): readonly PoolMember[] {
    const now = this.#ports.now();
    const isIdleDue = now - this.#idleMeasuredAt >= IDLE_POLL_MS;
    if (isIdleDue) this.#idleMeasuredAt = now;
    return members.filter(({ owner, isAtWork }) => isAtWork || (isIdleDue && owner !== null));
  }

  async #measure(members: readonly PoolMember[]): Promise<void> {
    const usages = await this.#ports.readUsage(members.map(({ process }) => process.pid));
    for (const member of members) {
      const usage = usages.get(member.process.pid);
      if (usage === undefined) continue;
      const usedMs = member.measure(usage);
      if (member.owner !== null) this.#usage.use(member.owner.accountId, usedMs);
    }
  }

  /** Ends idle processes, and rejects leases that waited too long. */
  #expire(): void {
    const now = this.#ports.now();
    const isInUse = this.#all().some(({ owner }) => owner !== null);
    for (const member of this.#all()) {
      const { idleSince, owner } = member;
      const isSpare = owner === null && isInUse;
      if (!isSpare && idleSince !== null && now - idleSince > this.#settings.idleMs) member.retire();
    }
    for (const [id, { at }] of this.#reports) if (now - at > FORGOTTEN_MS) this.#reports.delete(id);
    for (const waiting of this.#waiting) {
      if (now - waiting.since <= this.#settings.maxWaitMs) continue;
      this.#waiting = this.#waiting.filter((other) => other !== waiting);
      waiting.reject(new Error("All processes for programs were busy"));
    }
  }

  #close(member: PoolMember, id: string): void {
    if (!this.#assigned.delete(id)) return;
    member.close(id);
    if (member.owner !== null) this.#usage.take(member.owner.accountId);
  }
}
