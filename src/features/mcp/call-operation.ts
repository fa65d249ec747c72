/** Calls an operation of the API for an agent: the same validation, roles and errors as over REST. */

import { AppError } from "@atrium/contract/errors.ts";
import { isPlainText } from "@atrium/contract/text.ts";
import { type EnvelopeEndpoint, respond } from "../../http/pipeline.ts";
import type { Actor, RequestContext } from "../../platform/d1/context.ts";
import { isOutside, type Outsider, requireRight } from "../../platform/d1/rights.ts";
import { IDEMPOTENCY_KEY, type ToolOperation, WHOLE_BODY } from "./tools.ts";

type Arguments = Readonly<Record<string, unknown>>;

export interface Callable<C extends RequestContext> extends ToolOperation {
  readonly endpoint: EnvelopeEndpoint<C>;
  /** Removes credentials from the data of its response. */
  clean(data: object): object;
}

/** A larger result would fill the context of a model. Changes are answered in any case, as they are done. */
const MAX_RESULT_BYTES = 1024 * 1024;

const asEnvelope = (json: unknown): { readonly data: object } => json as { readonly data: object };

const invalid = (message: string) => new AppError("Server", "VALIDATION_ERROR", message);

/** The context of an agent's calls. */
export interface AgentContext extends RequestContext {
  /** An identity in a room, as its user there, or an API key for certain rooms; FORBIDDEN if it may not enter it. */
  actorIn(outsider: Outsider, roomId: string): Promise<Actor>;
}

/** The context in the room that the arguments name: an outsider has rights there alone. */
async function enter<C extends AgentContext>(ctx: C, { endpoint }: Callable<C>, roomId: unknown): Promise<C> {
  const { actor } = ctx;
  const isEntering = isOutside(actor) && endpoint.right !== "identity" && typeof roomId === "string";
  const entered = isEntering ? { ...ctx, actor: await ctx.actorIn(actor, roomId) } : ctx;
  requireRight(entered, endpoint.right, typeof roomId === "string" ? roomId : null, endpoint.module);
  return entered;
}

/** Resolves to the data of the operation's response. */
export async function callOperation<C extends AgentContext>(
  agent: C,
  callable: Callable<C>,
  args: Arguments,
): Promise<object> {
  const { endpoint, entry, input, clean } = callable;
  const ctx = await enter(agent, callable, args.roomId);
  const known = [
    ...[...input.path, ...input.query, ...input.body],
    ...(input.isRepeatable ? [IDEMPOTENCY_KEY] : []),
  ];
  const unknown = Object.keys(args).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw invalid(
      `${unknown} is no argument of ${endpoint.operation}; it takes ${known.join(", ") || "none"}`,
    );
  const params: Record<string, string> = { accountId: ctx.accountId };
  for (const name of input.path) params[name] = pathValue(name, args[name]);
  const path = entry.path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name] ?? ""));
  const url = new URL(path + queryOf(input.query, args), ctx.origin);
  const fields = Object.fromEntries(Object.entries(args).filter(([name]) => input.body.has(name)));
  if (input.isBodyWhole && fields[WHOLE_BODY] === undefined) throw invalid(`${WHOLE_BODY} is required`);
  const body = input.isBodyWhole ? fields[WHOLE_BODY] : fields;
  const request = new Request(url, {
    method: endpoint.method,
    headers: {
      ...(endpoint.body && { "Content-Type": "application/json" }),
      ...(args[IDEMPOTENCY_KEY] !== undefined && { "Idempotency-Key": keyOf(args[IDEMPOTENCY_KEY]) }),
    },
    ...(endpoint.body && { body: JSON.stringify(body) }),
  });
  const response = await respond(endpoint, ctx, { request, params });
  const bytes = await response.arrayBuffer();
  if (endpoint.method === "GET" && bytes.byteLength > MAX_RESULT_BYTES)
    throw invalid(
      `The result has ${bytes.byteLength} bytes, and an agent reads up to ${MAX_RESULT_BYTES}; ask for less, such as by limit or maxLength`,
    );
  const { data } = asEnvelope(JSON.parse(new TextDecoder().decode(bytes)));
  return clean(data);
}

function keyOf(value: unknown): string {
  if (typeof value !== "string" || !/^[!-~]{1,255}$/.test(value))
    throw invalid(`${IDEMPOTENCY_KEY}: must have 1 to 255 visible ASCII characters`);
  return value;
}

function pathValue(name: string, value: unknown): string {
  if (value === undefined) throw invalid(`${name} is required`);
  if (typeof value !== "string" || value === "" || !isPlainText(value))
    throw invalid(`${name}: must be a text without NUL that is not empty`);
  return value;
}

function queryOf(names: ReadonlySet<string>, args: Arguments): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(args)) {
    if (!names.has(name)) continue;
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, String(one));
  }
  return query.size === 0 ? "" : `?${query}`;
}
