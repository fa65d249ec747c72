/** `AtriumServer.webhooks` and `AtriumServer.workflows`: the subscribers to events. */
import type * as input from "../wire/requests.ts";
import type * as wire from "../wire/resources.ts";
import {
  eachOf,
  type Filter,
  type Listed,
  type Page,
  type PageShown,
  Resource,
  type Scroll,
  type WebhookSearch,
  type WorkflowSearch,
} from "./pages.ts";

/** Filters a list of deliveries. */
export interface DeliverySearch extends Scroll {
  readonly status?: wire.Delivery["status"] | undefined;
  readonly event?: wire.Delivery["event"] | undefined;
  readonly roomId?: string | undefined;
}

export class Webhooks extends Resource {
  /** Creates a webhook, for all rooms unless `roomId` is given. Store the `secret`: it is shown only once. */
  create(webhook: input.WebhookInput): Promise<wire.WebhookWithSecret> {
    return this.only("webhook", this.rest.post(["webhooks"], webhook));
  }

  /** Newest first, or in the order of `sort`. */
  list(search: WebhookSearch = {}): Promise<Listed<"webhooks", wire.ListedWebhook, PageShown>> {
    return this.rest.get(["webhooks"], search);
  }

  get(webhookId: string): Promise<wire.Webhook> {
    return this.only("webhook", this.rest.get(["webhooks", webhookId]));
  }

  /** Changes the given fields. */
  update(webhookId: string, changes: input.WebhookUpdateInput): Promise<wire.Webhook> {
    return this.only("webhook", this.rest.patch(["webhooks", webhookId], changes));
  }

  /** Deletes the webhook with its deliveries, including the pending ones. */
  delete(webhookId: string): Promise<void> {
    return this.rest.delete(["webhooks", webhookId]);
  }

  /** Replaces the secret. For 24 hours, messages are also signed with the old one. */
  rotateSecret(webhookId: string): Promise<wire.WebhookWithSecret> {
    return this.only("webhook", this.rest.post(["webhooks", webhookId, "rotate-secret"]));
  }

  /** Sends an example event, and returns its delivery after the first attempt. */
  test(webhookId: string): Promise<wire.Delivery> {
    return this.only("delivery", this.rest.post(["webhooks", webhookId, "test"]));
  }

  /** Newest first: the last 7 days, up to 1 GiB; with `event` or `roomId`, among the latest 10,000 deliveries. */
  listDeliveries(
    webhookId: string,
    filter: DeliverySearch = {},
  ): Promise<Listed<"deliveries", wire.Delivery>> {
    return this.rest.get(["webhooks", webhookId, "deliveries"], filter);
  }

  /** All of them, newest first, 100 at a time: `for await (const delivery of atrium.webhooks.eachDelivery(id))`. */
  eachDelivery(
    webhookId: string,
    filter: Filter<DeliverySearch> = {},
  ): AsyncGenerator<wire.Delivery, void, void> {
    return eachOf("deliveries", (part) => this.listDeliveries(webhookId, { ...filter, ...part }));
  }

  /** Sends the event of a delivery again, with the same event id, as a new delivery. */
  redeliver(webhookId: string, deliveryId: string): Promise<wire.Delivery> {
    const path = ["webhooks", webhookId, "deliveries", deliveryId, "redeliver"];
    return this.only("delivery", this.rest.post(path));
  }

  /** Redelivers up to 100 deliveries, in no particular order. `missing` has the ids of deliveries that are not kept. */
  redeliverAll(
    webhookId: string,
    deliveryIds: readonly string[],
  ): Promise<{ readonly redelivered: number; readonly missing: string[] }> {
    return this.rest.post(["webhooks", webhookId, "redeliver"], { ids: deliveryIds });
  }

  /** Sends logged events again; with `status`, only of such kept deliveries. `CONFLICT` during another replay. */
  replay(webhookId: string, span: input.ReplayInput): Promise<wire.Replay> {
    return this.only("replay", this.rest.post(["webhooks", webhookId, "replay"], span));
  }

  /** The webhook's latest replay, and how far it is; null when there was none. */
  getReplay(webhookId: string): Promise<wire.Replay | null> {
    return this.only("replay", this.rest.get(["webhooks", webhookId, "replay"]));
  }

  /** Success rate, latency and backlog: of the last hour, 24 hours (the default), 7 days or 30 days. */
  stats(webhookId: string, range?: wire.DeliveryStats["range"]): Promise<wire.DeliveryStats> {
    return this.only("stats", this.rest.get(["webhooks", webhookId, "stats"], { range }));
  }
}

/** Longer than a run can take, including the run that it may have to wait for. */
const RUN_TIMEOUT_MS = 75_000;

