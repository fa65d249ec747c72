/**
 * An organization beside hostile programs of another one: times of its runs and writes meanwhile, and memory of
 * the processes.
 */

import type { WorkflowExecution } from "@atrium/contract/rest/workflow-executions.ts";
import type { Workflow } from "@atrium/contract/rest/workflows.ts";
import { expect } from "vitest";
import { residentBytes } from "../bench/gauge.ts";
import { processTree } from "../cli/processes.ts";
import type { SharedService } from "../cli/shared-service.ts";
import { Customer } from "../stories/client.ts";

/** An organization with a room and a user, which runs given programs. */
export class Owner {
  readonly customer: Customer;
  readonly roomId: string;
  readonly #run: object;

  private constructor(customer: Customer, roomId: string, run: object) {
    this.customer = customer;
    this.roomId = roomId;
    this.#run = run;
  }

  static async create(service: SharedService): Promise<Owner> {
    const customer = new Customer(service, service);
    const { id: roomId } = await customer.createRoom();
    const { id: userId } = await customer.createUser(roomId, "Ada");
    return new Owner(customer, roomId, { event: "user.created", data: { roomId, userId } });
  }

  async save(code: string): Promise<Workflow> {
    const { customer } = this;
    const body = { name: "A workflow", code, events: ["user.deleted"] };
    return (await customer.send<{ workflow: Workflow }>("POST", "/workflows", body)).data.workflow;
  }

  async run({ id }: Workflow) {
    return this.customer.send<{ execution: WorkflowExecution }>("POST", `/workflows/${id}/run`, this.#run);
  }
}

/** Waiting times, in milliseconds. */
export interface Waits {
  readonly runs: number[];
  readonly writes: number[];
}

export const noWaits = (): Waits => ({ runs: [], writes: [] });

export class Neighbour {
  readonly #owner: Owner;
  readonly #greeting: Workflow;
  #writes = 0;

  private constructor(owner: Owner, greeting: Workflow) {
    this.#owner = owner;
    this.#greeting = greeting;
  }

  static async create(service: SharedService): Promise<Neighbour> {
    const owner = await Owner.create(service);
    return new Neighbour(owner, await owner.save("export default ({ user }) => user.name;"));
  }

  /** Runs its workflow and writes to its room's store, until `over` settles, at least once. */
  async workBeside(over: Promise<unknown>, waits: Waits): Promise<void> {
    let isOver = false;
    const end = () => {
      isOver = true;
    };
    over.then(end, end);
    do await this.work(waits);
    while (!isOver);
  }

  /** Does both once, at the same time. */
  async work(waits: Waits): Promise<void> {
    const { customer, roomId } = this.#owner;
    this.#writes += 1;
    const path = `/rooms/${roomId}/stores/tasks/latest`;
    const [run, write] = await Promise.all([
      timed(this.#owner.run(this.#greeting), waits.runs),
      timed(customer.send("PUT", path, { value: this.#writes }), waits.writes),
    ]);
    expect(run.data.execution).toMatchObject({ status: "success", result: '"Ada"' });
    expect(write.status).toBe(200);
  }
}

async function timed<T>(work: Promise<T>, waits: number[]): Promise<T> {
  const startedAt = performance.now();
  const result = await work;
  waits.push(performance.now() - startedAt);
  return result;
}

/** The time within which this share of the work was done, in whole milliseconds. */
export const waitOf = (waits: readonly number[], share: number): number =>
  Math.round(waits.toSorted((a, b) => a - b)[Math.floor(share * (waits.length - 1))] ?? 0);

/** Number of processes of workerd that the tests have started, and their memory together, in MiB. */
export function memoryOfService(): { readonly processes: number; readonly mib: number } {
  const found = processTree(process.ppid).filter(({ command }) => command.includes("workerd"));
  const bytes = found.reduce((sum, { pid }) => sum + (residentBytes(pid) ?? 0), 0);
  return { processes: found.length, mib: Math.round(bytes / 1024 ** 2) };
}
