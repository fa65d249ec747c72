/** Generates the OpenAPI 3.1 document from the endpoints and schemas that serve the API. */

import { ERROR_CODES, type ErrorCode } from "@atrium/contract/errors.ts";
import { PATH_PARAMETERS } from "@atrium/contract/openapi/path-parameters.ts";
import * as z from "zod";
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiOverrideContext,
  type ZodOpenApiPathsObject,
} from "zod-openapi";
import { type AnyEndpoint, pathOf } from "../endpoint.ts";
import { Failure, successOf } from "../envelope.ts";
import { SESSION_COOKIE } from "../security.ts";
import { describeFields } from "./field-prose.ts";
import { CREDENTIALS, ERRORS, INTRODUCTION, TAGS } from "./prose.ts";

/** Drops zod's own additions for its checks: the bounds of safe integers, and the pattern behind a format. */
function dropChecks({ jsonSchema }: Pick<ZodOpenApiOverrideContext, "jsonSchema">): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.format === "uuid") delete jsonSchema.pattern;
}

export function buildDocument(endpoints: readonly AnyEndpoint[], events: DocumentedEvents = {}) {
  const paths: ZodOpenApiPathsObject = {};
  for (const endpoint of endpoints) {
    const path = documentedPath(endpoint);
    paths[path] = {
      ...paths[path],
      [endpoint.method.toLowerCase()]: operationOf(endpoint),
    };
  }
  const document = createDocument(
    {
      openapi: "3.1.1",
      info: {
        title: "Atrium",
        version: "1.0.0",
        description: INTRODUCTION,
        contact: { name: "The Atrium authors" },
        license: { name: "MIT", identifier: "MIT" },
      },
      servers: [{ url: "/", description: "The service that serves this document" }],
      tags: [...new Set(endpoints.map((endpoint) => endpoint.module))].map((name) => {
        const description = TAGS[name];
        return description === undefined ? { name } : { name, description };
      }),
      paths,
      webhooks: webhooksOf(events),
      components: {
        securitySchemes: {
          apiKey: { type: "http", scheme: "bearer", description: CREDENTIALS.apiKey },
          session: {
            type: "apiKey",
            in: "cookie",
            name: SESSION_COOKIE,
            description: CREDENTIALS.session,
          },
          userToken: {
            type: "http",
            scheme: "bearer",
            bearerFormat: "JWT",
            description: CREDENTIALS.userToken,
          },
        },
      },
    },
    { override: dropChecks },
  );
  sendEvents(document.webhooks);
  // zod-openapi calls no override where a schema is a `$ref`, so these rules apply to its output.
  openObjects(document);
  describeFields(document.components?.schemas);
  describeDefaults(document.components?.schemas);
  return document;
}

export type ApiDocument = ReturnType<typeof buildDocument>;

/** A request whose caller is known may be repeated with its Idempotency-Key. */
const isRepeatable = ({ kind, method, right, replay }: AnyEndpoint): boolean =>
  kind === "envelope" && method === "POST" && (right !== "public" || replay?.secretIn !== undefined);

