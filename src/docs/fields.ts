/** Tables of fields: a schema's properties or an operation's parameters, with type, limits and meaning. */
import { schemaAddress } from "./addresses.ts";
import { nameOfRef, type Parameter, resolve, type Schema, type Schemas } from "./model.ts";
import { type Html, html, inline } from "./text.ts";

/** One row of a table: a parameter, or a field of a body or a response. */
export interface Field {
  readonly name: string;
  /** Where a parameter goes: path, query or header. */
  readonly in?: string;
  readonly required: boolean;
  readonly schema: Schema;
  readonly description: string | undefined;
}

/** The parts with a separator between each two. */
const joined = (parts: readonly Html[], separator: string): Html[] =>
  parts.map((part, index) => (index === 0 ? part : html`${separator}${part}`));

const code = (value: unknown): Html => html`<code>${JSON.stringify(value)}</code>`;

/** The type of a value; a named schema is a link to its own table. */
export function typeOf(schema: Schema): Html {
  if (schema.$ref !== undefined) {
    const name = nameOfRef(schema.$ref);
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
export function limitsOf(schema: Schema): Html[] {
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

/** Whether a request must have the field, or whether a response always has it. */
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

/** A box that scrolls sideways; its tab stop lets the keyboard scroll it too. */
export const scrollBox = (label: string, content: Html): Html =>
  html`<div class="scroll" role="group" aria-label="${label}" tabindex="0">${content}</div>`;

/** A table of fields, called `label` by screen readers; `answered` for fields of responses. */
export const fieldTable = (label: string, fields: readonly Field[], answered = false): Html =>
  scrollBox(
    label,
    html`<table class="fields">
      <thead><tr><th scope="col">Name</th><th scope="col">Type and limits</th><th scope="col">Meaning</th></tr></thead>
      <tbody>${fields.map((field) => row(field, answered))}</tbody>
    </table>`,
  );

/** The fields of an object; those of unnamed inner objects follow as `outer.inner`. */
export function fieldsOf(schema: Schema, schemas: Schemas, prefix = ""): Field[] {
  const { properties = {}, required = [] } = resolve(schemas, schema);
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

/** A parameter as a row. */
export const fieldOfParameter = (parameter: Parameter): Field => ({
  name: parameter.name,
  in: parameter.in,
  required: parameter.required === true,
  schema: parameter.schema ?? {},
  description: parameter.description,
});
