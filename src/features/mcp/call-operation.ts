/** Calls an operation of the API for an agent: the same validation, roles and errors as over REST. */

import { type EnvelopeEndpoint, respond } from "../../http/pipeline.ts";
import type { RequestContext } from "../../platform/d1/context.ts";
import { AppError } from "../../platform/errors.ts";
import { isPlainText } from "../../platform/text.ts";
import { type ToolOperation, WHOLE_BODY } from "./tools.ts";

type Arguments = Readonly<Record<string, unknown>>;

export interface Callable<C extends RequestContext> extends ToolOperation {
  readonly endpoint: EnvelopeEndpoint<C>;
  /** Removes credentials from the data of its response. */
  clean(data: object): object;
}

/** Larger results fill the context of a model. Changes are answered in any case: they are done. */
const MAX_RESULT_BYTES = 1024 * 1024;

const asEnvelope = (json: unknown): { readonly data: object } => json as { readonly data: object };

const invalid = (message: string) => new AppError("Server", "VALIDATION_ERROR", message);

/** Resolves to the data of the operation's response. */
export async function callOperation<C extends RequestContext>(
  ctx: C,
  { endpoint, entry, input, clean }: Callable<C>,
  args: Arguments,
): Promise<object> {
  const known = [...input.path, ...input.query, ...input.body];
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
    ...(endpoint.body && { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }),
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
