/** What can be done to workflows. */
import type { RequestContext } from "../context/context.ts";
import { AppError, notFound } from "../platform/errors.ts";
import { fold } from "../platform/text.ts";
import { getRoomRow } from "../rooms/queries.ts";
import { deploy, type PreparedCode, prepareCode, undeployOnFailure } from "./deployment.ts";
import { getWorkflow, keyOf } from "./queries.ts";
import {
  presentWorkflow,
  type Workflow,
  type WorkflowCreation,
  type WorkflowExecution,
  type WorkflowRun,
  type WorkflowUpdate,
} from "./schema.ts";
import {
  deleteWorkflow as deleteRow,
  insertWorkflow,
  retireReplacedScript,
  retireScript,
  selectWorkflowSummary,
  updateWorkflow as updateRow,
} from "./store.ts";
import type { StoredWorkflow } from "./table.ts";
import { trialEvent } from "./trial-event.ts";

const eventsOf = (names: readonly string[]): string => JSON.stringify([...new Set(names)]);

/** Creates a workflow that runs from now on. NOT_FOUND when it is for a room that is not there. */
export async function createWorkflow(
  ctx: RequestContext,
  { name, code, events, roomId = null }: WorkflowCreation,
): Promise<{ workflow: Workflow }> {
  const prepared = await prepareCode(code);
  if (roomId !== null) await getRoomRow(ctx, roomId);
  const now = ctx.now();
  const row: StoredWorkflow = {
    accountId: ctx.accountId,
    id: ctx.newId(),
    events: eventsOf(events),
    roomId,
    enabled: 1,
    createdAt: now,
    updatedAt: now,
    origin: ctx.origin,
    name,
    nameFolded: fold(name),
    ...prepared,
  };
  const data = { workflow: presentWorkflow(row) };
  await deploy(ctx, row.id, prepared);
  await ctx.commit([insertWorkflow(ctx, row)], data).catch(undeployOnFailure(ctx, row.id, prepared));
  return data;
}

/** Changes a workflow. What runs from now on runs as it is now, and what is running ends as it was. */
export async function updateWorkflow(
  ctx: RequestContext,
  workflowId: string,
  { name, code, events, roomId, enabled }: WorkflowUpdate,
): Promise<{ workflow: Workflow }> {
  if (typeof roomId === "string") await getRoomRow(ctx, roomId);
  const replacement = code === undefined ? null : await replaceCode(ctx, workflowId, code);
  const changes = {
    ...(name === undefined ? {} : { name, nameFolded: fold(name) }),
    ...(events === undefined ? {} : { events: eventsOf(events) }),
    ...(roomId === undefined ? {} : { roomId }),
    ...(enabled === undefined ? {} : { enabled: Number(enabled) }),
    ...replacement,
  };
  const now = ctx.now();
  const [, [row]] = await ctx
    .commit([
      retireReplacedScript(ctx, workflowId, replacement?.hash ?? null, now),
      updateRow(ctx, workflowId, changes, now),
    ])
    .catch(replacement === null ? rethrow : undeployOnFailure(ctx, workflowId, replacement));
  if (row === undefined) throw notFound("Workflows", "Workflow");
  await ctx.subscribers.requireVersion(keyOf(ctx, workflowId), row.updatedAt).catch((error: unknown) => {
    // It reads the row anew a second later at the latest.
    ctx.log("The object of a changed workflow could not be told of it", error);
  });
  return { workflow: presentWorkflow(row) };
}

/** Makes new code ready to run; code that compiles to what is there already is ready. */
async function replaceCode(
  ctx: RequestContext,
  workflowId: string,
  code: string,
): Promise<PreparedCode & Pick<StoredWorkflow, "origin">> {
  const [[before]] = await ctx.db.run([selectWorkflowSummary(ctx, workflowId)]);
  if (before === undefined) throw notFound("Workflows", "Workflow");
  const prepared = await prepareCode(code);
  if (prepared.hash !== before.hash) await deploy(ctx, workflowId, prepared);
  return { ...prepared, origin: ctx.origin };
}

const rethrow = (failure: unknown): never => {
  throw failure;
};

/** Removes a workflow and all that it was to run on and has run. What is running ends. */
export async function deleteWorkflow(
  ctx: RequestContext,
  workflowId: string,
): Promise<Record<string, never>> {
  const [, deleted] = await ctx.commit([
    retireScript(ctx, workflowId, ctx.now()),
    deleteRow(ctx, workflowId),
  ]);
  if (deleted.length === 0) throw notFound("Workflows", "Workflow");
  await ctx.subscribers.remove(keyOf(ctx, workflowId)).catch((error: unknown) => {
    // It finds no workflow when it wakes to run it, and forgets then.
    ctx.log("A deleted workflow could not be forgotten yet", error);
  });
  return {};
}

const disabled = () => new AppError("Workflows", "CONFLICT", "The workflow is disabled; enable it to run it");

/** Runs a workflow at once with an event that is made up of what is there; waits for the end of the run. */
export async function runWorkflow(
  ctx: RequestContext,
  workflowId: string,
  run: WorkflowRun,
): Promise<{ execution: WorkflowExecution }> {
  const envelope = await trialEvent(ctx, workflowId, run);
  if (envelope === null) throw disabled();
  const execution = await ctx.subscribers.run(keyOf(ctx, workflowId), envelope);
  if (execution !== null) return { execution };
  await getWorkflow(ctx, workflowId); // it was deleted meanwhile, or disabled
  throw disabled();
}
