/** Writes to workflows, and runs by hand. */

import { AppError, notFound } from "@atrium/contract/errors.ts";
import type { WorkflowExecution, WorkflowRun } from "@atrium/contract/rest/workflow-executions.ts";
import {
  NOTHING_STARTS_IT,
  type Workflow,
  type WorkflowCreation,
  type WorkflowUpdate,
} from "@atrium/contract/rest/workflows.ts";
import { fold } from "@atrium/contract/text.ts";
import {
  announceChange,
  type DeliveryObjects,
  notifyOfChange,
  purgeSubscribers,
  removeSubscriber,
} from "../../delivery/subscribers.ts";
import { sha256 } from "../../platform/crypto/encoding.ts";
import type { Actor } from "../../platform/d1/context.ts";
import { type Database, rowOf, type Tenant } from "../../platform/d1/d1.ts";
import type { WorkBudget } from "../../platform/flow/work-budget.ts";
import type { Runner } from "../../sandbox/runners/runner.ts";
import { guardSubscribers } from "../quotas/guard.ts";
import { getRoomRow } from "../rooms/queries.ts";
import type { WorkflowContext } from "./context.ts";
import { presentExecution, presentWorkflow } from "./present.ts";
import { getSummary, getVersion, getWorkflow, subscriberKey } from "./queries.ts";
import { scheduleColumn } from "./schedule.ts";
import { trialEvent } from "./start-commands.ts";
import {
  deleteRetired,
  deleteWorkflow as deleteRow,
  insertRetired,
  insertWorkflow,
  retireReplacedScript,
  retireScript,
  selectRetired,
  updateCode,
  updateWorkflow as updateRow,
} from "./store.ts";
import { type StoredWorkflow, workflows } from "./table.ts";
import { type Author, keepVersion } from "./version-store.ts";

const eventsColumn = (names: readonly string[]): string => JSON.stringify([...new Set(names)]);

/** Creates a workflow, enabled. NOT_FOUND when it names a room that does not exist, VALIDATION_ERROR for a schedule that never comes. */
export async function createWorkflow(
  ctx: WorkflowContext,
  { name, code, events, roomId = null, retries = 0, httpTrigger = false, ...given }: WorkflowCreation,
): Promise<{ workflow: Workflow }> {
  const schedule = scheduleColumn(given.schedule ?? null);
  const prepared = await prepareCode(ctx, code);
  if (roomId !== null) await getRoomRow(ctx, roomId);
  const now = ctx.now();
  const row = rowOf(workflows, {
    ...prepared,
    accountId: ctx.accountId,
    id: ctx.newId(),
    events: eventsColumn(events),
    roomId,
    enabled: 1,
    createdAt: now,
    updatedAt: now,
    origin: ctx.origin,
    name,
    nameFolded: fold(name),
    retries,
    schedule,
    httpTrigger: Number(httpTrigger),
  });
  const data = { workflow: presentWorkflow(row, now) };
  await deploy(ctx, row.id, prepared);
  const key = subscriberKey(ctx, row.id);
  if (schedule !== null) await ctx.subscribers(key).expectChange(key);
  const quota = guardSubscribers(ctx, "workflows");
  await ctx
    .commit(
      [insertWorkflow(ctx, row), ...quota.statements, ...keepVersion(ctx, row.id, authorOf(ctx.actor))],
      data,
    )
    .catch(undeployOnFailure(ctx, row.id, prepared))
    .catch(quota.refuse);
  await announceChange(ctx);
  if (schedule !== null) await notifyOfChange(ctx, key, row.updatedAt);
  return data;
}

