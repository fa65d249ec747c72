/** A workflow and its executions, as its organization sees them. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { EventName } from "@atrium/contract/resources/events.ts";
import type { WorkflowExecution } from "@atrium/contract/rest/workflow-executions.ts";
import type { Workflow, WorkflowCreation } from "@atrium/contract/rest/workflows.ts";
import { expect } from "vitest";
import type { Answer, Api } from "../support/api.ts";

interface Options extends Pick<WorkflowCreation, "schedule" | "httpTrigger"> {
  readonly events?: readonly EventName[];
  readonly roomId?: string;
}

export const CODE = "export default async (event) => ({ heard: event.event });\n";

export class TestWorkflow {
  readonly workflow: Workflow;
  readonly #api: Api;

  private constructor(api: Api, workflow: Workflow) {
    this.#api = api;
    this.workflow = workflow;
  }

  /** Creates a workflow, by default for user.created in every room. */
  static async create(
    api: Api,
    code = CODE,
    { events = ["user.created"], roomId, ...starts }: Options = {},
  ): Promise<TestWorkflow> {
    const body = { name: "A workflow", code, events, ...(roomId && { roomId }), ...starts };
    const answer = await api.post<{ workflow: Workflow }>("/workflows", body);
    expect(answer.status, answer.error?.message).toBe(201);
    return new TestWorkflow(api, answer.data.workflow);
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

  /** The finished runs, newest first. */
  async executions(): Promise<WorkflowExecution[]> {
    return (await this.#api.get<{ executions: WorkflowExecution[] }>(`${this.path}/executions`)).data
      .executions;
  }

  /** Waits until this many runs are finished, and returns them, oldest first. */
  async ran(count: number): Promise<WorkflowExecution[]> {
    await expect.poll(async () => (await this.executions()).length).toBe(count);
    return (await this.executions()).toReversed();
  }

  async idle(): Promise<void> {
    const stub = env.SUBSCRIBERS.getByName(`workflow:${this.workflow.id}`);
    const waiting = () =>
      runInDurableObject(stub, (_, { storage }) =>
        storage.sql.exec("SELECT count(*) AS count FROM deliveries WHERE status = 'pending'").one(),
      );
    await expect.poll(waiting).toEqual({ count: 0 });
  }

  /** Waits until this many runs are finished, and returns their results, oldest first. */
  async results(count: number): Promise<unknown[]> {
    return (await this.ran(count)).map(({ result }) => JSON.parse(result));
  }
}
