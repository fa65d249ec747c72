/** The state that a workflow's object keeps between runs, and the suspension that may follow from it. */

import { presentEvent } from "@atrium/contract/resources/present-event.ts";
import type { WorkflowDisabledEvent } from "@atrium/contract/resources/workflow-events.ts";
import { parseStored } from "@atrium/contract/stored.ts";
import { disableSubscriber } from "../../delivery/outbox/subscriber-store.ts";
import type { HandlerState } from "../../delivery/subscriber/handler.ts";
import { announceChange, fanOutAbout, openDelivery } from "../../delivery/subscribers.ts";
import type { Env } from "../../env.ts";
import type { CachedRow } from "../../platform/cache.ts";
import type { Tenant } from "../../platform/d1/d1.ts";
import { nameInMail } from "../mail/mail.ts";
import { type Notice, notifyOwners } from "../mail/notices.ts";
import { DISABLED_MESSAGES } from "./disabled.ts";
import type { DisabledReason, RunnableWorkflow } from "./table.ts";

const RETRY_DELAYS_MS = [5_000, 30_000, 120_000, 600_000, 1_800_000] as const;

/** When the run after this many that failed is made (epoch ms); null when no further one is. */
export function planRetry(failedRuns: number, retries: number, now: number): number | null {
  const delayMs = failedRuns <= retries ? RETRY_DELAYS_MS[failedRuns - 1] : undefined;
  return delayMs === undefined ? null : now + delayMs;
}

/** The number of runs in a row that may be killed before the workflow is disabled. */
const MAX_KILLS = 2;

interface KillStreak {
  readonly kills: number;
  readonly version: number;
  /** When the latest of them was killed (epoch ms). */
  readonly at: number;
}

interface EndedRun {
  readonly isKilled: boolean;
  readonly version: number;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** The streak after a run; null when there is none. Runs that shared a killed process count as one. */
export function continueStreak(streak: KillStreak | null, run: EndedRun): KillStreak | null {
  const { isKilled, version, startedAt, endedAt } = run;
  const current = streak !== null && streak.version === version ? streak : null;
  if (current !== null && startedAt < current.at) return current;
  return isKilled ? { kills: (current?.kills ?? 0) + 1, version, at: endedAt } : null;
}

export const isExhausted = (streak: KillStreak | null, version: number): boolean =>
  streak !== null && streak.version === version && streak.kills >= MAX_KILLS;

interface State {
  /** The time since when no run could be started (epoch ms); null while runs start. */
  readonly stuckSince: number | null;
  readonly streak: KillStreak | null;
  /** The notice that the service has disabled the workflow; null once its webhooks know. */
  readonly notice: UnsentNotice | null;
}

interface UnsentNotice {
  readonly eventId: string;
  readonly reason: DisabledReason;
  readonly at: number;
}

/** Reads and changes the state of a workflow's object. */
export class RunStateStore {
  readonly #stored: HandlerState;

  constructor(stored: HandlerState) {
    this.#stored = stored;
  }

  read(): State {
    return parseStored<State>(this.#stored.read(), { stuckSince: null, streak: null, notice: null });
  }

  /** Most runs change nothing. */
  change(changes: Partial<State>): void {
    const present = this.read();
    const json = JSON.stringify({ ...present, ...changes });
    if (json !== JSON.stringify(present)) this.#stored.write(json);
  }
}

/** Mail to owners about a workflow that the service has disabled. */
const disabledNotice = (
  { id, name }: Pick<RunnableWorkflow, "id" | "name">,
  eventId: string,
  reason: DisabledReason,
  now: number,
): Notice => ({
  id: eventId,
  topic: `workflow ${id} disabled`,
  now,
  page: `/workflows/${id}`,
  subject: "a workflow was disabled",
  paragraphs: [`The service has disabled the workflow ${nameInMail(name)}.`, DISABLED_MESSAGES[reason]],
});

interface SuspensionPorts {
  readonly env: Env;
  readonly tenant: Tenant;
  readonly row: CachedRow<RunnableWorkflow>;
  readonly state: RunStateStore;
  now(): number;
  log(message: string, error?: unknown): void;
}

/** Disables a workflow whose runs cannot start or keep being stopped, and notifies of it. */
export class WorkflowSuspension {
  readonly #ports: SuspensionPorts;

  constructor(ports: SuspensionPorts) {
    this.#ports = ports;
  }

  /** True when it is done: the row says so from now on, and the organization was notified. */
  disable(row: RunnableWorkflow, reason: DisabledReason): Promise<boolean> {
    return this.#succeeds(this.suspend(row, reason), "A workflow could not be disabled");
  }

  /** Rejects when that must be tried again. */
  async suspend(row: RunnableWorkflow, reason: DisabledReason): Promise<void> {
    const { env, tenant, log } = this.#ports;
    this.#ports.row.invalidate();
    const at = this.#ports.now();
    const key = { kind: "workflow", accountId: tenant.accountId, id: row.id } as const;
    const [changed] = await tenant.db.run([disableSubscriber(key, row.updatedAt, reason, at)]);
    if (changed.length === 0) return;
    await announceChange({ accountId: tenant.accountId, eventLogs: openDelivery(env).eventLogs, log });
    this.#ports.state.change({ notice: { eventId: crypto.randomUUID(), reason, at } });
    await this.#notify(row);
  }

  /** Whether all subscribers are notified of the disabled workflow. Tries again if some are not. */
  isNotified(row: RunnableWorkflow): Promise<boolean> {
    return this.#succeeds(this.#notify(row), "Webhooks could not be notified of a disabled workflow");
  }

  #succeeds(work: Promise<void>, failure: string): Promise<boolean> {
    const { log } = this.#ports;
    return work.then(
      () => true,
      (error: unknown) => {
        log(failure, error);
        return false;
      },
    );
  }

  async #notify({ id, name }: RunnableWorkflow): Promise<void> {
    const { env, tenant, state, log } = this.#ports;
    const { notice } = state.read();
    if (notice === null) return;
    const { eventId, reason, at } = notice;
    await notifyOwners(env, tenant.accountId, disabledNotice({ id, name }, eventId, reason, at), log);
    await fanOutAbout(id, tenant.accountId, openDelivery(env), {
      id: eventId,
      event: "workflow.disabled",
      occurredAt: at,
      body: presentEvent(eventId, at, {
        event: "workflow.disabled",
        data: { workflowId: id, reason },
        workflow: { id, name },
      } as const satisfies Omit<WorkflowDisabledEvent, "id" | "timestamp">),
    });
    state.change({ notice: null });
  }
}
