/** A workflow of the bench: created over REST, and polled until its runs are recorded. */

import type { EventName } from "@atrium/contract/resources/events.ts";
import type { WorkflowExecution } from "@atrium/contract/rest/workflow-executions.ts";
import type { Workflow } from "@atrium/contract/rest/workflows.ts";
import { CommandError } from "../../../../src/cli/process/command.ts";
import type { Organization } from "../organization.ts";

const RECORD_LIMIT_MS = 60_000;
const CODE = "export default async (event) => ({ heard: event.event });";

interface Executions {
  readonly executions: readonly WorkflowExecution[];
  readonly total: number;
}

export class Automation {
  readonly origin: string;
  readonly organization: Organization;
  #id = "";

  constructor(origin: string, organization: Organization) {
    this.origin = origin;
    this.organization = organization;
  }

  /** Creates the workflow. */
  async prepare(events: readonly EventName[]): Promise<void> {
    const body = { name: "Bench", code: CODE, events };
    this.#id = (await this.#ask<{ workflow: Workflow }>("POST", "workflows", body)).workflow.id;
  }

  /** Deletes the workflow and its executions. */
  async remove(): Promise<void> {
    await this.#ask("DELETE", `workflows/${this.#id}`);
  }

  /** Runs it by hand in the room, and returns how long that took, in milliseconds. */
  async run(roomId: string): Promise<number> {
    const startedAt = performance.now();
    const body = { event: "session.started", data: { roomId } };
    const path = `workflows/${this.#id}/run`;
    const { execution } = await this.#ask<{ execution: WorkflowExecution }>("POST", path, body);
    if (execution.status === "failed") throw new CommandError(`A run failed: ${execution.result}`);
    return performance.now() - startedAt;
  }

  /** Polls until this many runs are recorded; returns the time, by `performance.now()`. */
  async recorded(count: number, stop: AbortSignal): Promise<number> {
    const limit = performance.now() + RECORD_LIMIT_MS;
    for (;;) {
      stop.throwIfAborted();
      const path = `workflows/${this.#id}/executions?limit=1`;
      const { executions, total } = await this.#ask<Executions>("GET", path);
      if (executions[0]?.status === "failed") throw new CommandError(`A run failed: ${executions[0].result}`);
      if (total >= count) return performance.now();
      if (performance.now() > limit) throw new CommandError(`Only ${total} of ${count} runs were recorded`);
    }
  }

  async #ask<Data>(method: string, path: string, body?: object): Promise<Data> {
    const response = await fetch(`${this.origin}/v1/accounts/${this.organization.accountId}/${path}`, {
      method,
      headers: { ...this.organization.headers, "Content-Type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    const { data, description } = (await response.json()) as { data: Data; description: string };
    if (!response.ok) throw new CommandError(`${method} ${path}: ${response.status} ${description}`);
    return data;
  }
}
