/** Builds values from the description's schemas: their own examples, or a value of the right type. */
import { nameOfRef, type Schema, type Schemas } from "./model.ts";

const BY_FORMAT: Readonly<Record<string, string>> = {
  uuid: "3f0c8a52-6a0e-4f6b-9a53-0d1f6a4f2b11",
  "date-time": "2026-01-31T09:30:00.000Z",
  date: "2026-01-31",
  uri: "https://example.com/",
};

/** A value that the schema accepts. `within` holds the references on the way, so that cycles end. */
export function exampleOf(schema: Schema, schemas: Schemas, within: readonly string[] = []): unknown {
  if (schema.example !== undefined) return schema.example;
  if (schema.examples?.[0] !== undefined) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.$ref !== undefined) {
    const name = nameOfRef(schema.$ref);
    return within.includes(name) ? {} : exampleOf(schemas[name] ?? {}, schemas, [...within, name]);
  }
  const first = schema.anyOf?.[0] ?? schema.oneOf?.[0];
  if (first !== undefined) return exampleOf(first, schemas, within);
  return exampleOfType(schema, schemas, within);
}

function exampleOfType(schema: Schema, schemas: Schemas, within: readonly string[]): unknown {
  const type = typeof schema.type === "string" ? schema.type : schema.type?.[0];
  switch (type) {
    case "object":
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, field]) => [
          name,
          exampleOf(field, schemas, within),
        ]),
      );
    case "array":
      return schema.items === undefined ? [] : [exampleOf(schema.items, schemas, within)];
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
