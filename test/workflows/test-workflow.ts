/** A workflow of an organization, and what becomes of its runs, as its owner sees it. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { EventName } from "../../src/delivery/port/event-name.ts";
import type { Workflow, WorkflowExecution } from "../../src/workflows/schema.ts";
import type { Answer, Api } from "../support/api.ts";

interface Options {
  readonly events?: readonly EventName[];
  readonly roomId?: string;
}

export const CODE = "export default async (event) => ({ heard: event.event });\n";

export class Automaton {
  readonly workflow: Workflow;
  readonly #api: Api;

  private constructor(api: Api, workflow: Workflow) {
    this.#api = api;
    this.workflow = workflow;
  }

  /** Makes a workflow; it runs on users' creation in every room unless told otherwise. */
  static async create(
    api: Api,
    code = CODE,
    { events = ["user.created"], roomId }: Options = {},
  ): Promise<Automaton> {
    const body = { name: "A workflow", code, events, ...(roomId && { roomId }) };
    const answer = await api.post<{ workflow: Workflow }>("/workflows", body);
    expect(answer.status, answer.error?.message).toBe(201);
    return new Automaton(api, answer.data.workflow);
  }

  get path(): string {
    return `/workflows/${this.workflow.id}`;
  }

  async change(body: object): Promise<Workflow> {
    const answer = await this.#api.patch<{ workflow: Workflow }>(this.path, body);
    expect(answer.status, answer.error?.message).toBe(200);
    return answer.data.workflow;
  }

  run(event: EventName, data: object): Promise<Answer<{ execution: WorkflowExecution }>> {
    return this.#api.post(`${this.path}/run`, { event, data });
  }

  /** Those that are over, the newest first. */
  async executions(): Promise<WorkflowExecution[]> {
    return (await this.#api.get<{ executions: WorkflowExecution[] }>(`${this.path}/executions`)).data
      .executions;
  }

  /** Waits until so many runs are over, and gives them, the oldest first. */
  async ran(count: number): Promise<WorkflowExecution[]> {
    await expect.poll(async () => (await this.executions()).length, { timeout: 30_000 }).toBe(count);
    return (await this.executions()).toReversed();
  }

  /** Waits until nothing waits to be run any more. */
  async idle(): Promise<void> {
    const stub = env.SUBSCRIBERS.getByName(`workflow:${this.workflow.id}`);
    const waiting = () =>
      runInDurableObject(stub, (_, { storage }) =>
        storage.sql.exec("SELECT count(*) AS count FROM deliveries WHERE status = 'pending'").one(),
      );
    await expect.poll(waiting, { timeout: 30_000 }).toEqual({ count: 0 });
  }

  /** What the runs returned, the oldest first; waits until so many are over. */
  async results(count: number): Promise<unknown[]> {
    return (await this.ran(count)).map(({ result }) => JSON.parse(result));
  }
}
