/** The corridor that every request under /v1 walks: who, how often, what exactly, do it, answer. */
import type { RequestContext } from "../context/context.ts";
import { logError } from "../platform/log.ts";
import { checkBody, parseJson, readBody } from "./body.ts";
import type { Endpoint } from "./endpoint.ts";
import { failure, success } from "./envelope.ts";
import { toAppError } from "./error-response.ts";
import { Form } from "./form/form.ts";
import { hasIdempotencyKey, openReceipt, runOnce } from "./idempotency/idempotency.ts";
import { type Call, createRequestContext } from "./request-context.ts";
import { checkPath, checkQuery } from "./validate.ts";

type EnvelopeEndpoint = Endpoint & { readonly kind: "envelope" };
type RawEndpoint = Endpoint & { readonly kind: "raw" };

const NO_BYTES = new Uint8Array();

/** Answers a call to `endpoint`; never rejects. */
export async function handleRequest(endpoint: Endpoint, call: Call): Promise<Response> {
  const requestId = crypto.randomUUID();
  try {
    const ctx = await createRequestContext(endpoint, call, requestId);
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

async function answer(
  endpoint: EnvelopeEndpoint,
  ctx: RequestContext,
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
  const work = (own: RequestContext) =>
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

async function answerRaw(
  endpoint: RawEndpoint,
  ctx: RequestContext,
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
