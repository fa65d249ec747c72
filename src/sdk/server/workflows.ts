/** `AtriumServer.workflows`: your code that the service runs when something happens, and how its runs went. */

import type { Rest } from "../core/rest.ts";
import type { EventName } from "../wire/events.ts";
import type { Page, PageShown } from "./responses.ts";

/** Longer than a run may take, and than the one that it may have to wait for. */
const RUN_TIMEOUT_MS = 75_000;

export interface Workflow {
  readonly id: string;
  readonly organization_id: string;
  readonly name: string;
  /** As it was sent. */
  readonly code: string;
  readonly events: EventName[];
  /** Null for all rooms. */
  readonly room_id: string | null;
  /** Without it nothing is run. */
  readonly enabled: boolean;
  readonly created_at: string;
  readonly updated_at: string;
}

/** What a workflow wrote to its console. */
export interface LogLine {
  readonly level: "debug" | "log" | "info" | "warn" | "error";
  readonly message: string;
  readonly timestamp: string;
}

/** A run that is over. */
export interface WorkflowExecution {
  readonly id: string;
  readonly workflow_id: string;
  readonly event: EventName;
  readonly status: "success" | "failed";
  /** What was returned, as JSON; of a failed run, what went wrong, in words. */
  readonly result: string;
  readonly duration_ms: number;
  readonly created_at: string;
  /** The first line first. */
  readonly logs: LogLine[];
}

export class Workflows {
  readonly #rest: Rest;

  constructor(rest: Rest) {
    this.#rest = rest;
  }

  /**
   * It runs from now on; without `roomId`, in all rooms. `code` is JavaScript or TypeScript: `VALIDATION_ERROR`
   * names the line and column of what cannot be compiled.
   */
  async create(workflow: {
    readonly name: string;
    readonly code: string;
    readonly events: readonly EventName[];
    readonly roomId?: string | null;
  }): Promise<Workflow> {
    const request = { method: "POST", path: ["workflows"], body: workflow } as const;
    return (await this.#rest.ask<{ workflow: Workflow }>(request)).workflow;
  }

  /** Newest first; `search` is for text in the name. */
  list(
    search: Page & { readonly search?: string } = {},
  ): Promise<{ readonly workflows: Workflow[] } & PageShown> {
    return this.#rest.ask({ method: "GET", path: ["workflows"], query: { ...search } });
  }

  async get(workflowId: string): Promise<Workflow> {
    const request = { method: "GET", path: ["workflows", workflowId] } as const;
    return (await this.#rest.ask<{ workflow: Workflow }>(request)).workflow;
  }

  /** Counts for every run that begins from now on; those in progress end as they began. */
  async update(
    workflowId: string,
    changes: {
      readonly name?: string;
      readonly code?: string;
      readonly events?: readonly EventName[];
      readonly roomId?: string | null;
      readonly enabled?: boolean;
    },
  ): Promise<Workflow> {
    const request = { method: "PATCH", path: ["workflows", workflowId], body: changes } as const;
    return (await this.#rest.ask<{ workflow: Workflow }>(request)).workflow;
  }

  /** With the record of its runs; those in progress finish. */
  async delete(workflowId: string): Promise<void> {
    await this.#rest.ask({ method: "DELETE", path: ["workflows", workflowId] });
  }

  /** Newest first: the latest 1,000, for 7 days. A page of large results ends early. */
  listExecutions(
    workflowId: string,
    page: Page = {},
  ): Promise<{ readonly executions: WorkflowExecution[] } & PageShown> {
    return this.#rest.ask({
      method: "GET",
      path: ["workflows", workflowId, "executions"],
      query: { ...page },
    });
  }

  /** Runs it now, with an event made of the room and the user as they are; what the run does is real. */
  async run(
    workflowId: string,
    event: EventName,
    data: { readonly roomId: string; readonly userId?: string },
  ): Promise<WorkflowExecution> {
    const path = ["workflows", workflowId, "run"];
    const request = { method: "POST", path, body: { event, data }, minTimeoutMs: RUN_TIMEOUT_MS } as const;
    return (await this.#rest.ask<{ execution: WorkflowExecution }>(request)).execution;
  }
}
