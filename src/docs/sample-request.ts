/** A sample request of an operation: its parts, for each language to write down. */
import { exampleOf } from "./example.ts";
import { type Entry, formOf, jsonOf, resolve, type Schemas } from "./model.ts";

/** How a language writes a value that its reader has, such as `$ROOM_ID`. */
export type Place = (name: string) => string;

export interface SampleRequest {
  /** The address, with the parameters that are required. */
  readonly url: string;
  readonly needsCredential: boolean;
  /** The fields of a form; files stand apart. Empty for requests without a form. */
  readonly fields: readonly { readonly name: string; readonly isFile: boolean }[];
  /** The JSON body; undefined for requests without one. */
  readonly body: unknown;
}

export function sampleRequest({ path, operation }: Entry, schemas: Schemas, place: Place): SampleRequest {
  const query = (operation.parameters ?? [])
    .filter((parameter) => parameter.in === "query" && parameter.required === true)
    .map(({ name }) => `${name}=${place(name)}`);
  const address = place("baseUrl") + path.replaceAll(/\{(\w+)\}/g, (_, name: string) => place(name));
  const body = jsonOf(operation.requestBody);
  const form = resolve(schemas, formOf(operation) ?? {}).properties ?? {};
  return {
    url: query.length === 0 ? address : `${address}?${query.join("&")}`,
    needsCredential: (operation.security ?? []).length > 0,
    fields: Object.entries(form).map(([name, { contentMediaType }]) => ({
      name,
      isFile: contentMediaType !== undefined,
    })),
    body: body && exampleOf(body, schemas),
  };
}
