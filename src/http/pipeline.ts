/** The request pipeline of /v1: authenticate, limit, validate, run the endpoint, respond. */
import type { RequestContext } from "../context/context.ts";
import { logError } from "../platform/log.ts";
import { checkBody, parseJson, readBody } from "./body.ts";
import type { Endpoint } from "./endpoint.ts";
import { failure, success } from "./envelope.ts";
import { toAppError } from "./error-response.ts";
import { Form } from "./form/form.ts";
import { hasIdempotencyKey, openReceipt, runOnce } from "./idempotency/idempotency.ts";
import { type Call, type Composition, createRequestContext } from "./request-context.ts";
import { checkPath, checkQuery } from "./validate.ts";

type EnvelopeEndpoint<C extends RequestContext> = Endpoint<C> & { readonly kind: "envelope" };
type RawEndpoint<C extends RequestContext> = Endpoint<C> & { readonly kind: "raw" };

/** Answers a call to an endpoint that needs at most `C` of a request; never rejects. */
export type RequestHandler<C extends RequestContext> = (
  endpoint: Endpoint<C>,
  call: Call,
) => Promise<Response>;

const NO_BYTES = new Uint8Array();

export const createPipeline =
  <C extends RequestContext>(composition: Composition<C>): RequestHandler<C> =>
  (endpoint, call) =>
    handleRequest(composition, endpoint, call);

async function handleRequest<C extends RequestContext>(
  composition: Composition<C>,
  endpoint: Endpoint<C>,
  call: Call,
): Promise<Response> {
  const requestId = crypto.randomUUID();
  try {
    const ctx = await createRequestContext(composition, endpoint, call, requestId);
    const url = new URL(call.request.url);
    checkPath(url.pathname, endpoint.module);
    return endpoint.kind === "raw"
      ? await answerRaw(endpoint, ctx, call)
      : await answer(endpoint, ctx, call, url.search);
  } catch (error) {
    const refusal = toAppError(error, endpoint.module);
    if (refusal.code === "INTERNAL_ERROR") logError("A request failed", { request: requestId }, error);
    return failure(refusal, requestId);
  }
}

async function answer<C extends RequestContext>(
  endpoint: EnvelopeEndpoint<C>,
  ctx: C,
  { request, params }: Call,
  search: string,
): Promise<Response> {
  const { module } = endpoint;
  const query = endpoint.query === undefined ? {} : checkQuery(endpoint.query, search, module);
  const form = endpoint.form && new Form(request, endpoint.form, module, hasIdempotencyKey(request));
  const bytes = endpoint.method === "GET" || form ? NO_BYTES : await readBody(request, module);
  const body =
    endpoint.body &&
    checkBody(endpoint.body, parseJson(bytes, request.headers.get("Content-Type"), module), module);
  const work = (own: C) =>
    endpoint.handle(own, { params, query, body, form }).catch(async (refusal) => {
      await form?.drain();
      throw refusal;
    });
  const content = async () => (form === undefined ? bytes : new TextEncoder().encode(await form.digest()));
  const receipt =
    endpoint.method === "POST"
      ? openReceipt(request, content, { ...endpoint, actor: ctx.actor, db: ctx.db, now: ctx.now() })
      : null;
  if (receipt === null) return success(endpoint.status, endpoint.done, await work(ctx), ctx.requestId);
  const { data, replayed } = await runOnce(receipt, ctx, work);
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