/** Changes a workflow. Runs that start later use the new state; runs in progress finish with the old one. */
export async function updateWorkflow(
  ctx: WorkflowContext,
  workflowId: string,
  update: WorkflowUpdate,
): Promise<{ workflow: Workflow }> {
  const { name, code, events, roomId, retries, httpTrigger, enabled } = update;
  const schedule = update.schedule === undefined ? undefined : scheduleColumn(update.schedule);
  await requireStart(ctx, workflowId, update);
  if (typeof roomId === "string") await getRoomRow(ctx, roomId);
  const replacement = code === undefined ? null : await replaceCode(ctx, workflowId, code);
  const changes = {
    ...(name === undefined ? {} : { name, nameFolded: fold(name) }),
    ...(events === undefined ? {} : { events: eventsColumn(events) }),
    ...(roomId === undefined ? {} : { roomId }),
    ...(retries === undefined ? {} : { retries }),
    ...(schedule === undefined ? {} : { schedule }),
    ...(httpTrigger === undefined ? {} : { httpTrigger: Number(httpTrigger) }),
    ...(enabled === undefined ? {} : { enabled: Number(enabled), disabledReason: null }),
  };
  // Without a schedule, an object that is expected to change finds nothing to do.
  const key = subscriberKey(ctx, workflowId);
  if (schedule || enabled) await ctx.subscribers(key).expectChange(key);
  const now = ctx.now();
  const [, [row]] = await ctx
    .commit([
      retireReplacedScript(ctx, workflowId, replacement?.hash ?? null, now),
      replacement === null
        ? updateRow(ctx, workflowId, changes, now)
        : updateCode(ctx, workflowId, { ...changes, ...replacement }, now),
      ...(replacement === null ? [] : keepVersion(ctx, workflowId, authorOf(ctx.actor))),
    ])
    .catch(replacement === null ? rethrow : undeployOnFailure(ctx, workflowId, replacement));
  if (row === undefined) throw notFound("Workflows", "Workflow");
  await announceChange(ctx);
  await notifyOfChange(ctx, key, row.updatedAt);
  return { workflow: presentWorkflow(row, now) };
}

/** VALIDATION_ERROR when the update would leave nothing that starts the workflow, NOT_FOUND without it. */
async function requireStart(
  ctx: WorkflowContext,
  workflowId: string,
  { events, schedule, httpTrigger }: WorkflowUpdate,
): Promise<void> {
  if (events?.length !== 0 && schedule !== null && httpTrigger !== false) return;
  const before = await getSummary(ctx, workflowId);
  const left = {
    events: events?.length ?? Number(before.events !== "[]"),
    schedule: schedule === undefined ? before.schedule : schedule,
    httpTrigger: httpTrigger ?? before.httpTrigger === 1,
  };
  if (left.events === 0 && left.schedule === null && !left.httpTrigger)
    throw new AppError("Workflows", "VALIDATION_ERROR", `events: ${NOTHING_STARTS_IT}`);
}

/** Saves the code of an earlier version again, as a new one. NOT_FOUND when that version is not kept. */
export async function restoreVersion(
  ctx: WorkflowContext,
  workflowId: string,
  version: string,
): Promise<{ workflow: Workflow }> {
  const { version: earlier } = await getVersion(ctx, workflowId, version);
  return updateWorkflow(ctx, workflowId, { code: earlier.code });
}

/** Deploys new code, unless it compiles to the module that is already deployed. */
async function replaceCode(
  ctx: WorkflowContext,
  workflowId: string,
  code: string,
): Promise<PreparedCode & Pick<StoredWorkflow, "origin">> {
  const before = await getSummary(ctx, workflowId);
  const prepared = await prepareCode(ctx, code);
  if (prepared.hash !== before.hash) await deploy(ctx, workflowId, prepared);
  return { ...prepared, origin: ctx.origin };
}

const rethrow = (failure: unknown): never => {
  throw failure;
};

export async function deleteWorkflow(
  ctx: WorkflowContext,
  workflowId: string,
): Promise<Record<string, never>> {
  const [, deleted] = await ctx.commit([
    retireScript(ctx, workflowId, ctx.now()),
    deleteRow(ctx, workflowId),
  ]);
  if (deleted.length === 0) throw notFound("Workflows", "Workflow");
  await announceChange(ctx);
  await removeSubscriber(ctx, subscriberKey(ctx, workflowId));
  return {};
}

