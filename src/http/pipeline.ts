/** The request pipeline of /v1: authenticate, limit, validate, run the endpoint, respond. */

import type { AppError, Module } from "@atrium/contract/errors.ts";
import type { ExecutionContext } from "hono";
import type { Env } from "../env.ts";
import type { Actor, RequestContext } from "../platform/d1/context.ts";
import { RoundTripCounter } from "../platform/d1/d1.ts";
import { openNearest, openTenant } from "../platform/d1/databases.ts";
import { requireRight } from "../platform/d1/rights.ts";
import { lazily } from "../platform/lazily.ts";
import { type LogFields, log, logError } from "../platform/log.ts";
import { addressOf } from "../platform/network.ts";
import { clientRequestIdOf, traceOf } from "../platform/trace.ts";
import { AuditRecorder } from "./audit/recorder.ts";
import { delayRefusal, identifyCaller, type Scheme } from "./authenticate.ts";
import type { AnyEndpoint, Endpoint, RequireCaller } from "./endpoint.ts";
import { failure, octets, success, toAppError } from "./envelope.ts";
import { ClientLeftError } from "./form/client-left-error.ts";
import type { FormDescription } from "./form/form.ts";
import { openReceipt, type Receipt } from "./idempotency/receipt.ts";
import { checkBody, checkPath, checkQuery, parseJson, readBody } from "./request-input.ts";
import { originOf } from "./security.ts";

const NO_BYTES = new Uint8Array();

/** The pipeline with the composition of an isolate, made once: the bindings are the same object at every request. */
export function createPipeline<Ports extends object>(
  compose: (env: Env) => Composition<Ports>,
): RequestHandler<RequestContext & Ports> {
  const opened = new WeakMap<Env, Composition<Ports>>();
  return async (endpoint, call) => {
    const requestId = crypto.randomUUID();
    const at = Date.now();
    const trips = new RoundTripCounter();
    let actor: Actor | null = null;
    const observed = (response: Response, error: AppError | null): Response => {
      const { params, request, execution } = call;
      const accountId = params.accountId ?? "";
      opened.get(call.env)?.observe?.(
        {
          requestId,
          accountId,
          endpoint,
          params,
          actor,
          address: addressOf(request),
          error,
          at,
          durationMs: Date.now() - at,
          status: response.status,
          trips: trips.total,
          clientRequestId: clientRequestIdOf(request.headers.get("X-Request-Id")),
          traceparent: traceOf(request.headers, requestId).traceparent ?? null,
        },
        (work) => execution.waitUntil(logFailures(work, { account: accountId, request: requestId })),
      );
      return response;
    };
    try {
      const composition = opened.get(call.env) ?? compose(call.env);
      opened.set(call.env, composition);
      const authorized = await authorizeCall(composition, endpoint, call, requestId, trips);
      const db =
        endpoint.mayBeStale && acceptsStale(call.request)
          ? trips.count(openNearest(call.env, authorized.accountId))
          : authorized.db;
      const ctx = { ...authorized, ...composition.ports, db };
      actor = ctx.actor;
      checkPath(call.request.url, endpoint.module);
      return observed(
        endpoint.kind === "raw"
          ? await respondRaw(endpoint, ctx, call, async () => {
              await authorizeCall(composition, endpoint, call, requestId, trips, false);
            })
          : await respond(endpoint, ctx, call),
        null,
      );
    } catch (error) {
      const refusal = toAppError(error, endpoint.module);
      if (refusal.code === "INTERNAL_ERROR") logError("A request failed", { request: requestId }, error);
      if (refusal.code === "RATE_LIMITED") await delayRefusal(call.request);
      if (refusal instanceof ClientLeftError)
        log("warn", "A request broke off", { request: requestId }, refusal);
      return observed(failure(refusal, requestId), refusal);
    }
  };
}

const acceptsStale = ({ headers }: Request): boolean =>
  (headers.get("Cache-Control") ?? "").split(",").some((each) => each.trim().toLowerCase() === "max-stale");

