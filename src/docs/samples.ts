/** Samples of an operation: curl, the SDK, `fetch`, and example values of its schemas. */
import * as api from "../http/openapi/described.ts";
import { SDK_PRELUDE, SDK_SAMPLES } from "./sdk-samples.ts";

/** A sample, and the title of its tab: the guides use the same names. */
interface Sample {
  readonly title: "curl" | "TypeScript" | "fetch" | "JavaScript";
  readonly language: "bash" | "typescript";
  readonly text: string;
}

export function samplesOf(entry: api.Entry, schemas: api.Schemas): Sample[] {
  if (api.isUpgrade(entry.operation))
    return [{ title: "JavaScript", language: "typescript", text: socketSample(entry) }];
  const samples: Sample[] = [{ title: "curl", language: "bash", text: curlSample(entry, schemas) }];
  const sdk = SDK_SAMPLES[entry.operation.operationId];
  if (sdk !== undefined)
    samples.push({ title: "TypeScript", language: "typescript", text: `${SDK_PRELUDE}\n${sdk}` });
  if (api.isJson(entry))
    samples.push({ title: "fetch", language: "typescript", text: fetchSample(entry, schemas) });
  return samples;
}

const socketSample = ({ path }: api.Entry): string =>
  `const socket = new WebSocket(\`\${baseUrl}${path.replaceAll("{", "${")}\`);`;

/** The notation of a language for a value of the reader, such as `$ROOM_ID`. */
type Place = (name: string) => string;

function requestOf({ path, operation }: api.Entry, schemas: api.Schemas, place: Place) {
  const query = (operation.parameters ?? [])
    .filter((parameter) => parameter.in === "query" && parameter.required === true)
    .map(({ name }) => `${name}=${place(name)}`);
  const address = place("baseUrl") + path.replaceAll(/\{(\w+)\}/g, (_, name: string) => place(name));
  const body = api.jsonOf(operation.requestBody);
  const form = api.resolve(schemas, api.formOf(operation) ?? {}).properties ?? {};
  return {
    url: query.length === 0 ? address : `${address}?${query.join("&")}`,
    needsCredential: (operation.security ?? []).length > 0,
    fields: Object.entries(form).map(([name, { contentMediaType }]) => ({
      name,
      isFile: contentMediaType !== undefined,
    })),
    json: body && JSON.stringify(exampleOf(body, schemas), null, 2),
  };
}

/** The shell variable of a name: `$ACCOUNT_ID` for `accountId`. */
const shellVariable: Place = (name) => `$${name.replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2").toUpperCase()}`;

function curlSample(entry: api.Entry, schemas: api.Schemas): string {
  const { url, needsCredential, fields, json } = requestOf(entry, schemas, shellVariable);
  const method = entry.method === "get" ? "" : `-X ${entry.method.toUpperCase()} `;
  const lines = [`curl ${method}"${url}"`];
  if (needsCredential) lines.push(`-H "Authorization: Bearer ${shellVariable("bearer")}"`);
  for (const { name, isFile } of fields)
    lines.push(isFile ? `-F ${name}=@plan.png` : `-F "${name}=${shellVariable(name)}"`);
  if (json !== undefined)
    lines.push('-H "Content-Type: application/json"', `-d '${json.replaceAll("'", "'\\''")}'`);
  return lines.join(" \\\n  ");
}

const templateValue: Place = (name) => `\${${name}}`;

function fetchSample(entry: api.Entry, schemas: api.Schemas): string {
  const { url, needsCredential, fields, json } = requestOf(entry, schemas, templateValue);
  const headers: string[] = [];
  if (needsCredential) headers.push(`Authorization: \`Bearer ${templateValue("bearer")}\``);
  if (json !== undefined) headers.push('"Content-Type": "application/json"');
  const options: string[] = [];
  if (entry.method !== "get") options.push(`method: "${entry.method.toUpperCase()}"`);
  if (headers.length > 0) options.push(`headers: { ${headers.join(", ")} }`);
  if (fields.length > 0) options.push("body: form");
  if (json !== undefined) options.push(`body: JSON.stringify(${json.replaceAll("\n", "\n  ")})`);
  const init = options.length === 0 ? "" : `, {\n  ${options.join(",\n  ")},\n}`;
  const lines = fields.length === 0 ? [] : ["const form = new FormData();"];
  for (const { name } of fields) lines.push(`form.append("${name}", ${name});`);
  lines.push(`const response = await fetch(\`${url}\`${init});`);
  lines.push("const { data, error } = await response.json();");
  return lines.join("\n");
}

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
