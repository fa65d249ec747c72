/** The OpenAPI document describes everything that is served, and nothing else. */

import { ERROR_CODES } from "@atrium/contract/errors.ts";
import {
  type Entry,
  entriesOf,
  jsonOf,
  type Operation,
  readDocument,
  resolve,
  type Schema,
} from "@atrium/contract/openapi/described.ts";
import { WebhookEventName } from "@atrium/contract/resources/events.ts";
import { ALL_RIGHTS } from "@atrium/contract/resources/permissions.ts";
import { Webhook } from "@atrium/contract/rest/webhooks.ts";
import {
  buildRequest,
  describeRequest,
  type Filled,
  IncompleteFormError,
  keyBearer,
} from "@atrium/docs/browser/try-request.ts";
import { exampleOf } from "@atrium/docs/examples.ts";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { DASHBOARD_ENDPOINTS } from "../../src/dashboard/endpoints.ts";
import { loadEndpoints, partsAt } from "../../src/endpoints.ts";
import { describeEvents } from "../../src/features/webhooks/event-docs.ts";
import { sampleEvent } from "../../src/features/webhooks/sample-event.ts";
import { type AnyEndpoint, pathOf } from "../../src/http/endpoint.ts";
import { Failure, successOf } from "../../src/http/envelope.ts";
import { buildDocument, documentedPath, errorsOf } from "../../src/http/openapi/openapi.ts";
import { checkQuery } from "../../src/http/request-input.ts";
import { refusalTo } from "../../src/platform/d1/rights.ts";

const ENDPOINTS = await loadEndpoints();

const described = readDocument(buildDocument(ENDPOINTS, describeEvents()));
const exampleWebhook = Webhook.parse(Webhook.meta()?.example);
const schemas = described.components?.schemas ?? {};
const entries = entriesOf(described);

const nameOf = ({ method, path }: Pick<Entry, "method" | "path">): string =>
  `${method.toUpperCase()} ${path}`;

/** Each endpoint with its operation. */
const pairs: readonly [name: string, endpoint: AnyEndpoint, operation: Operation][] = ENDPOINTS.map(
  (endpoint) => {
    const name = nameOf({ method: endpoint.method, path: documentedPath(endpoint) });
    const entry = entries.find((candidate) => nameOf(candidate) === name);
    if (entry === undefined) throw new Error(`${name} is not described`);
    return [name, endpoint, entry.operation];
  },
);

/** The bodies of all requests, except the one that may be any JSON. */
const bodies = [...ENDPOINTS, ...DASHBOARD_ENDPOINTS].flatMap(({ method, path, ...endpoint }) =>
  "body" in endpoint && endpoint.body !== undefined && !path.endsWith("/trigger")
    ? [[`${method} ${path}`, endpoint.body] as const]
    : [],
);

it("each field of each schema has a sentence", () => {
  const silent = Object.entries(schemas).flatMap(([name, schema]) => silentFields(schema, name));
  expect(silent).toEqual([]);
});

/** Fields without a description of their own or of the schema that they name. */
function silentFields({ properties = {}, items }: Schema, place: string): string[] {
  const inner = items === undefined ? [] : silentFields(items, `${place}[]`);
  const fields = Object.entries(properties).flatMap(([name, field]) => {
    const sentence = field.description ?? resolve(schemas, field).description;
    return [...(sentence ? [] : [`${place}.${name}`]), ...silentFields(field, `${place}.${name}`)];
  });
  return [...inner, ...fields];
}

/** The objects of a JSON Schema that accept fields beside their own; `override` is how a schema is described. */
function openObjects(node: unknown, place: string): string[] {
  if (typeof node !== "object" || node === null || place.endsWith("/override")) return [];
  const isOpen = "properties" in node && !("additionalProperties" in node);
  const inner = Object.entries(node).flatMap(([name, value]) => openObjects(value, `${place}/${name}`));
  return isOpen ? [place, ...inner] : inner;
}

it.each(bodies)("%s refuses an unknown field, also of an object in it", (_, body) => {
  expect(body.safeParse({ unexpected: 1 }).error?.issues).toContainEqual(
    expect.objectContaining({ code: "unrecognized_keys", keys: ["unexpected"] }),
  );
  expect(openObjects(z.toJSONSchema(body, { io: "input", unrepresentable: "any" }), "")).toEqual([]);
});