const logFailures = (work: Promise<unknown>, fields: LogFields): Promise<unknown> =>
  work.catch((error: unknown) => logError("Deferred work failed", fields, error));

/** The room in a request's path, as the router has found and decoded it, or in its query. */
const roomNamedBy = ({ url }: Request, { roomId }: Call["params"]): string | null =>
  roomId ?? new URL(url).searchParams.get("roomId");

/** The context of an authorized request. */
export async function authorizeCall(
  authentication: Authentication,
  { right, module }: Pick<AnyEndpoint, "right" | "module">,
  { request, env, execution, params }: Call,
  requestId: string,
  trips = new RoundTripCounter(),
  isCounted = true,
): Promise<RequestContext> {
  const tenant = openTenant(env, params.accountId ?? "");
  const { accountId } = tenant;
  const db = trips.count(tenant.db);
  const directory = tenant.directory === tenant.db ? db : trips.count(tenant.directory);
  const now = Date.now;
  const logFailure = (message: string, error?: unknown) =>
    logError(message, { account: accountId, request: requestId }, error);
  const defer = (work: Promise<unknown>) =>
    execution.waitUntil(logFailures(work, { account: accountId, request: requestId }));
  const ports = { db, directory, accountId, now, defer };
  const actor: Actor = await identifyCaller(right, request, env, authentication.schemes, {
    ...ports,
    roomId: right === "identity" ? null : roomNamedBy(request, params),
    isCounted,
    countRequest: (isOfUser) => authentication.countRequest?.(accountId, isOfUser, defer),
  });
  requireRight({ actor }, right, params.roomId, module);
  return {
    ...ports,
    requestId,
    trace: traceOf(request.headers, requestId),
    actor,
    address: addressOf(request),
    origin: originOf(request, env),
    newId: () => crypto.randomUUID(),
    log: logFailure,
    idempotencyKey: null,
    commit: (statements) => db.run(statements),
  };
}

/** Adds the receipt: a `commit` that passes the data of the response writes it in its batch. */
const withReceipt = <C extends RequestContext>(ctx: C, receipt: Receipt<C>): C => ({
  ...ctx,
  idempotencyKey: receipt.key,
  commit: (statements, data) =>
    data === undefined ? ctx.db.run(statements) : receipt.commit(statements, data),
});

/** The context of an endpoint that works in the directory: all that it commits is one batch there. */
const inDirectory = <C extends RequestContext>(ctx: C): C => ({
  ...ctx,
  db: ctx.directory,
  commit: (statements) => ctx.directory.run(statements),
});

const forms = lazily(() => import("./form/form.ts"));

async function openForm(request: Request, description: FormDescription, module: Module, isDigested: boolean) {
  const { Form } = await forms();
  return new Form(request, description, module, isDigested);
}

const OCTETS = "application/octet-stream";
const hasBytes = (request: Request): boolean => request.headers.get("Content-Type") === OCTETS;
const wantsBytes = (request: Request): boolean => request.headers.get("Accept") === OCTETS;

