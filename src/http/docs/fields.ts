/** Tables of fields: a schema's properties or an operation's parameters, with type, limits and meaning. */
import { nameOfRef, type Parameter, resolve, type Schema, type Schemas } from "./model.ts";
import { anchor, type Html, html, inline } from "./text.ts";

/** One row: something with a name that may be sent or is answered. */
export interface Field {
  readonly name: string;
  /** Where a parameter stands: path, query or header. */
  readonly in?: string;
  readonly required: boolean;
  readonly schema: Schema;
  readonly description: string | undefined;
}

/** Markup of several things with a word between each two. */
const joined = (parts: readonly Html[], separator: string): Html[] =>
  parts.map((part, index) => (index === 0 ? part : html`${separator}${part}`));

const code = (value: unknown): Html => html`<code>${JSON.stringify(value)}</code>`;

/** What kind of value it is; a named schema is a link to its own table. */
export function typeOf(schema: Schema): Html {
  if (schema.$ref !== undefined) {
    const name = nameOfRef(schema.$ref);
    return html`<a href="#${anchor("schema", name)}">${name}</a>`;
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

/** What the type alone does not say of a value. */
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

/** Whether a request must hold the field, or whether an answer always does. */
function presenceOf(field: Field, answered: boolean): Html {
  if (answered) return html`${field.required ? "always there" : "may be left out"}`;
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

/** A box that scrolls sideways on its own; the tab stop lets a keyboard scroll it too. */
export const scrollBox = (label: string, content: Html): Html =>
  html`<div class="scroll" role="group" aria-label="${label}" tabindex="0">${content}</div>`;

/** A table of fields, named `label` for those who hear it; `answered` when they are not for the caller to send. */
export const fieldTable = (label: string, fields: readonly Field[], answered = false): Html =>
  scrollBox(
    label,
    html`<table class="fields">
      <thead><tr><th scope="col">Name</th><th scope="col">Type and limits</th><th scope="col">Meaning</th></tr></thead>
      <tbody>${fields.map((field) => row(field, answered))}</tbody>
    </table>`,
  );

/** The fields of an object; those of objects without a name of their own follow as `outer.inner`. */
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
