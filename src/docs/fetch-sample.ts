/** A call in TypeScript without the SDK, by `fetch`. */
import type { Entry, Schemas } from "./model.ts";
import { sampleRequest } from "./sample-request.ts";

const value = (name: string): string => `\${${name}}`;

/** The text with each line but the first moved to the right. */
const indented = (text: string): string => text.replaceAll("\n", "\n  ");

/** The call, with variables for the reader's own values. */
export function fetchSample(entry: Entry, schemas: Schemas): string {
  const { url, needsCredential, fields, body } = sampleRequest(entry, schemas, value);
  const headers = [
    ...(needsCredential ? [`Authorization: \`Bearer ${value("bearer")}\``] : []),
    ...(body === undefined ? [] : ['"Content-Type": "application/json"']),
  ];
  const options = [
    ...(entry.method === "get" ? [] : [`method: "${entry.method.toUpperCase()}"`]),
    ...(headers.length === 0 ? [] : [`headers: { ${headers.join(", ")} }`]),
    ...(fields.length === 0 ? [] : ["body: form"]),
    ...(body === undefined ? [] : [`body: JSON.stringify(${indented(JSON.stringify(body, null, 2))})`]),
  ];
  const init = options.length === 0 ? "" : `, {\n  ${options.join(",\n  ")},\n}`;
  const form = fields.map(({ name }) => `form.append("${name}", ${name});\n`);
  return `${fields.length === 0 ? "" : "const form = new FormData();\n"}${form.join("")}const response = await fetch(\`${url}\`${init});
const { data, error } = await response.json();`;
}
