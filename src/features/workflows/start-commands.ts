/** Starts of a workflow by hand, and by a request that a credential or a signature permits. */

import { AppError, notFound } from "@atrium/contract/errors.ts";
import { presentEvent } from "@atrium/contract/resources/present-event.ts";
import { presentRoom } from "@atrium/contract/resources/room.ts";
import { presentUser } from "@atrium/contract/resources/user.ts";
import type { WorkflowTriggeredEvent } from "@atrium/contract/resources/workflow-events.ts";
import type { WorkflowRun } from "@atrium/contract/rest/workflow-executions.ts";
import {
  MAX_TRIGGER_BYTES,
  type StartedExecution,
  type WorkflowWithSecret,
} from "@atrium/contract/rest/workflow-triggers.ts";
import type { Workflow } from "@atrium/contract/rest/workflows.ts";
import type { OutgoingEvent } from "../../delivery/outbox/subscription.ts";
import { newSecret, openSecrets, secretsInForce } from "../../delivery/signing-secret-store.ts";
import type { SentRequest } from "../../http/endpoint.ts";
import { derivedId } from "../../platform/crypto/encoding.ts";
import {
  isSignedWith,
  readSignedHeaders,
  TOLERANCE_SECONDS,
} from "../../platform/crypto/standard-webhooks.ts";
import { requireRestored } from "../../platform/token-claims.ts";
import { storeTrace } from "../../platform/trace.ts";
import { sampleDraft } from "../deliveries/sample-draft.ts";
import { selectRoom } from "../rooms/statements.ts";
import { selectUsersPage } from "../users/queries.ts";
import { selectUser } from "../users/statements.ts";
import type { WorkflowContext } from "./context.ts";
import { presentWorkflow } from "./present.ts";
import { subscriberKey } from "./queries.ts";
import {
  deleteTriggerSecret,
  rotateTriggerSecret as rotate,
  selectTriggerable,
  selectWorkflowSummary,
} from "./store.ts";
import type { TriggerableWorkflow } from "./table.ts";

/** The number of users that a `session.closed` event shows: the newest ones. */
const MAX_USERS = 100;
const NEWEST = { limit: MAX_USERS, offset: 0, search: "", from: 0, to: Number.MAX_SAFE_INTEGER };

/**
 * The event's own id, and its session or comment, are made up; everything else is real. NOT_FOUND when the workflow, the room or
 * the user does not exist; null when the workflow is disabled. Costs one D1 round trip and one object call.
 */
export async function trialEvent(
  ctx: WorkflowContext,
  workflowId: string,
  { event, data: { roomId, userId } }: WorkflowRun,
): Promise<OutgoingEvent | null> {
  const [newestUsers] = await selectUsersPage(ctx, { roomId }, NEWEST);
  const [[workflow], [room], [user], newest] = await ctx.db.run([
    selectWorkflowSummary(ctx, workflowId),
    selectRoom(ctx, { id: roomId }),
    selectUser(ctx, roomId, { id: userId ?? "" }),
    newestUsers,
  ]);
  if (workflow === undefined) throw notFound("Workflows", "Workflow");
  if (workflow.enabled === 0) return null;
  if (room === undefined) throw notFound("Rooms", "Room");
  if (user === undefined && userId !== undefined) throw notFound("Users", "User");
  const users = user === undefined ? newest : [user];
  const live = await ctx.rooms.read(
    room.id,
    ctx.accountId,
    users.map(({ id }) => id),
  );
  const [eventId, now] = [await eventIdFor(ctx, workflowId), ctx.now()];
  const draft = sampleDraft(event, {
    room: presentRoom(room, now, live.stats),
    users: users.map((row) => presentUser(row, live.lastSeen[row.id])),
    now,
    origin: ctx.origin,
    newId: ctx.newId,
  });
  const body = presentEvent(eventId, now, draft);
  return { eventId, event, roomId: room.id, body, occurredAt: now, trace: storeTrace(ctx.trace) };
}

/** All requests with one Idempotency-Key share an event id, so only one of them runs. */
async function eventIdFor(
  { accountId, idempotencyKey, newId }: WorkflowContext,
  workflowId: string,
): Promise<string> {
  if (idempotencyKey === null) return newId();
  return derivedId([accountId, workflowId, idempotencyKey]);
}

const refuse = (why: string) => new AppError("Workflows", "UNAUTHORIZED", why);
const unverified = () =>
  refuse("webhook-signature is not valid for this workflow; sign the exact body with the trigger's secret");

/**
 * Enqueues a run with the request's body, once for each message: a repetition within 24 hours has the id of the first.
 * An unknown workflow, or one without a trigger, answers only that the signature is not valid.
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
  const draft = {
    event: "workflow.triggered",
    data: { workflowId: id, roomId, messageId, payload },
    workflow: { id, name },
  } as const satisfies Omit<WorkflowTriggeredEvent, "id" | "timestamp">;
  const event = {
    eventId,
    event: draft.event,
    roomId: roomId ?? "",
    occurredAt: now,
    body: presentEvent(eventId, now, draft),
    trace: storeTrace(ctx.trace),
  } as const;
  const key = subscriberKey(ctx, workflowId);
  await ctx.subscribers(key).enqueueApart(key, event, row.updatedAt);
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
  const key = subscriberKey(ctx, workflowId);
  const { triggerSecret, previousTriggerSecret, previousTriggerSecretUntil } = row;
  const inForce = secretsInForce(triggerSecret, previousTriggerSecret, previousTriggerSecretUntil, now);
  const opened = await openSecrets(ctx.signingSealer, inForce, key, (...failure) => ctx.log(...failure));
  if (!(await isSignedWith(signed, bytes, opened))) throw unverified();
  return { row, messageId: signed.id };
}

/** Creates or replaces the trigger's secret, and returns it; an old one is accepted beside it for a day. */
export async function rotateTriggerSecret(
  ctx: WorkflowContext,
  workflowId: string,
): Promise<{ workflow: WorkflowWithSecret }> {
  const now = ctx.now();
  const key = subscriberKey(ctx, workflowId);
  const { secret, sealed, previousUntil } = await newSecret(ctx.signingSealer, key, now);
  const [[row]] = await ctx.commit([rotate(ctx, workflowId, sealed, previousUntil, now)]);
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
