/** `AtriumServer.workflows`: your code that the service runs on events, and its executions. */
import type { Rest } from "../core/rest.ts";
import type { EventName } from "../wire/events.ts";
import type { WorkflowInput, WorkflowRunInput, WorkflowUpdateInput } from "../wire/requests.ts";
import type {
  CurrentExecution,
  DeliveryStats,
  Workflow,
  WorkflowExecution,
  WorkflowSecret,
  WorkflowVersion,
  WorkflowVersionSummary,
  WorkflowWithSecret,
} from "../wire/resources.ts";
import type { Page, PageShown, Scroll, ScrollShown, WorkflowSearch } from "./pages.ts";

/** Longer than a run can take, including the run that it may have to wait for. */
const RUN_TIMEOUT_MS = 75_000;

export class Workflows {
  readonly #rest: Rest;

  constructor(rest: Rest) {
    this.#rest = rest;
  }

  /**
   * Creates a workflow, enabled and for all rooms unless `roomId` is given. `code` is JavaScript or TypeScript. It
   * needs at least one event, a `schedule` or an `httpTrigger`.
   * Throws `VALIDATION_ERROR` with the line and column if it does not compile.
   */
  async create(workflow: WorkflowInput): Promise<Workflow> {
    const request = { method: "POST", path: ["workflows"], body: workflow } as const;
    return (await this.#rest.request<{ workflow: Workflow }>(request)).workflow;
  }

  /** Newest first, or in the order of `sort`. */
  list(search: WorkflowSearch = {}): Promise<{ readonly workflows: Workflow[] } & PageShown> {
    return this.#rest.request({ method: "GET", path: ["workflows"], query: { ...search } });
  }

  async get(workflowId: string): Promise<Workflow> {
    const request = { method: "GET", path: ["workflows", workflowId] } as const;
    return (await this.#rest.request<{ workflow: Workflow }>(request)).workflow;
  }

  /** Changes the given fields for all runs that start from now on. */
  async update(workflowId: string, changes: WorkflowUpdateInput): Promise<Workflow> {
    const request = { method: "PATCH", path: ["workflows", workflowId], body: changes } as const;
    return (await this.#rest.request<{ workflow: Workflow }>(request)).workflow;
  }

  /** Deletes the workflow with its executions. Runs in progress finish. */
  async delete(workflowId: string): Promise<void> {
    await this.#rest.request({ method: "DELETE", path: ["workflows", workflowId] });
  }

  /** Newest first: the executions of the last 7 days, up to 1 GiB of them. A page of large results can be shorter. */
  listExecutions(
    workflowId: string,
    page: Scroll = {},
  ): Promise<{ readonly executions: WorkflowExecution[] } & ScrollShown> {
    const path = ["workflows", workflowId, "executions"];
    return this.#rest.request({ method: "GET", path, query: { ...page } });
  }

  /** An execution as it is now: `status` says whether it is `pending`, `running` or finished. */
  async getExecution(workflowId: string, executionId: string): Promise<CurrentExecution> {
    const path = ["workflows", workflowId, "executions", executionId];
    return (await this.#rest.request<{ execution: CurrentExecution }>({ method: "GET", path })).execution;
  }

  /** The last 50 versions of its code, newest first, without the code. */
  listVersions(
    workflowId: string,
    page: Page = {},
  ): Promise<{ readonly versions: WorkflowVersionSummary[] } & PageShown> {
    const path = ["workflows", workflowId, "versions"];
    return this.#rest.request({ method: "GET", path, query: { ...page } });
  }

  /** A version with its code. */
  async getVersion(workflowId: string, version: number): Promise<WorkflowVersion> {
    const path = ["workflows", workflowId, "versions", `${version}`];
    return (await this.#rest.request<{ version: WorkflowVersion }>({ method: "GET", path })).version;
  }

  /** Saves the code of an earlier version again, as a new version, for all runs that start from now on. */
  async restoreVersion(workflowId: string, version: number): Promise<Workflow> {
    const path = ["workflows", workflowId, "versions", `${version}`, "restore"];
    return (await this.#rest.request<{ workflow: Workflow }>({ method: "POST", path })).workflow;
  }

  /** The names of its secrets, without their values. */
  async listSecrets(workflowId: string): Promise<WorkflowSecret[]> {
    const request = { method: "GET", path: ["workflows", workflowId, "secrets"] } as const;
    return (await this.#rest.request<{ secrets: WorkflowSecret[] }>(request)).secrets;
  }

  /** Creates a secret, or replaces its value: runs that start from now on read it as `env.NAME`. */
  async setSecret(workflowId: string, name: string, value: string): Promise<WorkflowSecret> {
    const path = ["workflows", workflowId, "secrets", name];
    const request = { method: "PUT", path, body: { value } } as const;
    return (await this.#rest.request<{ secret: WorkflowSecret }>(request)).secret;
  }

  /** Runs that start from now on do not have the secret. */
  async deleteSecret(workflowId: string, name: string): Promise<void> {
    await this.#rest.request({ method: "DELETE", path: ["workflows", workflowId, "secrets", name] });
  }

  /**
   * Runs the workflow now, with an event built from the current room and user, and waits for the result. Whatever
   * the run changes stays changed. `userId` is required except for `session.started` and `session.closed`.
   */
  async run(
    workflowId: string,
    event: EventName,
    data: WorkflowRunInput["data"],
  ): Promise<WorkflowExecution> {
    const path = ["workflows", workflowId, "run"];
    const request = { method: "POST", path, body: { event, data }, minTimeoutMs: RUN_TIMEOUT_MS } as const;
    return (await this.#rest.request<{ execution: WorkflowExecution }>(request)).execution;
  }

  /**
   * Starts a workflow that has an `httpTrigger`, with any JSON as its payload, and returns the id of the execution
   * without waiting for it: {@link getExecution} says how it goes.
   */
  async trigger(workflowId: string, payload: object): Promise<{ readonly id: string }> {
    const path = ["workflows", workflowId, "trigger"];
    const request = { method: "POST", path, body: payload } as const;
    return (await this.#rest.request<{ execution: { readonly id: string } }>(request)).execution;
  }

  /**
   * Creates or replaces the secret that signs requests to the workflow's HTTP trigger, and returns it: it is shown
   * once. An old one is accepted beside it for 24 hours.
   */
  async rotateTriggerSecret(workflowId: string): Promise<WorkflowWithSecret> {
    const path = ["workflows", workflowId, "trigger", "rotate-secret"];
    return (await this.#rest.request<{ workflow: WorkflowWithSecret }>({ method: "POST", path })).workflow;
  }

  /** Deletes that secret: only API keys start the workflow then. */
  async deleteTriggerSecret(workflowId: string): Promise<Workflow> {
    const path = ["workflows", workflowId, "trigger", "secret"];
    return (await this.#rest.request<{ workflow: Workflow }>({ method: "DELETE", path })).workflow;
  }

  /** Success rate, latency and what waits: of the last hour, 24 hours (the default), 7 days or 30 days. */
  async stats(workflowId: string, range?: DeliveryStats["range"]): Promise<DeliveryStats> {
    const path = ["workflows", workflowId, "stats"];
    const request = { method: "GET", path, query: { range } } as const;
    return (await this.#rest.request<{ stats: DeliveryStats }>(request)).stats;
  }
}
