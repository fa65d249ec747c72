/** Removes credentials from results: an agent may be made to repeat its input. */

import { type Described, jsonOf, resolve, type Schema } from "@atrium/contract/openapi/described.ts";
import { parseJson } from "@atrium/contract/text.ts";

const CREDENTIALS: ReadonlySet<string> = new Set(["token", "secret", "trigger_secret", "key", "endpoint"]);

/** Keywords of a schema that constrain a value. */
const CONSTRAINTS = ["type", "properties", "items", "enum", "const"] as const;

/** True for the schema of any JSON: users and applications wrote the value, and a `token` in it is theirs. */
const isContent = (schema: Schema): boolean => CONSTRAINTS.every((name) => schema[name] === undefined);

/**
 * Removes credentials, file keys and webhook URLs from data, as far as these are fields of the API. Content that the
 * API describes as any JSON stays as it was written. Never throws, whatever the data has.
 */
export function resultCleaner(described: Described): (schema: Schema, data: object) => object {
  const schemas = described.components?.schemas ?? {};

  const branchesOf = (schema: Schema): readonly Schema[] => {
    const resolved = resolve(schemas, schema);
    return (resolved.anyOf ?? resolved.oneOf)?.flatMap(branchesOf) ?? [resolved];
  };
  const events = Object.values(described.webhooks ?? {}).flatMap(({ post }) =>
    branchesOf(jsonOf(post?.requestBody) ?? {}),
  );

  /** A value with the branches of its schema; none for a value that the API does not describe. */
  const clean = (value: unknown, branches: readonly Schema[]): unknown => {
    if (typeof value !== "object" || value === null) return value;
    if (branches.length > 0 && branches.every(isContent)) return value;
    if (Array.isArray(value)) {
      // The rest of a tuple may be described as `false`: none.
      const items = branches.flatMap(({ items }) => (items ? branchesOf(items) : []));
      return value.map((item) => clean(item, items));
    }
    return cleanFields(value, branches);
  };

  const cleanFields = (value: object, branches: readonly Schema[]): object =>
    Object.fromEntries(
      Object.entries(value).flatMap(([name, field]: [string, unknown]): [string, unknown][] => {
        const inner = branches.flatMap((branch) => fieldOf(branch, name)).flatMap(branchesOf);
        if (typeof field !== "string" || (inner.length > 0 && inner.every(isContent)))
          return [[name, clean(field, inner)]];
        if (CREDENTIALS.has(name)) return [];
        if (name === "url") return "key" in value ? [] : originOf(field);
        if (name === "payload") return cleanPayload(field);
        return [[name, field]];
      }),
    );

  const originOf = (url: string): [string, string][] => {
    const origin = URL.parse(url)?.origin;
    return origin === undefined ? [] : [["url_origin", origin]];
  };

  /** The body of a delivery, which is an event as JSON. */
  const cleanPayload = (json: string): [string, string][] => {
    const payload = parseJson(json);
    return payload === undefined ? [] : [["payload", JSON.stringify(clean(payload, events))]];
  };

  return (schema, data) => cleanFields(data, branchesOf(schema));
}

function fieldOf({ properties = {}, additionalProperties }: Schema, name: string): readonly Schema[] {
  const schema = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
  return schema === undefined ? [] : [schema];
}
