/** An endpoint as an operation of the OpenAPI document: its parameters, its body, and each of its responses. */
import * as z from "zod";
import type { ZodOpenApiOperationObject } from "zod-openapi";
import { ERROR_CODES, type ErrorCode } from "../../platform/error-codes.ts";
import { type AnyEndpoint, pathOf } from "../endpoint.ts";
import { Failure, successOf } from "../envelope.ts";
import { MEANINGS, PATH_PARAMETERS } from "./prose.ts";

/** Every error code that the endpoint may return. */
export function errorsOf(endpoint: AnyEndpoint): readonly ErrorCode[] {
  const codes = new Set<ErrorCode>(["BAD_REQUEST", ...endpoint.errors, "RATE_LIMITED", "INTERNAL_ERROR"]);
  if (endpoint.access !== "public") codes.add("UNAUTHORIZED").add("FORBIDDEN");
  if (endpoint.kind === "envelope" && (endpoint.body ?? endpoint.form) !== undefined) {
    codes.add("VALIDATION_ERROR");
  }
  if (endpoint.method === "POST") codes.add("CONFLICT");
  return (Object.keys(ERROR_CODES) as ErrorCode[]).filter((code) => codes.has(code));
}

const header = (description: string, type = "string") => ({ description, schema: { type } });

const REQUEST_ID = { "X-Request-Id": header("Identifies the request in the service's logs.") };
const RETRY_AFTER = { "Retry-After": header("Seconds to wait before a retry.", "integer") };
const REPLAYED = { "Idempotency-Replayed": header("`true` if this is the response to an earlier request.") };

/** The same as bytes. */
const OCTETS = {
  "application/octet-stream": { schema: z.string().meta({ override: { type: "string", format: "binary" } }) },
};

const answerOf = (
  description: string,
  schema: z.ZodType,
  headers: Record<string, ReturnType<typeof header>> = {},
) => ({
  description,
  headers: { ...REQUEST_ID, ...headers },
  content: { "application/json": { schema } },
});

function failuresOf(endpoint: AnyEndpoint) {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorsOf(endpoint)) {
    const { status } = ERROR_CODES[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return [...byStatus].map(([status, codes]) => {
    const description = codes.map((code) => `\`${code}\`: ${MEANINGS[code]}`).join("\n\n");
    return [String(status), answerOf(description, Failure, status === 429 ? RETRY_AFTER : {})] as const;
  });
}

function successesOf(endpoint: AnyEndpoint) {
  if (endpoint.kind === "envelope") {
    const envelope = successOf(endpoint.data).extend({
      description: z.string().meta({ example: endpoint.done }),
      requestId: z.string().meta({ example: "6b1d4c0e-2f37-4a58-9c1b-7e5a0d92f3b6" }),
    });
    const headers = endpoint.method === "POST" ? REPLAYED : {};
    const answer = answerOf(endpoint.done, envelope, headers);
    const content = { ...answer.content, ...(endpoint.binary?.bytesOf && OCTETS) };
    return [[String(endpoint.status), { ...answer, content }] as const];
  }
  return Object.entries(endpoint.answers).map(([status, description]) => [status, { description }] as const);
}

const securityOf = (endpoint: AnyEndpoint) => {
  if (endpoint.access === "public") return [];
  const byOrganization = [{ apiKey: [] }, { session: [] }];
  if (endpoint.access === "signed") return [...byOrganization, {}];
  return endpoint.access === "member" ? [...byOrganization, { userToken: [] }] : byOrganization;
};

const IdempotencyKey = z.object({
  "Idempotency-Key": z
    .string()
    .optional()
    .meta({
      description: "Makes the request safe to retry for 24 hours.",
      example: "order-8731-room",
      override: { minLength: 1, maxLength: 255, pattern: "^[!-~]+$" },
    }),
});

const CacheControl = z.object({
  "Cache-Control": z.string().optional().meta({
    description:
      "`max-stale` accepts a list that lacks the latest changes: the nearest replica of the database answers.",
    example: "max-stale",
  }),
});

function bodyOf(endpoint: AnyEndpoint): Pick<ZodOpenApiOperationObject, "requestBody"> {
  if (endpoint.kind === "raw") return {};
  const { body, form } = endpoint;
  if (form !== undefined) {
    return { requestBody: { required: true, content: { "multipart/form-data": { schema: form.fields } } } };
  }
  if (body === undefined) return {};
  const { bodyOf } = endpoint.binary ?? {};
  const content = { "application/json": { schema: body }, ...(bodyOf && OCTETS) };
  return { requestBody: { required: true, content } };
}

export function operationOf(endpoint: AnyEndpoint): ZodOpenApiOperationObject {
  const names = [...documentedPath(endpoint).matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "");
  const params = z.object(
    Object.fromEntries(names.map((name) => [name, z.string().meta(PATH_PARAMETERS[name] ?? {})])),
  );
  const query = endpoint.kind === "envelope" ? endpoint.query : undefined;
  return {
    operationId: endpoint.operation,
    tags: [endpoint.module],
    summary: endpoint.summary,
    ...(endpoint.details === undefined ? {} : { description: endpoint.details }),
    security: securityOf(endpoint),
    requestParams: {
      path: params,
      ...(query === undefined ? {} : { query }),
      ...(endpoint.method === "POST" ? { header: IdempotencyKey } : {}),
      ...(endpoint.mayBeStale ? { header: CacheControl } : {}),
    },
    ...bodyOf(endpoint),
    responses: Object.fromEntries([...successesOf(endpoint), ...failuresOf(endpoint)]),
  };
}

/** An endpoint's path in OpenAPI's notation. */
export const documentedPath = (endpoint: AnyEndpoint): string =>
  pathOf(endpoint, { segment: "{$1}", rest: "{$1}" });
