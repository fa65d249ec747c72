/** `AtriumServer.workflows`: your code that the service runs on events, and its executions. */
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
import {
  type Page,
  type PageShown,
  Resource,
  type Scroll,
  type ScrollShown,
  type WorkflowSearch,
} from "./pages.ts";

/** Longer than a run can take, including the run that it may have to wait for. */
const RUN_TIMEOUT_MS = 75_000;

export class Workflows extends Resource {
  /**
   * Creates a workflow, enabled and for all rooms unless `roomId` is given. `code` is JavaScript or TypeScript. It
   * needs at least one event, a `schedule` or an `httpTrigger`.
   * Throws `VALIDATION_ERROR` with the line and column if it does not compile.
   */
  async create(workflow: WorkflowInput): Promise<Workflow> {
    return (await this.rest.post<{ workflow: Workflow }>(["workflows"], workflow)).workflow;
  }

  /** Newest first, or in the order of `sort`. */
  list(search: WorkflowSearch = {}): Promise<{ readonly workflows: Workflow[] } & PageShown> {
    return this.rest.get(["workflows"], search);
  }

  async get(workflowId: string): Promise<Workflow> {
    return (await this.rest.get<{ workflow: Workflow }>(["workflows", workflowId])).workflow;
  }

  /** Changes the given fields for all runs that start from now on. */
  async update(workflowId: string, changes: WorkflowUpdateInput): Promise<Workflow> {
    return (await this.rest.patch<{ workflow: Workflow }>(["workflows", workflowId], changes)).workflow;
  }

  /** Deletes the workflow with its executions. Runs in progress finish. */
  delete(workflowId: string): Promise<void> {
    return this.rest.delete(["workflows", workflowId]);
  }

  /** Newest first: the executions of the last 7 days, up to 1 GiB of them. A page of large results can be shorter. */
  listExecutions(
    workflowId: string,
    page: Scroll = {},
  ): Promise<{ readonly executions: WorkflowExecution[] } & ScrollShown> {
    return this.rest.get(["workflows", workflowId, "executions"], page);
  }

  /** An execution as it is now: `status` says whether it is `pending`, `running` or finished. */
  async getExecution(workflowId: string, executionId: string): Promise<CurrentExecution> {
    const path = ["workflows", workflowId, "executions", executionId];
    return (await this.rest.get<{ execution: CurrentExecution }>(path)).execution;
  }

  /** The last 50 versions of its code, newest first, without the code. */
  listVersions(
    workflowId: string,
    page: Page = {},
  ): Promise<{ readonly versions: WorkflowVersionSummary[] } & PageShown> {
    return this.rest.get(["workflows", workflowId, "versions"], page);
  }

  /** A version with its code. */
  async getVersion(workflowId: string, version: number): Promise<WorkflowVersion> {
    const path = ["workflows", workflowId, "versions", `${version}`];
    return (await this.rest.get<{ version: WorkflowVersion }>(path)).version;
  }

  /** Saves the code of an earlier version again, as a new version, for all runs that start from now on. */
  async restoreVersion(workflowId: string, version: number): Promise<Workflow> {
    const path = ["workflows", workflowId, "versions", `${version}`, "restore"];
    return (await this.rest.post<{ workflow: Workflow }>(path)).workflow;
  }

  /** The names of its secrets, without their values. */
  async listSecrets(workflowId: string): Promise<WorkflowSecret[]> {
    return (await this.rest.get<{ secrets: WorkflowSecret[] }>(["workflows", workflowId, "secrets"])).secrets;
  }

  /** Creates a secret, or replaces its value: runs that start from now on read it as `env.NAME`. */
  async setSecret(workflowId: string, name: string, value: string): Promise<WorkflowSecret> {
    const path = ["workflows", workflowId, "secrets", name];
    return (await this.rest.put<{ secret: WorkflowSecret }>(path, { value })).secret;
  }

  /** Runs that start from now on do not have the secret. */
  deleteSecret(workflowId: string, name: string): Promise<void> {
    return this.rest.delete(["workflows", workflowId, "secrets", name]);
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
    return (await this.rest.request<{ execution: WorkflowExecution }>(request)).execution;
  }

  /**
   * Starts a workflow that has an `httpTrigger`, with any JSON as its payload, and returns the id of the execution
   * without waiting for it: {@link getExecution} says how it goes.
   */
  async trigger(workflowId: string, payload: object): Promise<{ readonly id: string }> {
    const path = ["workflows", workflowId, "trigger"];
    return (await this.rest.post<{ execution: { readonly id: string } }>(path, payload)).execution;
  }

  /**
   * Creates or replaces the secret that signs requests to the workflow's HTTP trigger, and returns it: it is shown
   * once. An old one is accepted beside it for 24 hours.
   */
  async rotateTriggerSecret(workflowId: string): Promise<WorkflowWithSecret> {
    const path = ["workflows", workflowId, "trigger", "rotate-secret"];
    return (await this.rest.post<{ workflow: WorkflowWithSecret }>(path)).workflow;
  }

  /** Deletes that secret: only API keys start the workflow then. */
  async deleteTriggerSecret(workflowId: string): Promise<Workflow> {
    const path = ["workflows", workflowId, "trigger", "secret"];
    return (await this.rest.request<{ workflow: Workflow }>({ method: "DELETE", path })).workflow;
  }

  /** Success rate, latency and backlog: of the last hour, 24 hours (the default), 7 days or 30 days. */
  async stats(workflowId: string, range?: DeliveryStats["range"]): Promise<DeliveryStats> {
    const path = ["workflows", workflowId, "stats"];
    return (await this.rest.get<{ stats: DeliveryStats }>(path, { range })).stats;
  }
}
