/** Samples of an operation: curl, the SDK and `fetch`. */
import * as api from "@atrium/contract/openapi/described.ts";
import { exampleOf } from "./examples.ts";
import { SDK_PRELUDE, sdkSample } from "./sdk-sample.ts";

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
  const sdk = sdkSample(entry, schemas);
  if (sdk !== null)
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