describe("the API's description", () => {
  it("has every endpoint where its path is looked for", async () => {
    for (const [name, endpoint] of pairs) {
      const path = pathOf(endpoint, { segment: "any", wildcard: "any/other" });
      expect({ name, found: (await loadEndpoints(partsAt(path))).includes(endpoint) }).toEqual({
        name,
        found: true,
      });
    }
  });

  it("names every operation once", () => {
    const ids = entries.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("describes every tag that it uses", () => {
    const explained = (described.tags ?? []).filter(({ description }) => description).map(({ name }) => name);
    const used = new Set(entries.flatMap(({ operation }) => operation.tags ?? []));
    expect(explained.toSorted()).toEqual([...used].toSorted());
  });

  it("describes every event that a webhook can receive, with a schema that a sample of it matches", () => {
    const named = Object.entries(described.webhooks ?? {});
    expect(named.map(([name]) => name)).toEqual(WebhookEventName.options);
    const ids = named.map(([, { post }]) => post?.operationId);
    expect([new Set(ids).size, ids[0]]).toEqual([ids.length, "onParticipantJoined"]);
    const ctx = {
      newId: () => crypto.randomUUID(),
      now: () => Date.now(),
      origin: "https://atrium.test",
      trace: { requestId: "request" },
    };
    const events = describeEvents();
    for (const name of WebhookEventName.options) {
      const webhook = { ...exampleWebhook, events: [name] };
      const result = events[name]?.schema.safeParse(JSON.parse(sampleEvent(ctx, webhook).body));
      expect({ name, error: result?.error, success: result?.success }).toEqual({ name, success: true });
    }
  });

  it("says in words what a body's fields default to: generated clients take `default` for a field that is always sent", () => {
    expect(JSON.stringify(schemas)).not.toContain('"default":');
    expect(schemas.WebhookCreation?.properties?.enabled?.description).toMatch(/ `true` by default\.$/);
    expect(schemas.WebhookCreation?.required).toEqual(["url", "events"]);
  });

  it("has a valid example of a failed response", () => {
    expect(Failure.strict().safeParse(exampleOf(schemas.Failure ?? {}, schemas)).error).toBeUndefined();
  });
});

describe.each(pairs)("%s", (_, endpoint, operation) => {
  it("has a summary, a description and its security schemes", () => {
    expect([operation.summary, operation.description].filter((text) => !text?.trim())).toEqual([]);
    const schemes = operation.security?.map((requirement) => Object.keys(requirement).join());
    const expected: Readonly<Record<string, readonly string[]>> = {
      organization: ["apiKey", "session"],
      owner: ["apiKey", "session"],
      identity: ["userToken"],
      signed: ["apiKey", "session", ""],
      public: [],
    };
    expect(schemes).toEqual(expected[endpoint.right] ?? ["apiKey", "session", "userToken"]);
  });

  it("names the right that a narrowed API key needs", () => {
    const named = operation.security?.flatMap(({ apiKey = [] }) => apiKey);
    const isByKey = endpoint.right !== "public" && endpoint.right !== "identity";
    const key = { type: "key", accountId: "acme", keyId: "k", name: "Agent" } as const;
    const isWithinReach =
      refusalTo({ actor: { ...key, narrowed: { rights: ALL_RIGHTS } } }, endpoint.right) === null;
    expect(named).toEqual(isByKey ? [isWithinReach ? endpoint.right : "organization"] : []);
  });

  it("describes every parameter, including all in its path", () => {
    const parameters = operation.parameters ?? [];
    expect(parameters.filter(({ description }) => !description)).toEqual([]);
    const inPath = parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name);
    expect(inPath).toEqual([...documentedPath(endpoint).matchAll(/\{(\w+)\}/g)].map((match) => match[1]));
  });

  it("lists exactly the statuses that it can return", () => {
    const successes = endpoint.kind === "envelope" ? [endpoint.status] : Object.keys(endpoint.answers);
    const failures = errorsOf(endpoint).map((code) => ERROR_CODES[code].status);
    const expected = new Set([...successes, ...failures].map(String));
    expect(Object.keys(operation.responses).toSorted()).toEqual([...expected].toSorted());
  });

  it("says why it fails, and what the caller does then", () => {
    const statuses = new Set(errorsOf(endpoint).map((code) => ERROR_CODES[code].status));
    const descriptions = [...statuses].map((status) => operation.responses[status]?.description ?? "");
    const paragraphs = descriptions.flatMap((description) => description.split("\n\n"));
    expect(paragraphs.filter((paragraph) => !/^`[A-Z_]+`: .+\.\n.+\.$/.test(paragraph))).toEqual([]);
  });

  it("has valid examples of its input and output", () => {
    if (endpoint.kind === "raw") return;
    const query = (operation.parameters ?? []).filter((parameter) => parameter.in === "query");
    const sent = query.map(({ name, schema }) => [name, String(exampleOf(schema ?? {}, schemas))]);
    const search = `?${new URLSearchParams(sent)}`;
    if (endpoint.query !== undefined) {
      const parsed = checkQuery(endpoint.query, search, endpoint.module);
      expect(Object.keys(parsed).toSorted()).toEqual(query.map(({ name }) => name).toSorted());
    }

    const body = jsonOf(operation.requestBody);
    expect(body === undefined).toBe(endpoint.body === undefined);
    expect(endpoint.body?.safeParse(exampleOf(body ?? {}, schemas)).error).toBeUndefined();

    const answer = exampleOf(jsonOf(operation.responses[String(endpoint.status)]) ?? {}, schemas);
    expect(successOf(endpoint.data).strict().parse(answer)).toEqual(answer);
  });
});

// Requests that readers of the API reference try: to the operation that they chose, with the credential that they chose.

const SESSION = { accountId: "acme", bearer: null };
const path = (name: string, value: string): Filled => ({ name, in: "path", value });
const ENTRY = "/v1/accounts/{accountId}/rooms/{roomId}/stores/{store}/{key}";

describe("a tried request", () => {
  it("has each value in its place, and no fields that are empty", () => {
    const fields = [
      path("roomId", "1"),
      path("store", "my tasks"),
      path("key", "a/b?c"),
      { name: "limit", in: "query", value: "20" },
      { name: "after", in: "query", value: "" },
      { name: "Idempotency-Key", in: "header", value: "once" },
      { name: "body", in: "body", value: '{ "value": 1 }' },
    ];
    expect(buildRequest("PUT", ENTRY, fields, SESSION)).toEqual({
      method: "PUT",
      path: "/v1/accounts/acme/rooms/1/stores/my%20tasks/a%2Fb%3Fc?limit=20",
      headers: { "Content-Type": "application/json", "Idempotency-Key": "once" },
      body: '{ "value": 1 }',
    });
  });

  it("reaches no other operation, and says which field is wrong", () => {
    const build = (key: string, body = "") =>
      buildRequest(
        "PUT",
        ENTRY,
        [
          path("roomId", "1"),
          path("store", "tasks"),
          path("key", key),
          { name: "body", in: "body", value: body },
        ],
        SESSION,
      );
    expect(() => build("..")).toThrow("key must not be “..”.");
    expect(() => build("")).toThrow(new IncompleteFormError("key is missing."));
    expect(() => build("x", "{")).toThrow("The body is not JSON.");
  });

  it("carries an API key with its organization, and shows no credential", () => {
    const credential = { accountId: "acme", bearer: keyBearer("acme", "kéy") };
    const request = buildRequest("DELETE", "/v1/accounts/{accountId}/tokens", [], credential);
    expect(Buffer.from(credential.bearer, "base64").toString()).toBe("acme:kéy");
    expect(request.headers).toEqual({ Authorization: `Bearer ${credential.bearer}` });
    expect(describeRequest(request)).toBe("DELETE /v1/accounts/acme/tokens\nAuthorization: Bearer …");
  });

  it("is a form where the operation takes one", () => {
    const file = new File(["x"], "plan.png");
    const { body, headers, ...request } = buildRequest(
      "POST",
      "/v1/accounts/{accountId}/upload",
      [
        { name: "roomId", in: "form", value: "1" },
        { name: "file", in: "form", value: file },
      ],
      SESSION,
    );
    expect(headers).toEqual({});
    expect(body instanceof FormData && [...body.keys()]).toEqual(["roomId", "file"]);
    expect(describeRequest({ ...request, headers, body })).toBe(
      "POST /v1/accounts/acme/upload\n\nroomId: 1\nfile: plan.png",
    );
  });
});
