/** Programs that use time or memory without end, against the running service: each ends with its reason, and disturbs no one. */
import { beforeAll, expect, inject, it } from "vitest";
import type { WorkflowExecution } from "../../src/workflows/execution-schema.ts";
import type { Workflow } from "../../src/workflows/schema.ts";
import { type SharedService, useSharedService } from "../node/shared-service.ts";
import { Customer } from "../stories/client.ts";
import { ALL, type RunawayProgram, TYPICAL } from "./runaway-programs.ts";

const { runaways } = inject("endurance");
const programs = runaways === 0 ? TYPICAL : ALL.slice(0, runaways);
/** For each program, on a machine that has other things to do. */
const PROGRAM_MS = 120_000;

/** An organization with a room and a user, which runs what it is given. */
class Owner {
  readonly customer: Customer;
  readonly #run: object;

  private constructor(customer: Customer, run: object) {
    this.customer = customer;
    this.#run = run;
  }

  static async create(service: SharedService): Promise<Owner> {
    const customer = new Customer(service, service);
    const { id: roomId } = await customer.createRoom();
    const { id: userId } = await customer.createUser(roomId, "Ada");
    return new Owner(customer, { event: "user.created", data: { roomId, userId } });
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

let villain: Owner;
let neighbour: Owner;
let greeting: Workflow;
beforeAll(async () => {
  villain = await Owner.create(await useSharedService());
  neighbour = await Owner.create(await useSharedService());
  greeting = await neighbour.save("export default ({ user }) => user.name;");
}, PROGRAM_MS);

/** What the neighbour waited for, in milliseconds. */
const waits: number[] = [];

/** Works as the neighbour until `over` settles, at least once. */
async function workBeside(over: Promise<unknown>): Promise<void> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  over.then(end, end);
  do {
    const startedAt = performance.now();
    const [run, room] = await Promise.all([neighbour.run(greeting), neighbour.customer.createRoom()]);
    waits.push(performance.now() - startedAt);
    expect(run.data.execution).toMatchObject({ status: "success", result: '"Ada"' });
    expect(room.id).toBeTypeOf("string");
  } while (!isOver);
}

it.each(programs)(
  "a program that $does ends, and its neighbour works on",
  async ({ source, result }: RunawayProgram) => {
    const workflow = await villain.save(source);
    expect(workflow).toMatchObject({ enabled: true });
    const run = villain.run(workflow);
    await workBeside(run);
    const { execution } = (await run).data;
    if (result !== null)
      expect(execution).toMatchObject({ status: "failed", result: expect.stringMatching(result) });
    expect(execution.result).not.toMatch(/could not be started|internal error/);
  },
  PROGRAM_MS,
);

it(
  "a program that was killed in two runs in a row is switched off with the reason, until it is changed",
  async () => {
    const workflow = await villain.save("export default () => { for (;;); };");
    for (let count = 0; count < 2; count += 1) {
      expect((await villain.run(workflow)).data.execution).toMatchObject({ status: "failed" });
    }
    const path = `/workflows/${workflow.id}`;
    const read = await villain.customer.send<{ workflow: Workflow }>("GET", path);
    expect(read.data.workflow).toMatchObject({
      enabled: false,
      disabled_reason: expect.stringContaining("had to be killed"),
    });
    expect(await villain.run(workflow)).toMatchObject({ status: 409 });
    const code = "export default () => 'better';";
    await villain.customer.send("PATCH", path, { code, enabled: true });
    expect((await villain.run(workflow)).data.execution).toMatchObject({ result: '"better"' });
  },
  2 * PROGRAM_MS,
);

it("the neighbour's waits", () => {
  const sorted = waits.toSorted((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0);
  console.log(
    `Beside ${programs.length} programs a run and a room took ${at(0.5)} ms (p50), ${at(0.95)} ms (p95)`,
  );
  expect(sorted.length).toBeGreaterThanOrEqual(programs.length);
});
