/** Workflows for back ends: code that runs here when something happens, and how its runs went. */
import type { Page, PageShown } from "./answers.ts";
import type { EventName } from "./events.ts";
import type { Rest } from "./rest.ts";

/** Code that runs on events. */
export interface Workflow {
  readonly id: string;
  readonly organization_id: string;
  readonly name: string;
  /** A module whose default export is a function of the event and the bindings. */
  readonly code: string;
  readonly events: EventName[];
  /** Null for all rooms. */
  readonly room_id: string | null;
  readonly enabled: boolean;
  readonly created_at: string;
  readonly updated_at: string;
}

/** What a run said on its console. */
export interface LogLine {
  readonly level: "debug" | "log" | "info" | "warn" | "error";
  readonly message: string;
  readonly timestamp: string;
}

/** A run of a workflow. */
export interface Execution {
  readonly id: string;
  readonly workflow_id: string;
  readonly event: EventName;
  readonly status: "success" | "failed";
  /** What the function gave, as JSON; of a failed run, what went wrong. */
  readonly result: string;
  readonly duration_ms: number;
  readonly created_at: string;
  readonly logs: LogLine[];
}

/** What can be said of a workflow that is there; `roomId: null` stands for all rooms. */
export interface WorkflowChanges {
  readonly name?: string;
  readonly code?: string;
  readonly events?: readonly EventName[];
  readonly roomId?: string | null;
  readonly enabled?: boolean;
}

export class Workflows {
  readonly #rest: Rest;

  constructor(rest: Rest) {
    this.#rest = rest;
  }

  /** `VALIDATION_ERROR` with line and column for code that does not compile. */
  async create(workflow: {
    readonly name: string;
    readonly code: string;
    readonly events: readonly EventName[];
    readonly roomId?: string;
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

  async update(workflowId: string, changes: WorkflowChanges): Promise<Workflow> {
    const request = { method: "PATCH", path: ["workflows", workflowId], body: changes } as const;
    return (await this.#rest.ask<{ workflow: Workflow }>(request)).workflow;
  }

  /** Runs that have begun finish; their record goes with it. */
  async delete(workflowId: string): Promise<void> {
    await this.#rest.ask({ method: "DELETE", path: ["workflows", workflowId] });
  }

  /** Newest first: the latest 1,000, for 7 days. */
  listExecutions(
    workflowId: string,
    page: Page = {},
  ): Promise<{ readonly executions: Execution[] } & PageShown> {
    const path = ["workflows", workflowId, "executions"];
    return this.#rest.ask({ method: "GET", path, query: { ...page } });
  }

  /** Runs it now, on an event about a room and a user that are there; gives how that went. */
  async run(
    workflowId: string,
    sample: {
      readonly event: EventName;
      readonly data: { readonly roomId: string; readonly userId?: string };
    },
  ): Promise<Execution> {
    const request = { method: "POST", path: ["workflows", workflowId, "run"], body: sample } as const;
    return (await this.#rest.ask<{ execution: Execution }>(request)).execution;
  }
}
