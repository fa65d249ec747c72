/** Reads of workflows and their executions. */

import { notFound } from "@atrium/contract/errors.ts";
import type { DeliveryStats } from "@atrium/contract/rest/deliveries.ts";
import type { CurrentExecution, WorkflowExecution } from "@atrium/contract/rest/workflow-executions.ts";
import type { WorkflowVersion, WorkflowVersionSummary } from "@atrium/contract/rest/workflow-versions.ts";
import type { Workflow } from "@atrium/contract/rest/workflows.ts";
import { keyOf } from "../../delivery/outbox/subscription.ts";
import { type PresentedPage, type PresentedScroll, presentPage } from "../../http/lists.ts";
import type { Page } from "../../platform/d1/d1.ts";
import { presentDeliveryPage, presentStats, toDeliveryQuery } from "../deliveries/present.ts";
import type { WorkflowContext } from "./context.ts";
import {
  presentCurrentExecution,
  presentExecution,
  presentVersion,
  presentVersionSummary,
  presentWorkflow,
} from "./present.ts";
import { countWorkflows, selectWorkflow, selectWorkflowSummary, selectWorkflows } from "./store.ts";
import {
  countVersions,
  selectAuthorNames,
  selectVersion,
  selectVersions,
  type VersionSummary,
} from "./version-store.ts";

export const subscriberKey = keyOf("workflow");

export async function listWorkflows(
  ctx: WorkflowContext,
  page: Page,
): Promise<{ workflows: Workflow[] } & PresentedPage> {
  const [rows, counted] = await ctx.db.run([selectWorkflows(ctx, page), countWorkflows(ctx, page)]);
  return { workflows: rows.map((row) => presentWorkflow(row, ctx.now())), ...presentPage(page, counted) };
}

/** NOT_FOUND when the organization has no such workflow. */
export async function getWorkflow(ctx: WorkflowContext, workflowId: string): Promise<{ workflow: Workflow }> {
  const [[row]] = await ctx.db.run([selectWorkflow(ctx, workflowId)]);
  if (row === undefined) throw notFound("Workflows", "Workflow");
  return { workflow: presentWorkflow(row, ctx.now()) };
}

/** The workflow's row without its code. NOT_FOUND when the organization has no such workflow. */
export async function getSummary(ctx: WorkflowContext, workflowId: string) {
  const [[row]] = await ctx.db.run([selectWorkflowSummary(ctx, workflowId)]);
  if (row === undefined) throw notFound("Workflows", "Workflow");
  return row;
}

/** One further trip to the directory, unless API keys have saved them all. */
async function readAuthorNames(
  { directory }: WorkflowContext,
  rows: readonly VersionSummary[],
): Promise<ReadonlyMap<string, string>> {
  const ids = rows.flatMap((row) => (row.authorType === "person" ? (row.authorId ?? []) : []));
  if (ids.length === 0) return new Map();
  const [people] = await directory.run([selectAuthorNames(ids)]);
  return new Map(people.map(({ id, name }) => [id, name]));
}

/** A page of the kept versions, newest first. NOT_FOUND without the workflow. */
export async function listVersions(
  ctx: WorkflowContext,
  workflowId: string,
  page: Page,
): Promise<{ versions: WorkflowVersionSummary[] } & PresentedPage> {
  const [[workflow], rows, counted] = await ctx.db.run([
    selectWorkflowSummary(ctx, workflowId),
    selectVersions(ctx, workflowId, page),
    countVersions(ctx, workflowId),
  ]);
  if (workflow === undefined) throw notFound("Workflows", "Workflow");
  const names = await readAuthorNames(ctx, rows);
  const versions = rows.map((row) => presentVersionSummary(row, names));
  return { versions, ...presentPage(page, counted) };
}

/** NOT_FOUND when the workflow has no such version, or it is no longer kept. */
export async function getVersion(
  ctx: WorkflowContext,
  workflowId: string,
  version: string,
): Promise<{ version: WorkflowVersion }> {
  const number = /^[1-9]\d{0,14}$/.test(version) ? Number(version) : 0;
  const [[row]] = await ctx.db.run([selectVersion(ctx, workflowId, number)]);
  if (row === undefined) throw notFound("Workflows", "Version");
  return { version: presentVersion(row, await readAuthorNames(ctx, [row])) };
}

/** A page of the finished runs that are kept, newest first. NOT_FOUND without the workflow. */
export async function listExecutions(
  ctx: WorkflowContext,
  workflowId: string,
  page: Page,
): Promise<{ executions: WorkflowExecution[] } & PresentedScroll> {
  const query = toDeliveryQuery("Workflows", page);
  await getSummary(ctx, workflowId);
  const key = subscriberKey(ctx, workflowId);
  const found = await ctx.subscribers(key).list("over", query);
  const executions = found.deliveries.map((each) => presentExecution(workflowId, each));
  return { executions, ...presentDeliveryPage(page, found) };
}

/** A run as it is now, from the moment it was asked for. NOT_FOUND without the workflow, or when the run is not kept. */
export async function getExecution(
  ctx: WorkflowContext,
  workflowId: string,
  executionId: string,
): Promise<{ execution: CurrentExecution }> {
  await getSummary(ctx, workflowId);
  const found = await ctx.subscribers(subscriberKey(ctx, workflowId)).find(executionId);
  if (found === null) throw notFound("Workflows", "Execution");
  return { execution: presentCurrentExecution(workflowId, found) };
}

export async function getWorkflowStats(
  ctx: WorkflowContext,
  workflowId: string,
  range: DeliveryStats["range"],
): Promise<{ stats: DeliveryStats }> {
  await getSummary(ctx, workflowId);
  return { stats: presentStats(range, await ctx.subscribers(subscriberKey(ctx, workflowId)).stats(range)) };
}
