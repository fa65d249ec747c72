/** Validates answers against the OpenAPI document as its readers do: by a validator of JSON Schema that knows nothing of us. */
import { dereference, type Schema, validate } from "@cfworker/json-schema";
import { ENDPOINTS } from "../../src/endpoints.ts";
import { jsonOf, readDocument } from "../../src/http/openapi/described.ts";
import { type ApiDocument, buildDocument } from "../../src/http/openapi/openapi.ts";

/** The document without its examples, in which the validator would take an `id` for that of a schema. */
const withoutExamples = JSON.stringify(buildDocument(ENDPOINTS), (key, value: unknown) =>
  key === "example" || key === "examples" ? undefined : value,
);
const document: Schema = JSON.parse(withoutExamples);
const references = dereference(document);
const { paths } = readDocument(document as ApiDocument);

/** Why the document refuses an answer; empty when it describes exactly this. */
export function documentProblems(method: string, path: string, status: number, answer: object): string[] {
  const operation = paths?.[path]?.[method.toLowerCase()];
  const schema = jsonOf(operation?.responses[String(status)]);
  if (schema === undefined) return [`${method} ${path} does not describe an answer ${status}`];
  const { errors } = validate(answer, schema as Schema, "2020-12", references, false);
  return errors.map((problem) => `${problem.instanceLocation}: ${problem.error}`);
}
