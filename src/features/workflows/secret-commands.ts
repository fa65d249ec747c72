/** Writes to the secrets of workflows, and the list of their names. */

import { explain } from "../../http/validate.ts";
import { AppError, notFound } from "../../platform/errors.ts";
import type { WorkflowContext } from "./context.ts";
import { subscriberKey } from "./queries.ts";
import { placeOf } from "./sealed-secrets.ts";
import { presentSecret, SecretName, type WorkflowSecret } from "./secret-schema.ts";
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
  await notifyRuns(ctx, workflowId, touched.updatedAt);
  return { secret: presentSecret(row) };
}

/** Deletes a secret: runs that start after the response do not have it. */
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
  await notifyRuns(ctx, workflowId, touched.updatedAt);
  return {};
}

async function notifyRuns(ctx: WorkflowContext, workflowId: string, version: number): Promise<void> {
  await ctx
    .subscribers(subscriberKey(ctx, workflowId))
    .notifyOfChange(version)
    .catch((error: unknown) => {
      // It reads the row again within a second anyway.
      ctx.log("The object of a workflow whose secrets were changed could not be notified", error);
    });
}
