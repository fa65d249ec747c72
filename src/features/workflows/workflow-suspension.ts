/** Disables a workflow on the service's side, and notifies its organization once: owners by mail, webhooks by an event. */
import { fanOut } from "../../delivery/fan-out.ts";
import { announceChange, openDelivery } from "../../delivery/subscribers.ts";
import type { Env } from "../../env.ts";
import type { CachedRow } from "../../platform/cache.ts";
import type { Tenant } from "../../platform/d1/d1.ts";
import { newCallBudget } from "../../platform/flow/work-budget.ts";
import { presentWorkflowDisabled } from "../deliveries/sample-draft.ts";
import { nameInMail } from "../mail/mail.ts";
import { type Notice, notifyOwners } from "../mail/notices.ts";
import type { StoredState } from "./run-state.ts";
import { DISABLED_MESSAGES } from "./schema.ts";
import { suspendWorkflow } from "./store.ts";
import type { DisabledReason, RunnableWorkflow } from "./table.ts";

/** The mail to owners about a workflow: that the service has disabled it. */
const disabledNotice = (
  { id, name }: Pick<RunnableWorkflow, "id" | "name">,
  eventId: string,
  reason: DisabledReason,
  now: number,
): Notice => ({
  ...{ id: eventId, topic: `workflow ${id} disabled`, now, page: `/workflows/${id}` },
  subject: "a workflow was disabled",
  paragraphs: [`The service has disabled the workflow ${nameInMail(name)}.`, DISABLED_MESSAGES[reason]],
});

interface SuspensionPorts {
  readonly env: Env;
  readonly tenant: Tenant;
  readonly row: CachedRow<RunnableWorkflow>;
  readonly state: StoredState;
  /** Epoch ms. */
  now(): number;
  log(message: string, error?: unknown): void;
}

export class WorkflowSuspension {
  readonly #ports: SuspensionPorts;

  constructor(ports: SuspensionPorts) {
    this.#ports = ports;
  }

  /** True when it is done: the row says so from now on, and the organization was notified. */
  async disable(row: RunnableWorkflow, reason: DisabledReason): Promise<boolean> {
    try {
      await this.suspend(row, reason);
      return true;
    } catch (error) {
      this.#ports.log("A workflow could not be disabled", error);
      return false;
    }
  }

  /** Rejects when that must be tried again. */
  async suspend(row: RunnableWorkflow, reason: DisabledReason): Promise<void> {
    const { env, tenant, log } = this.#ports;
    this.#ports.row.invalidate();
    const at = this.#ports.now();
    const [changed] = await tenant.db.run([suspendWorkflow(tenant, row.id, row.updatedAt, reason, at)]);
    if (changed.length === 0) return;
    await announceChange({ accountId: tenant.accountId, eventLogs: openDelivery(env).eventLogs, log });
    this.#ports.state.change({ notice: { eventId: crypto.randomUUID(), reason, at } });
    await this.#notify(row);
  }

  /** Whether no one is left to be notified of what has disabled this workflow; tries again if someone is. */
  async isNotified(row: RunnableWorkflow): Promise<boolean> {
    try {
      await this.#notify(row);
      return true;
    } catch (error) {
      this.#ports.log("Webhooks could not be notified of a disabled workflow", error);
      return false;
    }
  }

  async #notify({ id, name }: RunnableWorkflow): Promise<void> {
    const { env, tenant, state, log } = this.#ports;
    const { notice } = state.read();
    if (notice === null) return;
    const { eventId, reason, at } = notice;
    await notifyOwners(env, tenant.accountId, disabledNotice({ id, name }, eventId, reason, at), log);
    const event = {
      id: eventId,
      event: "workflow.disabled",
      occurredAt: at,
      body: presentWorkflowDisabled(eventId, at, { id, name }, reason),
      pendingSubscriptions: null,
    } as const;
    // The event concerns no room: webhooks of one room do not receive it, and in its place stands what it is about.
    const { calls } = newCallBudget();
    const unreached = await fanOut(tenant, openDelivery(env), id, [event], calls, id);
    if (unreached.size > 0) throw new Error("Some webhooks could not be notified of a disabled workflow");
    state.change({ notice: null });
  }
}
