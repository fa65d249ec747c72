/** Calls an operation of the API for an agent: the same validation, roles and errors as over REST. */
import type { RequestContext } from "../context/context.ts";
import type { EnvelopeEndpoint } from "../http/call.ts";
import { respond } from "../http/pipeline.ts";
import { AppError } from "../platform/errors.ts";
import { isPlainText } from "../platform/text.ts";
import { WHOLE_BODY } from "./input-schema.ts";
import type { ToolOperation } from "./tools.ts";

export type Arguments = Readonly<Record<string, unknown>>;

/** An operation with the endpoint that serves it. */
export interface Callable<C extends RequestContext> extends ToolOperation {
  readonly endpoint: EnvelopeEndpoint<C>;
}

const invalid = (message: string) => new AppError("Server", "VALIDATION_ERROR", message);

/** Runs the operation. Resolves to the data of its response; throws what refuses it. */
export async function callOperation<C extends RequestContext>(
  ctx: C,
  { endpoint, entry, input }: Callable<C>,
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
  const { data } = await response.json<{ data: object }>();
  return withoutTokens(data);
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

/** The tokens of users stay out of what an agent reads, and so out of what it may be made to repeat. */
function withoutTokens(data: { readonly user?: unknown; readonly users?: unknown }): object {
  const withoutToken = (user: unknown) =>
    typeof user === "object" && user !== null ? { ...user, token: undefined } : user;
  const { user, users } = data;
  return {
    ...data,
    ...(user === undefined ? {} : { user: withoutToken(user) }),
    ...(Array.isArray(users) ? { users: users.map(withoutToken) } : {}),
  };
}
