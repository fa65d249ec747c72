/** Workflows as they are presented, with their secrets, versions and executions. */

import { EventName, WorkflowEventName } from "@atrium/contract/resources/events.ts";
import type {
  CurrentExecution,
  LogLine,
  WorkflowExecution,
} from "@atrium/contract/rest/workflow-executions.ts";
import type { WorkflowSecret } from "@atrium/contract/rest/workflow-triggers.ts";
import type { WorkflowVersion, WorkflowVersionSummary } from "@atrium/contract/rest/workflow-versions.ts";
import type { Workflow } from "@atrium/contract/rest/workflows.ts";
import { presentNullableTime, presentTime } from "@atrium/contract/time.ts";
import * as z from "zod";
import type { DeliveryRecord, FoundDelivery, LoggedAttempt } from "../../delivery/subscriber/delivery.ts";
import { presentTraced } from "../deliveries/present.ts";
import { DISABLED_MESSAGES } from "./disabled.ts";
import { nextSlot, parseSchedule } from "./schedule.ts";
import type { SecretSummary } from "./secret-store.ts";
import type { WorkflowRow } from "./table.ts";
import type { StoredVersion, VersionSummary } from "./version-store.ts";

export const presentWorkflow = (row: WorkflowRow, now: number): Workflow => ({
  id: row.id,
  organization_id: row.accountId,
  name: row.name,
  code: row.code,
  events: z.array(EventName).parse(JSON.parse(row.events)),
  room_id: row.roomId,
  enabled: row.enabled === 1,
  version: row.version,
  retries: row.retries,
  ...presentSchedule(row, now),
  http_trigger: row.httpTrigger === 1,
  trigger_secret_created_at: presentNullableTime(row.triggerSecretAt),
  ...(row.disabledReason === null ? {} : { disabled_reason: DISABLED_MESSAGES[row.disabledReason] }),
  created_at: presentTime(row.createdAt),
  updated_at: presentTime(row.updatedAt),
});

function presentSchedule(row: WorkflowRow, now: number): Pick<Workflow, "schedule" | "next_run_at"> {
  const schedule = parseSchedule(row.schedule);
  const isRunning = schedule !== null && row.enabled === 1;
  return { schedule, next_run_at: presentNullableTime(isRunning ? nextSlot(schedule, now) : null) };
}

export const presentSecret = ({ name, createdAt, updatedAt }: SecretSummary): WorkflowSecret => ({
  name,
  created_at: presentTime(createdAt),
  updated_at: presentTime(updatedAt),
});

type AuthorNames = ReadonlyMap<string, string>;

export const presentVersionSummary = (row: VersionSummary, names: AuthorNames): WorkflowVersionSummary => ({
  version: row.version,
  saved_at: presentTime(row.savedAt),
  saved_by:
    row.authorType === null || row.authorId === null
      ? null
      : { type: row.authorType, id: row.authorId, name: names.get(row.authorId) ?? null },
  bytes: row.bytes,
});

export const presentVersion = (row: StoredVersion, names: AuthorNames): WorkflowVersion => ({
  ...presentVersionSummary(row, names),
  code: row.code,
});

export interface LoggedRun extends LoggedAttempt {
  readonly result: string | null;
  readonly version: number;
  readonly logs: readonly LogLine[];
}

export function presentExecution(workflowId: string, delivery: DeliveryRecord): WorkflowExecution {
  const run = parseLog(delivery.log).at(-1);
  return {
    id: delivery.id,
    workflow_id: workflowId,
    event: WorkflowEventName.parse(delivery.event),
    status: delivery.status === "success" ? "success" : "failed",
    result: delivery.error ?? run?.result ?? "null",
    ...(run?.version === undefined ? {} : { version: run.version }),
    attempts: delivery.attempts,
    duration_ms: run?.duration_ms ?? 0,
    created_at: presentTime(delivery.createdAt),
    ...presentTraced(delivery),
    logs: [...(run?.logs ?? [])],
  };
}

/** Presents a delivery to the workflow, whether it is over or not. */
export function presentCurrentExecution(
  workflowId: string,
  { delivery, isInFlight }: FoundDelivery,
): CurrentExecution {
  const execution = presentExecution(workflowId, delivery);
  if (delivery.status !== "pending") return execution;
  return { ...execution, status: isInFlight ? "running" : "pending", result: delivery.error };
}

const parseLog = (log: string): LoggedRun[] => JSON.parse(log) as LoggedRun[];
