/** Holds every answer that a test receives against the API's own description of it. */

import { ERROR_CODES } from "@atrium/contract/errors.ts";
import { jsonOf, readDocument } from "@atrium/contract/openapi/described.ts";
import { dereference, type Schema, validate } from "@cfworker/json-schema";
import { expect } from "vitest";
import { loadEndpoints } from "../../src/endpoints.ts";
import { ACCOUNT_PATH } from "../../src/http/endpoint.ts";
import { Failure, successOf } from "../../src/http/envelope.ts";
import { buildDocument, documentedPath, errorsOf } from "../../src/http/openapi/openapi.ts";
import type { Answer } from "./api.ts";

const ENDPOINTS = await loadEndpoints();

/** The document without its examples, in which the validator would take an `id` for that of a schema. */
const withoutExamples = JSON.stringify(buildDocument(ENDPOINTS), (key, value: unknown) =>
  key === "example" || key === "examples" ? undefined : value,
);
const document: Schema = JSON.parse(withoutExamples);
const references = dereference(document);
const { paths } = readDocument(document);

/** Why the document refuses an answer; empty when it describes exactly this. */
export function documentProblems(method: string, path: string, status: number, answer: object): string[] {
  const operation = paths?.[path]?.[method.toLowerCase()];
  const schema = jsonOf(operation?.responses[String(status)]);
  if (schema === undefined) return [`${method} ${path} does not describe an answer ${status}`];
  const { errors } = validate(answer, schema as Schema, "2020-12", references, false);
  return errors.map((problem) => `${problem.instanceLocation}: ${problem.error}`);
}

const ROUTES = ENDPOINTS.map((endpoint) => ({
  endpoint,
  pattern: new RegExp(
    `^(${ACCOUNT_PATH})?${endpoint.path}$`.replace(/\*\w+/, ".+").replaceAll(/:\w+/g, "[^/]+"),
  ),
}));

/** The endpoint that answers, as the router finds it: the first that fits. */
const findEndpoint = (method: string, path: string) =>
  ROUTES.find(({ endpoint, pattern }) => endpoint.method === method && pattern.test(path.split("?")[0] ?? ""))
    ?.endpoint;

/** Fails unless the envelope is whole and the endpoint, where there is one, promised this very answer. */
export function expectDescribed(method: string, path: string, answer: Answer<unknown>): void {
  const { status, headers, ...envelope } = answer;
  expect(headers.get("X-Request-Id")).toBe(envelope.requestId);
  expect(headers.get("Access-Control-Allow-Origin")).toBe("*");
  expect(headers.get("Access-Control-Allow-Credentials")).toBeNull();
  const endpoint = findEndpoint(method, path);
  if (endpoint !== undefined) {
    expect(documentProblems(method, documentedPath(endpoint), status, envelope)).toEqual([]);
  }
  if (!envelope.success) {
    const failure = Failure.strict().parse(envelope);
    expect(failure).toEqual(envelope);
    expect(status).toBe(ERROR_CODES[failure.error.code].status);
    if (endpoint !== undefined) expect(errorsOf(endpoint)).toContain(failure.error.code);
    return;
  }
  if (endpoint?.kind !== "envelope") throw new Error(`${method} ${path} is no endpoint and yet succeeds`);
  expect(status).toBe(endpoint.status);
  expect(envelope.description).toBe(endpoint.done);
  expect(successOf(endpoint.data).parse(envelope)).toEqual(envelope);
}
