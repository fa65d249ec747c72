/** Builds sample requests and responses from the description's schemas: their own examples, or a value of the right type. */
import {
  type Entry,
  formOf,
  jsonOf,
  nameOfRef,
  type Operation,
  resolve,
  type Schema,
  type Schemas,
} from "./model.ts";

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

/** True for statuses of success, and for 101, the response to a WebSocket upgrade. */
export const isSuccess = (status: string): boolean => /^[123]/.test(status);

/** True for an operation that WebSocket clients call. */
export const isUpgrade = (operation: Operation): boolean => operation.responses["101"] !== undefined;

/** The shell variable of a name: `ACCOUNT_ID` for `accountId`. */
const variable = (name: string): string => name.replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2").toUpperCase();

const singleQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The call as a reader would type it, with variables for the reader's own values. */
export function sampleOf({ method, path, operation }: Entry, schemas: Schemas): string {
  const place = (name: string): string =>
    isUpgrade(operation) ? `\${${variable(name)}}` : `$${variable(name)}`;
  const query = (operation.parameters ?? [])
    .filter((parameter) => parameter.in === "query" && parameter.required === true)
    .map(({ name }) => `${name}=${place(name)}`);
  const address = place("baseUrl") + path.replaceAll(/\{(\w+)\}/g, (_, name: string) => place(name));
  const url = query.length === 0 ? address : `${address}?${query.join("&")}`;
  if (isUpgrade(operation)) return `new WebSocket(\`${url}\`)`;
  const body = jsonOf(operation.requestBody);
  const fields = Object.entries(resolve(schemas, formOf(operation) ?? {}).properties ?? {});
  const needsCredential = (operation.security ?? []).length > 0;
  return [
    `curl ${method === "get" ? "" : `-X ${method.toUpperCase()} `}"${url}"`,
    ...(needsCredential ? [`-H "Authorization: Bearer ${place("bearer")}"`] : []),
    ...fields.map(([name, field]) =>
      field.contentMediaType === undefined ? `-F "${name}=${place(name)}"` : `-F ${name}=@plan.png`,
    ),
    ...(body === undefined
      ? []
      : [
          '-H "Content-Type: application/json"',
          `-d ${singleQuoted(JSON.stringify(exampleOf(body, schemas), null, 2))}`,
        ]),
  ].join(" \\\n  ");
}