/** `AtriumServer.workflows`: programs that run on events. */
export class Workflows extends Resource {
  /**
   * Creates a workflow of JavaScript or TypeScript, enabled and for all rooms unless `roomId` is given. It needs an event,
   * a `schedule` or an `httpTrigger`. `VALIDATION_ERROR` with line and column if the code does not compile.
   */
  create(workflow: input.WorkflowInput): Promise<wire.Workflow> {
    return this.only("workflow", this.rest.post(["workflows"], workflow));
  }

  /** Newest first, or in the order of `sort`. */
  list(search: WorkflowSearch = {}): Promise<Listed<"workflows", wire.Workflow, PageShown>> {
    return this.rest.get(["workflows"], search);
  }

  get(workflowId: string): Promise<wire.Workflow> {
    return this.only("workflow", this.rest.get(["workflows", workflowId]));
  }

  /** Changes the given fields for all runs that start from now on. */
  update(workflowId: string, changes: input.WorkflowUpdateInput): Promise<wire.Workflow> {
    return this.only("workflow", this.rest.patch(["workflows", workflowId], changes));
  }

  /** Deletes the workflow with its executions. Runs in progress finish. */
  delete(workflowId: string): Promise<void> {
    return this.rest.delete(["workflows", workflowId]);
  }

  /** Newest first: the executions of the last 7 days, up to 1 GiB of them. A page of large results can be shorter. */
  listExecutions(
    workflowId: string,
    page: Scroll = {},
  ): Promise<Listed<"executions", wire.WorkflowExecution>> {
    return this.rest.get(["workflows", workflowId, "executions"], page);
  }

  /** An execution as it is now: `status` says whether it is `pending`, `running` or finished. */
  getExecution(workflowId: string, executionId: string): Promise<wire.CurrentExecution> {
    return this.only("execution", this.rest.get(["workflows", workflowId, "executions", executionId]));
  }

  /** The last 50 versions of its code, newest first, without the code. */
  listVersions(
    workflowId: string,
    page: Page = {},
  ): Promise<Listed<"versions", wire.WorkflowVersionSummary, PageShown>> {
    return this.rest.get(["workflows", workflowId, "versions"], page);
  }

  /** A version with its code. */
  getVersion(workflowId: string, version: number): Promise<wire.WorkflowVersion> {
    return this.only("version", this.rest.get(["workflows", workflowId, "versions", `${version}`]));
  }

  /** Saves the code of an earlier version again, as a new version, for all runs that start from now on. */
  restoreVersion(workflowId: string, version: number): Promise<wire.Workflow> {
    const path = ["workflows", workflowId, "versions", `${version}`, "restore"];
    return this.only("workflow", this.rest.post(path));
  }

  /** The names of its secrets, without their values. */
  listSecrets(workflowId: string): Promise<wire.WorkflowSecret[]> {
    return this.only("secrets", this.rest.get(["workflows", workflowId, "secrets"]));
  }

  /** Creates a secret, or replaces its value: runs that start from now on read it as `env.NAME`. */
  setSecret(workflowId: string, name: string, value: string): Promise<wire.WorkflowSecret> {
    return this.only("secret", this.rest.put(["workflows", workflowId, "secrets", name], { value }));
  }

  /** Runs that start from now on do not have the secret. */
  deleteSecret(workflowId: string, name: string): Promise<void> {
    return this.rest.delete(["workflows", workflowId, "secrets", name]);
  }

  /** Runs the workflow now, for the current room and user, and waits. Its changes stay. Most events need a `userId`. */
  run(
    workflowId: string,
    event: wire.EventName,
    data: input.WorkflowRunInput["data"],
  ): Promise<wire.WorkflowExecution> {
    const path = ["workflows", workflowId, "run"];
    const request = { method: "POST", path, body: { event, data }, minTimeoutMs: RUN_TIMEOUT_MS } as const;
    return this.only("execution", this.rest.request(request));
  }

  /** Starts a workflow with an `httpTrigger`. Returns the execution's id at once, for {@link getExecution}. */
  trigger(workflowId: string, payload: object): Promise<{ readonly id: string }> {
    return this.only("execution", this.rest.post(["workflows", workflowId, "trigger"], payload));
  }

  /** Creates or replaces the trigger's signing secret, shown once. The old one is accepted for another 24 hours. */
  rotateTriggerSecret(workflowId: string): Promise<wire.WorkflowWithSecret> {
    return this.only("workflow", this.rest.post(["workflows", workflowId, "trigger", "rotate-secret"]));
  }

  /** Deletes the trigger's signing secret: only API keys start the workflow then. */
  deleteTriggerSecret(workflowId: string): Promise<wire.Workflow> {
    const path = ["workflows", workflowId, "trigger", "secret"];
    return this.only("workflow", this.rest.request({ method: "DELETE", path }));
  }

  /** Success rate, latency and backlog: of the last hour, 24 hours (the default), 7 days or 30 days. */
  stats(workflowId: string, range?: wire.DeliveryStats["range"]): Promise<wire.DeliveryStats> {
    return this.only("stats", this.rest.get(["workflows", workflowId, "stats"], { range }));
  }
}
