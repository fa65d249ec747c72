/** The form by which a reader tries an operation. The page's script shows it, and sends the request to this service. */
import { exampleOf } from "./example.ts";
import {
  type Entry,
  formOf,
  isJson,
  jsonOf,
  type Operation,
  type Parameter,
  resolve,
  type Schema,
  type Schemas,
} from "./model.ts";
import { type Html, html, markup } from "./text.ts";

/** Part of the credential, not of the parameters: a session says which organization it is. */
const ACCOUNT = "accountId";

const marked = (isRequired: boolean): Html => (isRequired ? html`<em>required</em>` : html``);
const requiredIf = (isRequired: boolean): Html => markup(isRequired ? " required" : "");

/** The texts to choose from; undefined for any text. */
const choicesOf = (schema: Schema): readonly unknown[] | undefined =>
  schema.enum ?? (schema.type === "boolean" ? [true, false] : undefined);

function control(name: string, place: string, schema: Schema, isRequired: boolean): Html {
  const choices = choicesOf(schema);
  const attributes = html`name="${name}" data-in="${place}"${requiredIf(isRequired)}`;
  if (schema.contentMediaType !== undefined) return html`<input type="file" ${attributes}>`;
  return choices === undefined
    ? html`<input type="text" ${attributes} autocomplete="off" spellcheck="false">`
    : html`<select ${attributes}>${isRequired ? "" : html`<option value=""></option>`}${choices.map(
        (choice) => html`<option>${choice}</option>`,
      )}</select>`;
}

const field = (name: string, place: string, schema: Schema, isRequired: boolean): Html =>
  html`<label><span><code>${name}</code> ${marked(isRequired)}</span>${control(name, place, schema, isRequired)}</label>`;

const parameterField = ({ name, in: place, schema = {}, required = false }: Parameter): Html =>
  field(name, place, schema, required);

function bodyFields(operation: Operation, schemas: Schemas): Html {
  const form = formOf(operation);
  if (form !== undefined) {
    const { properties = {}, required = [] } = resolve(schemas, form);
    return html`${Object.entries(properties).map(([name, schema]) =>
      field(name, "form", schema, required.includes(name)),
    )}`;
  }
  const body = jsonOf(operation.requestBody);
  if (body === undefined) return html``;
  const text = JSON.stringify(exampleOf(body, schemas), null, 2);
  const rows = Math.min(16, text.split("\n").length + 1);
  return html`<label><span>Body, as JSON</span><textarea name="body" data-in="body" rows="${rows}" spellcheck="false">${text}</textarea></label>`;
}

/** Empty for operations that no form can show, such as those that open a socket. */
export function tryForm(entry: Entry, schemas: Schemas): Html {
  if (!isJson(entry)) return html``;
  const { method, path, operation } = entry;
  const parameters = (operation.parameters ?? []).filter(({ name }) => name !== ACCOUNT);
  const schemes = (operation.security ?? []).flatMap((requirement) => Object.keys(requirement));
  return html`<details class="try" hidden data-method="${method.toUpperCase()}" data-path="${path}" data-credentials="${schemes.join(" ")}">
    <summary>Try it</summary>
    <form autocomplete="off">
      <div class="credential"></div>
      ${parameters.map(parameterField)}
      ${bodyFields(operation, schemas)}
      <p><button type="submit">Send ${method.toUpperCase()}</button></p>
    </form>
    <div class="answer" aria-live="polite"></div>
  </details>`;
}
