/** The request pipeline of /v1: authenticate, limit, validate, run the endpoint, respond. */
import type { ExecutionContext } from "hono";
import type { Env } from "../config.ts";
import type { Actor } from "../context/actor.ts";
import type { RequestContext } from "../context/context.ts";
import { openDatabase } from "../platform/d1.ts";
import { logError } from "../platform/log.ts";
import { authorize, type Scheme } from "./authenticate.ts";
import type { Endpoint } from "./endpoint.ts";
import { failure, success, toAppError } from "./envelope.ts";
import { Form } from "./form/form.ts";
import { hasIdempotencyKey, openReceipt, type Receipt } from "./idempotency/idempotency.ts";
import { checkBody, checkPath, checkQuery, parseJson, readBody } from "./validate.ts";

/** A request on its way, with what routing found in its path. */
export interface Call {
  readonly request: Request;
  readonly env: Env;
  readonly execution: ExecutionContext;
  readonly params: Readonly<Record<string, string>>;
}

/** What the pipeline does not know: how callers authenticate, and what endpoints need beyond a request. */
export interface Composition<C extends RequestContext> {
  /** In the order in which they are tried. */
  schemesOf(env: Env): readonly Scheme[];
  contextOf(base: RequestContext, env: Env): C;
}

/** Answers a call to an endpoint that needs at most `C` of a request; never rejects. */
export type RequestHandler<C extends RequestContext> = (
  endpoint: Endpoint<C>,
  call: Call,
) => Promise<Response>;

type EnvelopeEndpoint<C extends RequestContext> = Endpoint<C> & { readonly kind: "envelope" };
type RawEndpoint<C extends RequestContext> = Endpoint<C> & { readonly kind: "raw" };

/** Opens the context of an authorized request, once it is known whether it leaves a receipt. */
type OpenContext<C extends RequestContext> = (receipt: Receipt<C> | null) => C;

const NO_BYTES = new Uint8Array();

export const createPipeline =
  <C extends RequestContext>(composition: Composition<C>): RequestHandler<C> =>
  async (endpoint, call) => {
    const requestId = crypto.randomUUID();
    try {
      const base = await authorizeCall(composition, endpoint, call, requestId);
      checkPath(new URL(call.request.url).pathname, endpoint.module);
      const open: OpenContext<C> = (receipt) =>
        composition.contextOf(receipt === null ? base : withReceipt(base, receipt), call.env);
      return endpoint.kind === "raw"
        ? await answerRaw(endpoint, open(null), call)
        : await answer(endpoint, base, open, call);
    } catch (error) {
      const refusal = toAppError(error, endpoint.module);
      if (refusal.code === "INTERNAL_ERROR") logError("A request failed", { request: requestId }, error);
      return failure(refusal, requestId);
    }
  };

/** The base context of a request whose caller may call the endpoint now. */
export async function authorizeCall<C extends RequestContext>(
  composition: Composition<C>,
  endpoint: Pick<Endpoint<C>, "access">,
  { request, env, execution, params }: Call,
  requestId: string,
): Promise<RequestContext> {
  const db = openDatabase(env.DB);
  const accountId = params.accountId ?? "";
  const now = Date.now;
  const log = (message: string, error?: unknown) =>
    logError(message, { account: accountId, request: requestId }, error);
  const defer = (work: Promise<unknown>) =>
    execution.waitUntil(work.catch((error: unknown) => log("Deferred work failed", error)));
  const ports = { db, accountId, now, defer };
  const actor: Actor = await authorize(endpoint.access, request, env, composition.schemesOf(env), ports);
  return {
    ...ports,
    requestId,
    actor,
    origin: new URL(request.url).origin,
    newId: () => crypto.randomUUID(),
    log,
    idempotencyKey: null,
    commit: (statements) => db.run(statements),
  };
}

/** A command's `commit` writes the receipt in its batch when it passes the data of its response. */
const withReceipt = <C extends RequestContext>(
  base: RequestContext,
  receipt: Receipt<C>,
): RequestContext => ({
  ...base,
  idempotencyKey: receipt.key,
  commit: (statements, data) =>
    data === undefined ? base.db.run(statements) : receipt.commit(statements, data),
});

async function answer<C extends RequestContext>(
  endpoint: EnvelopeEndpoint<C>,
  base: RequestContext,
  open: OpenContext<C>,
  { request, params }: Call,
): Promise<Response> {
  const { module } = endpoint;
  const { search } = new URL(request.url);
  const query = endpoint.query === undefined ? {} : checkQuery(endpoint.query, search, module);
  const form = endpoint.form && new Form(request, endpoint.form, module, hasIdempotencyKey(request));
  const bytes = endpoint.method === "GET" || form ? NO_BYTES : await readBody(request, module);
  const body =
    endpoint.body &&
    checkBody(endpoint.body, parseJson(bytes, request.headers.get("Content-Type"), module), module);
  const receipt =
    endpoint.method === "POST"
      ? openReceipt<C>(request, {
          ...{ actor: base.actor, db: base.db, now: base.now(), module, replay: endpoint.replay },
          content: async () => (form === undefined ? bytes : new TextEncoder().encode(await form.digest())),
        })
      : null;
  const ctx = open(receipt);
  const work = () =>
    endpoint.handle(ctx, { params, query, body, form }).catch(async (refusal: unknown) => {
      await form?.drain();
      throw refusal;
    });
  if (receipt === null) return success(endpoint.status, endpoint.done, await work(), ctx.requestId);
  const { data, replayed } = await receipt.runOnce(ctx, work);
  const headers = replayed ? { "Idempotency-Replayed": "true" } : undefined;
  return success(endpoint.status, endpoint.done, data, ctx.requestId, headers);
}

async function answerRaw<C extends RequestContext>(
  endpoint: RawEndpoint<C>,
  ctx: C,
  { request, params }: Call,
): Promise<Response> {
  const response = await endpoint.respond(
    ctx,
    { params, query: {}, body: undefined, form: undefined },
    request,
  );
  if (response.status !== 101) response.headers.set("X-Request-Id", ctx.requestId); // an upgrade's are immutable
  return response;
}