export function errorsOf(endpoint: AnyEndpoint): readonly ErrorCode[] {
  const codes = new Set<ErrorCode>(["BAD_REQUEST", ...endpoint.errors, "RATE_LIMITED", "INTERNAL_ERROR"]);
  if (endpoint.right !== "public") codes.add("UNAUTHORIZED").add("FORBIDDEN");
  if (endpoint.kind === "envelope" && (endpoint.body ?? endpoint.form) !== undefined) {
    codes.add("VALIDATION_ERROR").add("UNSUPPORTED_MEDIA_TYPE");
  }
  if (isRepeatable(endpoint) || endpoint.conflict !== undefined) codes.add("CONFLICT");
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

/** Why an endpoint responds the code and what the caller does then, a line each; a paragraph per cause. */
function errorProse(endpoint: AnyEndpoint, code: ErrorCode): string {
  const own = code === "CONFLICT" && endpoint.conflict !== undefined ? [endpoint.conflict] : [];
  const isGeneral = code !== "CONFLICT" || isRepeatable(endpoint);
  const causes = isGeneral ? [...own, ERRORS[code]] : own;
  return causes.map(([cause, remedy]) => `\`${code}\`: ${cause}\n${remedy}`).join("\n\n");
}

function failuresOf(endpoint: AnyEndpoint) {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorsOf(endpoint)) {
    const { status } = ERROR_CODES[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return [...byStatus].map(([status, codes]) => {
    const description = codes.map((code) => errorProse(endpoint, code)).join("\n\n");
    return [String(status), answerOf(description, Failure, status === 429 ? RETRY_AFTER : {})] as const;
  });
}

function successesOf(endpoint: AnyEndpoint) {
  if (endpoint.kind === "envelope") {
    const envelope = successOf(endpoint.data).extend({
      description: z.string().meta({ example: endpoint.done }),
      requestId: z.string().meta({ example: "6b1d4c0e-2f37-4a58-9c1b-7e5a0d92f3b6" }),
    });
    const headers = isRepeatable(endpoint) ? REPLAYED : {};
    const answer = answerOf(endpoint.done, envelope, headers);
    const content = { ...answer.content, ...(endpoint.binary?.bytesOf && OCTETS) };
    return [[String(endpoint.status), { ...answer, content }] as const];
  }
  return Object.entries(endpoint.answers).map(([status, description]) => [status, { description }] as const);
}

/** The credentials that open an endpoint, each with the right that not every key, session or token has. */
function securityOf({ right }: AnyEndpoint) {
  if (right === "public") return [];
  if (right === "identity") return [{ userToken: [right] }];
  const isOfOrganization = right === "organization" || right === "owner" || right === "signed";
  const byKey = { apiKey: [isOfOrganization ? "organization" : right] };
  const bySession = { session: right === "owner" ? [right] : [] };
  if (right === "signed") return [byKey, bySession, {}];
  return isOfOrganization ? [byKey, bySession] : [byKey, bySession, { userToken: [right] }];
}

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

/** Extensions for the samples of the reference. */
function sdkOf({ sdk = [], insteadOfSdk }: AnyEndpoint): Pick<ZodOpenApiOperationObject, `x-${string}`> {
  const [method] = typeof sdk === "string" ? [sdk] : sdk;
  if (method !== undefined) return { "x-sdk": method };
  return insteadOfSdk === undefined ? {} : { "x-instead-of-sdk": insteadOfSdk };
}

function operationOf(endpoint: AnyEndpoint): ZodOpenApiOperationObject {
  const names = [...documentedPath(endpoint).matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "");
  const params = z.object(
    Object.fromEntries(names.map((name) => [name, z.string().meta(PATH_PARAMETERS[name] ?? {})])),
  );
  const { query } = endpoint;
  const headers = endpoint.kind === "raw" ? endpoint.headers : undefined;
  return {
    operationId: endpoint.operation,
    tags: [endpoint.module],
    summary: endpoint.summary,
    ...(endpoint.details === undefined ? {} : { description: endpoint.details }),
    security: securityOf(endpoint),
    ...sdkOf(endpoint),
    requestParams: {
      path: params,
      ...(query === undefined ? {} : { query }),
      ...(isRepeatable(endpoint) ? { header: IdempotencyKey } : {}),
      ...(headers === undefined ? {} : { header: headers }),
      ...(endpoint.mayBeStale ? { header: CacheControl } : {}),
    },
    ...bodyOf(endpoint),
    responses: Object.fromEntries([...successesOf(endpoint), ...failuresOf(endpoint)]),
  };
}

export const documentedPath = (endpoint: AnyEndpoint): string =>
  pathOf(endpoint, { segment: "{$1}", wildcard: "{$1}" });

type Document = ReturnType<typeof createDocument>;

type DocumentedEvents = Readonly<Record<string, { readonly summary: string; readonly schema: z.ZodType }>>;

const SignedHeaders = z.object({
  "webhook-id": z.string().meta({ description: "The event's ID, the same for every attempt." }),
  "webhook-timestamp": z.string().meta({ description: "When the attempt began, in seconds since 1970." }),
  "webhook-signature": z.string().meta({
    description:
      "`v1,` and the signature in Base64, as Standard Webhooks defines it; several are separated by spaces.",
  }),
});

/** `participant.joined` as `onParticipantJoined`. */
const receiverOf = (name: string): string =>
  `on${name
    .split(".")
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join("")}`;

/** Holds the events until {@link sendEvents}: they are output, although requests carry them. */
const EVENT = "default";

/** The section `webhooks` for zod-openapi, with the schema names and forms of responses. */
const webhooksOf = (events: DocumentedEvents): ZodOpenApiPathsObject =>
  Object.fromEntries(
    Object.entries(events).map(([name, { summary, schema }]) => {
      const post: ZodOpenApiOperationObject = {
        operationId: receiverOf(name),
        tags: ["Webhooks"],
        summary,
        security: [],
        requestParams: { header: SignedHeaders },
        responses: {
          [EVENT]: { description: "", content: { "application/json": { schema } } },
          "2XX": { description: "The event has arrived. Any other status has it sent again." },
          "410": { description: "No event is wanted any more: the webhook is disabled." },
        },
      };
      return [name, { post }];
    }),
  );

/** Makes each event the body of the request that carries it. */
function sendEvents(webhooks: Document["webhooks"] = {}): void {
  for (const { post } of Object.values(webhooks)) {
    const event = post?.responses?.[EVENT];
    if (post?.responses === undefined || event === undefined || !("content" in event)) continue;
    post.requestBody = { required: true, content: event.content ?? {} };
    delete post.responses[EVENT];
  }
}

function visitObjects(value: unknown, visit: (object: Record<string, unknown>) => void): void {
  if (typeof value !== "object" || value === null) return;
  for (const part of Object.values(value)) visitObjects(part, visit);
  if (!Array.isArray(value)) visit(value as Record<string, unknown>);
}

/** Allows later fields in responses. Beside a `$ref`, `additionalProperties: false` would refuse every value. */
const openObjects = (schemas: unknown): void =>
  visitObjects(schemas, (schema) => {
    if (schema.additionalProperties === false) delete schema.additionalProperties;
  });

/** Generators take a `default` to mean an always present field, so it becomes text. */
const describeDefaults = (schemas: unknown): void =>
  visitObjects(schemas, (schema) => {
    if (schema.default === undefined) return;
    const said = `\`${JSON.stringify(schema.default)}\` by default.`;
    schema.description = [schema.description, said].filter(Boolean).join(" ");
    delete schema.default;
  });
