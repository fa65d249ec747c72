/** Starts workflows by requests, which a credential or a signature permits, and replaces the secrets of those signatures. */

import { OpenSigningSecrets, sealSecret } from "../../delivery/signing-secret-store.ts";
import type { SentRequest } from "../../http/endpoint.ts";
import {
  createSecret,
  isSignedWith,
  readSignedHeaders,
  TOLERANCE_SECONDS,
} from "../../platform/crypto/standard-webhooks.ts";
import { AppError, notFound } from "../../platform/errors.ts";
import { storeTrace } from "../../platform/trace.ts";
import { requireRestored } from "../../wire/token-claims.ts";
import type { WorkflowContext } from "./context.ts";
import { subscriberKey } from "./queries.ts";
import {
  MAX_TRIGGER_BYTES,
  presentWorkflow,
  type StartedExecution,
  type Workflow,
  type WorkflowWithSecret,
} from "./schema.ts";
import { derivedId, presentWorkflowTriggered } from "./start-events.ts";
import { deleteTriggerSecret, rotateTriggerSecret as rotate, selectTriggerable } from "./store.ts";
import type { TriggerableWorkflow } from "./table.ts";

/** How long a rotated secret is accepted beside the new one. */
const SECRET_OVERLAP_MS = 24 * 60 * 60 * 1000;

const refuse = (why: string) => new AppError("Workflows", "UNAUTHORIZED", why);
const unverified = () =>
  refuse("webhook-signature is not valid for this workflow; sign the exact body with the trigger's secret");

/**
 * Enqueues a run with the request's body, once for each message: a repetition within 24 hours has the id of the first.
 * Nothing says of an unknown workflow, or of one without a trigger, more than that the signature is not valid.
 */
export async function triggerWorkflow(
  ctx: WorkflowContext,
  workflowId: string,
  payload: unknown,
  sent: SentRequest,
): Promise<{ execution: StartedExecution }> {
  if (sent.bytes.byteLength > MAX_TRIGGER_BYTES)
    throw new AppError("Workflows", "BAD_REQUEST", `The body is larger than ${MAX_TRIGGER_BYTES} bytes`);
  const isSigned = ctx.actor.type === "anyone";
  const { row, messageId } = isSigned
    ? await verifySigned(ctx, workflowId, sent)
    : { row: await find(ctx, workflowId), messageId: ctx.idempotencyKey };
  if (row === undefined) throw notFound("Workflows", "Workflow");
  if (isSigned) await ctx.limitTrigger(ctx, workflowId);
  requireStartable(row);
  const now = ctx.now();
  const eventId =
    messageId === null
      ? ctx.newId()
      : await derivedId([ctx.accountId, workflowId, isSigned ? "message" : "request", messageId]);
  const { id, name, roomId } = row;
  const data = { roomId, messageId, payload };
  const event = {
    eventId,
    event: "workflow.triggered",
    roomId: roomId ?? "",
    occurredAt: now,
    body: presentWorkflowTriggered(eventId, now, { id, name }, data),
    trace: storeTrace(ctx.trace),
  } as const;
  await ctx
    .subscribers(subscriberKey(ctx, workflowId))
    .enqueueApart(subscriberKey(ctx, workflowId), event, row.updatedAt);
  return { execution: { id: eventId } };
}

const find = async (ctx: WorkflowContext, workflowId: string): Promise<TriggerableWorkflow | undefined> =>
  (await ctx.db.run([selectTriggerable(ctx, workflowId)]))[0][0];

function requireStartable({ enabled, httpTrigger }: TriggerableWorkflow): void {
  const conflict = (why: string) => new AppError("Workflows", "CONFLICT", why);
  if (httpTrigger === 0) throw conflict("The workflow has no HTTP trigger; set httpTrigger to true");
  if (enabled === 0) throw conflict("The workflow is disabled; enable it to run it");
}

/** The workflow whose secret has signed the request, and the message's id. UNAUTHORIZED in every other case. */
async function verifySigned(
  ctx: WorkflowContext,
  workflowId: string,
  { headers, bytes }: SentRequest,
): Promise<{ row: TriggerableWorkflow; messageId: string }> {
  const signed = readSignedHeaders(headers);
  if (signed === null)
    throw refuse(
      "webhook-id, webhook-timestamp and webhook-signature must be those of a Standard Webhooks message",
    );
  const now = ctx.now();
  if (Math.abs(now / 1000 - signed.timestampSeconds) > TOLERANCE_SECONDS)
    throw refuse("webhook-timestamp is more than 5 minutes from the service's time; sign each attempt anew");
  const row = await find(ctx, workflowId);
  requireRestored(row?.accountTokenEpoch);
  if (row === undefined || row.httpTrigger === 0) throw unverified();
  const secrets = new OpenSigningSecrets(subscriberKey(ctx, workflowId), () => ctx.signingSealer);
  const opened = await secrets.open(storedSecretsOf(row, now), (message, error) => ctx.log(message, error));
  if (!(await isSignedWith(signed, bytes, opened))) throw unverified();
  return { row, messageId: signed.id };
}

/** The secrets in force, as they are stored. */
function storedSecretsOf(
  { triggerSecret, previousTriggerSecret, previousTriggerSecretUntil }: TriggerableWorkflow,
  now: number,
): string[] {
  const isOverlapping = now < (previousTriggerSecretUntil ?? 0);
  return [triggerSecret, isOverlapping ? previousTriggerSecret : null].filter((one) => one !== null);
}

/** Creates or replaces the trigger's secret, and returns it; an old one is accepted beside it for a day. */
export async function rotateTriggerSecret(
  ctx: WorkflowContext,
  workflowId: string,
): Promise<{ workflow: WorkflowWithSecret }> {
  const [secret, now] = [createSecret(), ctx.now()];
  const sealed = await sealSecret(ctx.signingSealer, secret, subscriberKey(ctx, workflowId));
  const [[row]] = await ctx.commit([rotate(ctx, workflowId, sealed, now + SECRET_OVERLAP_MS, now)]);
  if (row === undefined) throw notFound("Workflows", "Workflow");
  return { workflow: { ...presentWorkflow(row, now), trigger_secret: secret } };
}

/** Removes the trigger's secret, and one that was rotated: only the organization's credentials start it then. */
export async function removeTriggerSecret(
  ctx: WorkflowContext,
  workflowId: string,
): Promise<{ workflow: Workflow }> {
  const [[row]] = await ctx.commit([deleteTriggerSecret(ctx, workflowId)]);
  if (row === undefined) throw notFound("Workflows", "Workflow");
  return { workflow: presentWorkflow(row, ctx.now()) };
}