/** Validates the request of an authorized caller, and runs it. Throws refusals. */
export async function respond<C extends RequestContext>(
  endpoint: EnvelopeEndpoint<C>,
  opened: C,
  { request, params }: Pick<Call, "request" | "params">,
): Promise<Response> {
  const { module } = endpoint;
  const ctx = endpoint.database === "directory" ? inDirectory(opened) : opened;
  const { headers } = request;
  const isKeyed = endpoint.method === "POST" && request.headers.has("Idempotency-Key");
  const query =
    endpoint.query === undefined ? {} : checkQuery(endpoint.query, new URL(request.url).search, module);
  const form = endpoint.form && (await openForm(request, endpoint.form, module, isKeyed));
  const { binary } = endpoint;
  const bodyOf = hasBytes(request) ? binary?.bodyOf : undefined;
  const bytes =
    endpoint.method === "GET" || form
      ? NO_BYTES
      : await readBody(request, module, bodyOf && binary?.maxBytes);
  const parse = () => parseJson(bytes, request.headers.get("Content-Type"), module);
  const body = endpoint.body && (bodyOf ? bodyOf(bytes) : checkBody(endpoint.body, parse(), module));
  const input = { params, query, body, form, sent: { headers, bytes } };
  const run = async (runCtx: C) => {
    const recorder = AuditRecorder.for(endpoint, runCtx, input);
    try {
      const data = await endpoint.handle(recorder?.ctx ?? runCtx, input);
      await recorder?.finish(data);
      return data;
    } catch (refusal) {
      await form?.drain();
      throw refusal;
    }
  };
  const receipt = isKeyed
    ? await openReceipt<C>(request, {
        actor: ctx.actor,
        accountId: ctx.accountId,
        secret: endpoint.replay?.secretIn?.(body),
        db: ctx.db,
        now: ctx.now(),
        module,
        replay: endpoint.replay,
        inDirectory: endpoint.database === "directory",
        content: async () => (form === undefined ? bytes : new TextEncoder().encode(await form.digest())),
      })
    : null;
  if (receipt === null) {
    const data = await run(ctx);
    if (binary?.bytesOf !== undefined && wantsBytes(request))
      return octets(endpoint.status, binary.bytesOf(data), ctx.requestId);
    return success(endpoint.status, endpoint.done, data, ctx.requestId);
  }
  const { data, replayed } = await receipt.runOnce(ctx, () => run(withReceipt(ctx, receipt)));
  const replay = replayed ? { "Idempotency-Replayed": "true" } : undefined;
  return success(endpoint.status, endpoint.done, data, ctx.requestId, replay);
}

async function respondRaw<C extends RequestContext>(
  endpoint: RawEndpoint<C>,
  ctx: C,
  { request, params }: Call,
  requireCaller: RequireCaller,
): Promise<Response> {
  const response = await endpoint.respond(
    ctx,
    { params, query: {}, body: undefined, form: undefined, sent: undefined },
    request,
    requireCaller,
  );
  if (response.status !== 101) response.headers.set("X-Request-Id", ctx.requestId); // headers of an upgrade are immutable
  return response;
}

/** A request with its bindings, and the parameters that routing found in its path. */
export interface Call {
  readonly request: Request;
  readonly env: Env;
  readonly execution: ExecutionContext;
  readonly params: Readonly<Record<string, string>>;
}

type Defer = (work: Promise<unknown>) => void;

export interface Authentication {
  readonly schemes: readonly Scheme[];
  /** Throws RATE_LIMITED beyond the organization's quota. Absent where nothing is counted. */
  countRequest?(accountId: string, isOfUser: boolean, defer: Defer): void;
}

export interface Composition<Ports extends object> extends Authentication {
  /** The endpoints' context beside the {@link RequestContext}. */
  readonly ports: Ports;
  observe?(request: ServedRequest, defer: Defer): void;
}

/** Handles a call of an endpoint that needs at most `C` of a request. Never rejects. */
export type RequestHandler<C extends RequestContext> = (
  endpoint: Endpoint<C>,
  call: Call,
) => Promise<Response>;

export type EnvelopeEndpoint<C extends RequestContext> = Endpoint<C> & { readonly kind: "envelope" };
type RawEndpoint<C extends RequestContext> = Endpoint<C> & { readonly kind: "raw" };

export interface ServedRequest {
  readonly requestId: string;
  /** Null for none, or an invalid one. */
  readonly clientRequestId: string | null;
  readonly traceparent: string | null;
  readonly accountId: string;
  readonly endpoint: Pick<AnyEndpoint, "method" | "path" | "operation">;
  readonly params: Readonly<Record<string, string>>;
  readonly actor: Actor | null;
  readonly address: string;
  /** Epoch ms; the duration ends when the response begins. */
  readonly at: number;
  readonly durationMs: number;
  readonly status: number;
  readonly trips: number;
  /** Null for a success. */
  readonly error: AppError | null;
}
