/** Example values of schemas. */
import * as api from "@atrium/contract/openapi/described.ts";

const BY_FORMAT: Readonly<Record<string, string>> = {
  uuid: "3f0c8a52-6a0e-4f6b-9a53-0d1f6a4f2b11",
  "date-time": "2026-01-31T09:30:00.000Z",
  date: "2026-01-31",
  uri: "https://example.com/",
};

/** A value that the schema accepts. `within` has the references on the way, so that cycles end. */
export function exampleOf(schema: api.Schema, schemas: api.Schemas, within: readonly string[] = []): unknown {
  const { $ref, anyOf, oneOf } = schema;
  const stated = [schema.example, schema.examples?.[0], schema.const, schema.default, schema.enum?.[0]];
  const example = stated.find((value) => value !== undefined);
  if (example !== undefined) return example;
  if ($ref !== undefined) {
    const name = api.nameOfRef($ref);
    return within.includes(name) ? {} : exampleOf(schemas[name] ?? {}, schemas, [...within, name]);
  }
  const first = anyOf?.[0] ?? oneOf?.[0];
  if (first !== undefined) return exampleOf(first, schemas, within);
  return exampleOfType(schema, schemas, within);
}

function exampleOfType(schema: api.Schema, schemas: api.Schemas, within: readonly string[]): unknown {
  const { properties = {}, items } = schema;
  switch (typeof schema.type === "string" ? schema.type : schema.type?.[0]) {
    case "object":
      return Object.fromEntries(
        Object.entries(properties).map(([name, field]) => [name, exampleOf(field, schemas, within)]),
      );
    case "array":
      return items === undefined ? [] : [exampleOf(items, schemas, within)];
    case "integer":
    case "number":
      return schema.minimum ?? schema.maximum ?? 1;
    case "boolean":
      return true;
    case "string":
      return BY_FORMAT[schema.format ?? ""] ?? "text";
    default:
      return null;
  }
}
