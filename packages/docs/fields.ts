/** Schemas, parameters and credentials: their tables of fields, and the pages of the schemas. */
import * as api from "@atrium/contract/openapi/described.ts";
import { exampleOf } from "./examples.ts";
import {
  type Html,
  html,
  inline,
  jsonSample,
  prose,
  SCHEMAS_ADDRESS,
  schemaAddress,
  scrollBox,
} from "./page.ts";

/** One row of a table: a parameter, or a field of a body or a response. */
export interface Field {
  readonly name: string;
  readonly in?: string;
  readonly required: boolean;
  readonly schema: api.Schema;
  readonly description: string | undefined;
}

/** The parts with a separator between each two. */
const joined = (parts: readonly Html[], separator: string): Html[] =>
  parts.map((part, index) => (index === 0 ? part : html`${separator}${part}`));

const code = (value: unknown): Html => html`<code>${JSON.stringify(value)}</code>`;

/** The type of a value; a named schema is a link to its own table. */
export function typeOf(schema: api.Schema): Html {
  if (schema.$ref !== undefined) {
    const name = api.nameOfRef(schema.$ref);
    return html`<a href="${schemaAddress(name)}">${name}</a>`;
  }
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return html`${joined(choices.map(typeOf), " or ")}`;
  if (schema.const !== undefined) return code(schema.const);
  if (schema.items !== undefined) return html`array of ${typeOf(schema.items)}`;
  const type = typeof schema.type === "string" ? schema.type : (schema.type ?? ["any"]).join(" or ");
  const kind = schema.contentMediaType === undefined ? schema.format : "bytes";
  return html`${type}${kind === undefined ? "" : ` (${kind})`}`;
}

function range(min: number | undefined, max: number | undefined, unit: string): string[] {
  if (min !== undefined && max !== undefined) return [`${min} to ${max}${unit}`];
  if (min !== undefined) return [`at least ${min}${unit}`];
  return max === undefined ? [] : [`at most ${max}${unit}`];
}

/** The limits of a value that its type does not state. */
function limitsOf(schema: api.Schema): Html[] {
  const texts = [
    ...range(schema.minimum, schema.maximum, ""),
    ...range(schema.minLength, schema.maxLength, " characters"),
    ...range(schema.minItems, schema.maxItems, " items"),
    ...range(schema.minProperties, undefined, schema.minProperties === 1 ? " field" : " fields"),
  ].map((text) => html`${text}`);
  return [
    ...texts,
    ...(schema.enum === undefined ? [] : [html`${joined(schema.enum.map(code), " or ")}`]),
    ...(schema.pattern === undefined ? [] : [html`matches <code>${schema.pattern}</code>`]),
    ...(schema.anyOf ?? schema.oneOf ?? []).flatMap(limitsOf),
  ];
}

function presenceOf(field: Field, answered: boolean): Html {
  if (answered) return html`${field.required ? "always present" : "optional"}`;
  return field.required ? html`<em>required</em>` : html`optional`;
}

function row(field: Field, answered: boolean): Html {
  const { schema } = field;
  const notes = [
    ...limitsOf(schema),
    ...(schema.default === undefined ? [] : [html`default ${code(schema.default)}`]),
  ];
  return html`<tr>
    <th scope="row"><code>${field.name}</code><span class="note">${
      field.in === undefined ? "" : `${field.in}, `
    }${presenceOf(field, answered)}</span></th>
    <td>${typeOf(schema)}${notes.map((note) => html`<span class="note">${note}</span>`)}</td>
    <td>${inline(field.description ?? schema.description ?? "")}</td>
  </tr>`;
}

/** A table of fields, called `label` by screen readers; `answered` for fields of responses. */
export const fieldTable = (label: string, fields: readonly Field[], answered = false): Html =>
  scrollBox(
    label,
    html`<table class="records">
      <thead><tr><th scope="col">Name</th><th scope="col">Type and limits</th><th scope="col">Meaning</th></tr></thead>
      <tbody>${fields.map((field) => row(field, answered))}</tbody>
    </table>`,
  );

/** The fields of an object; fields of unnamed inner objects follow as `outer.inner`. */
export function fieldsOf(schema: api.Schema, schemas: api.Schemas, prefix = ""): Field[] {
  const { properties = {}, required = [] } = api.resolve(schemas, schema);
  return Object.entries(properties).flatMap(([key, field]) => {
    const name = prefix + key;
    const own: Field = {
      name,
      required: required.includes(key),
      schema: field,
      description: field.description,
    };
    return [own, ...(field.$ref === undefined ? fieldsOf(field, schemas, `${name}.`) : [])];
  });
}

export const fieldOfParameter = (parameter: api.Parameter): Field => ({
  name: parameter.name,
  in: parameter.in,
  required: parameter.required === true,
  schema: parameter.schema ?? {},
  description: parameter.description,
});

export const schemaListPage = (schemas: api.Schemas): Html =>
  html`<h1>Schemas</h1>
    <p>What requests and responses consist of. Their fields link here, too.</p>
    <ul class="plain">${Object.entries(schemas).map(
      ([name, { description }]) =>
        html`<li><a href="${schemaAddress(name)}">${name}</a>${description === undefined ? "" : html` <span class="note">${inline(description)}</span>`}</li>`,
    )}</ul>`;

/** Whether callers send the schema; all others are in responses. */
const isSent = (described: api.Described, name: string): boolean =>
  api
    .entriesOf(described)
    .some(({ operation }) => api.nameOfRef(api.jsonOf(operation.requestBody)?.$ref ?? "") === name);

/** Null when the document has no schema of this name. */
export function schemaPage(described: api.Described, name: string): Html | null {
  const schemas = described.components?.schemas ?? {};
  const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined;
  if (schema === undefined) return null;
  const fields = fieldsOf(schema, schemas);
  return html`<p class="soft"><a href="${SCHEMAS_ADDRESS}">Schemas</a></p>
    <h1>${name}</h1>
    <div class="columns">
      <div class="facts">
        ${prose(schema.description)}
        <p class="soft">${typeOf(schema)}${limitsOf(schema).map((limit) => html`, ${limit}`)}</p>
        ${fields.length === 0 ? "" : fieldTable(`Fields of ${name}`, fields, !isSent(described, name))}
      </div>
      <div class="samples">${jsonSample("Example", exampleOf(schema, schemas))}</div>
    </div>`;
}

/** Schemes are lower case in the document, and capitalized in requests. */
const capitalized = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1);

/** The place of a credential in a request. */
const placeOf = ({ in: place, name, scheme, bearerFormat }: api.SecurityScheme): Html =>
  place === "cookie"
    ? html`<code>Cookie: ${name ?? ""}</code>`
    : html`<code>Authorization: ${capitalized(scheme ?? "")}</code> ${bearerFormat ?? ""}`;

export function credentialSections(described: api.Described): Html {
  const schemes = Object.entries(described.components?.securitySchemes ?? {});
  return html`<section id="credentials" aria-label="Credentials">
    <h2>Credentials</h2>
    <p>In the samples, <code>$BASE_URL</code> is the address of this service, and <code>$BEARER</code> one of the credentials for <code>Authorization</code>.</p>
    ${schemes.map(
      ([name, scheme]) => html`<article id="credential-${name}">
        <h3>${name}</h3>
        <p class="soft">${placeOf(scheme)}</p>
        ${prose(scheme.description)}
      </article>`,
    )}
  </section>`;
}