export const purgeWorkflows = (tenant: Tenant, objects: DeliveryObjects, budget: WorkBudget, now: number) =>
  purgeSubscribers("workflow", tenant, objects, budget, now, (id) => [
    retireScript(tenant, id, now),
    deleteRow(tenant, id),
  ]);

const disabled = () => new AppError("Workflows", "CONFLICT", "The workflow is disabled; enable it to run it");

/** Runs a workflow now, with an event about the room and user as they are, and returns the finished run. */
export async function runWorkflow(
  ctx: WorkflowContext,
  workflowId: string,
  run: WorkflowRun,
): Promise<{ execution: WorkflowExecution }> {
  const event = await trialEvent(ctx, workflowId, run);
  if (event === null) throw disabled();
  const key = subscriberKey(ctx, workflowId);
  const delivery = await ctx.subscribers(key).deliverNowOnce(key, event);
  if (delivery !== null) return { execution: presentExecution(workflowId, delivery) };
  await getWorkflow(ctx, workflowId); // the workflow was deleted or disabled meanwhile
  throw disabled();
}

/** Time until every run of a retired script has started; removal does not stop runs in progress. */
const REMOVED_AFTER_MS = 60_000;
const SWEEP_SIZE = 100;

type PreparedCode = Pick<StoredWorkflow, "code" | "module" | "problemAtRun" | "hash">;

/** Compiles a workflow's source; VALIDATION_ERROR with line and column when it does not compile. */
async function prepareCode(
  { accountId, compile }: Pick<WorkflowContext, "accountId" | "compile">,
  code: string,
): Promise<PreparedCode> {
  const compilation = await compile(accountId, code);
  if (!compilation.ok) {
    const { line, column, message } = compilation.problem;
    const where = `line ${line}, column ${column}`;
    throw new AppError("Workflows", "VALIDATION_ERROR", `code: ${where}: ${message}`);
  }
  const { module, problemAtRun } = compilation;
  return {
    code,
    module,
    problemAtRun: problemAtRun && JSON.stringify(problemAtRun),
    hash: await sha256(new TextEncoder().encode(module)),
  };
}

/** Deploys a workflow's code, before its row refers to it. */
async function deploy(
  ctx: WorkflowContext,
  workflowId: string,
  { module, hash }: PreparedCode,
): Promise<void> {
  try {
    await ctx.deploy({ accountId: ctx.accountId, workflowId, module, hash });
  } catch (error) {
    if (error instanceof AppError) throw error;
    ctx.log("A workflow's code could not be deployed", error);
    const why = "The code could not be deployed; nothing was changed. Try again";
    throw new AppError("Workflows", "INTERNAL_ERROR", why);
  }
}

/** Retires code that was deployed but whose row could not be written, and rethrows the failure. */
const undeployOnFailure =
  (ctx: WorkflowContext, workflowId: string, { hash }: PreparedCode) =>
  async (failure: unknown): Promise<never> => {
    const row = { accountId: ctx.accountId, workflowId, hash, retiredAt: ctx.now() };
    await ctx.db.run([insertRetired(row)]).catch((error: unknown) => {
      ctx.log("Deployed code that no workflow uses could not be retired", error);
    });
    throw failure;
  };

/** Removes scripts that were retired a while ago. Failed removals wait for the next run. */
export async function sweepRetiredScripts(
  db: Database,
  openRunner: () => Pick<Runner, "remove">,
  now: number,
  log: (message: string, error: unknown) => void,
): Promise<void> {
  const [retired] = await db.run([selectRetired(now - REMOVED_AFTER_MS, SWEEP_SIZE)]);
  for (const { isInUse, ...script } of retired) {
    try {
      if (!isInUse) await openRunner().remove?.(script);
      await db.run([deleteRetired(script)]);
    } catch (error) {
      log("A retired script could not be removed yet", error);
    }
  }
}

/** The author of code in a request; null for actors that cannot save. */
function authorOf(actor: Actor): Author | null {
  if (actor.type === "person") return { type: "person", id: actor.personId };
  return actor.type === "key" ? { type: "key", id: actor.keyId } : null;
}
