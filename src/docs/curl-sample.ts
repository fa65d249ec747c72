/** A call in a shell, by curl. */
import type { Entry, Schemas } from "./model.ts";
import { sampleRequest } from "./sample-request.ts";

/** The shell variable of a name: `$ACCOUNT_ID` for `accountId`. */
const variable = (name: string): string => `$${name.replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2").toUpperCase()}`;

const singleQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The call as a reader would type it, with variables for the reader's own values. */
export function curlSample(entry: Entry, schemas: Schemas): string {
  const { url, needsCredential, fields, body } = sampleRequest(entry, schemas, variable);
  const method = entry.method === "get" ? "" : `-X ${entry.method.toUpperCase()} `;
  return [
    `curl ${method}"${url}"`,
    ...(needsCredential ? [`-H "Authorization: Bearer ${variable("bearer")}"`] : []),
    ...fields.map(({ name, isFile }) => (isFile ? `-F ${name}=@plan.png` : `-F "${name}=${variable(name)}"`)),
    ...(body === undefined
      ? []
      : ['-H "Content-Type: application/json"', `-d ${singleQuoted(JSON.stringify(body, null, 2))}`]),
  ].join(" \\\n  ");
}
