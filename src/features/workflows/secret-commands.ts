/** The secrets of workflows: writes, and the list of their names. */

import { AppError, notFound } from "@atrium/contract/errors.ts";
import { SecretName, type WorkflowSecret } from "@atrium/contract/rest/workflow-triggers.ts";
import { notifyOfChange } from "../../delivery/subscribers.ts";
import { explain } from "../../http/request-input.ts";
import type { WorkflowContext } from "./context.ts";
import { presentSecret } from "./present.ts";
import { subscriberKey } from "./queries.ts";
import { placeOf } from "./sealed-secrets.ts";
import { deleteSecret as deleteRow, MAX_SECRETS, putSecret, selectSecrets } from "./secret-store.ts";
import { selectWorkflowSummary, touchIfChanged } from "./store.ts";

/** All of them, by name and without values. NOT_FOUND without the workflow. */
export async function listSecrets(
  ctx: WorkflowContext,
  workflowId: string,
): Promise<{ secrets: WorkflowSecret[] }> {
  const [[workflow], secrets] = await ctx.db.run([
    selectWorkflowSummary(ctx, workflowId),
    selectSecrets(ctx, workflowId),
  ]);
  if (workflow === undefined) throw notFound("Workflows", "Workflow");
  return { secrets: secrets.map(presentSecret) };
}

/** Creates or replaces a secret: runs that start after the response have it. CONFLICT beyond the number that is allowed. */
export async function setSecret(
  ctx: WorkflowContext,
  workflowId: string,
  secret: string,
  value: string,
): Promise<{ secret: WorkflowSecret }> {
  const name = SecretName.safeParse(secret);
  if (!name.success) throw new AppError("Workflows", "BAD_REQUEST", explain(name.error, "The secret's name"));
  const sealed = await ctx.secretSealer.seal(value, placeOf(ctx.accountId, workflowId, name.data));
  const now = ctx.now();
  const [[workflow], [row], [touched]] = await ctx.commit([
    selectWorkflowSummary(ctx, workflowId),
    putSecret(ctx, workflowId, name.data, sealed, now),
    touchIfChanged(ctx, workflowId, now),
  ]);
  if (workflow === undefined) throw notFound("Workflows", "Workflow");
  if (row === undefined || touched === undefined) {
    const why = `A workflow can have at most ${MAX_SECRETS} secrets; delete one that it does not need`;
    throw new AppError("Workflows", "CONFLICT", why);
  }
  await notifyOfChange(ctx, subscriberKey(ctx, workflowId), touched.updatedAt);
  return { secret: presentSecret(row) };
}

export async function deleteSecret(
  ctx: WorkflowContext,
  workflowId: string,
  secret: string,
): Promise<Record<string, never>> {
  const [[workflow], , [touched]] = await ctx.commit([
    selectWorkflowSummary(ctx, workflowId),
    deleteRow(ctx, workflowId, secret),
    touchIfChanged(ctx, workflowId, ctx.now()),
  ]);
  if (workflow === undefined) throw notFound("Workflows", "Workflow");
  if (touched === undefined) throw notFound("Workflows", "Secret");
  await notifyOfChange(ctx, subscriberKey(ctx, workflowId), touched.updatedAt);
  return {};
}
