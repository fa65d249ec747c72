/** The pages of the schemas of the API: the list of them, and one for each. */
import { SCHEMAS_ADDRESS, schemaAddress } from "./addresses.ts";
import { exampleOf } from "./example.ts";
import { fieldsOf, fieldTable, limitsOf, typeOf } from "./fields.ts";
import { type Described, entriesOf, jsonOf, nameOfRef, type Schemas } from "./model.ts";
import { jsonSample } from "./operation.ts";
import { type Html, html, inline, prose } from "./text.ts";

export const schemaListPage = (schemas: Schemas): Html =>
  html`<main id="content">
    <h1>Schemas</h1>
    <p>What requests and responses consist of. Their fields link here, too.</p>
    <ul class="schemas">${Object.entries(schemas).map(
      ([name, { description }]) =>
        html`<li><a href="${schemaAddress(name)}">${name}</a>${description === undefined ? "" : html` <span class="note">${inline(description)}</span>`}</li>`,
    )}</ul>
  </main>`;

/** Callers send some schemas; all others are those of responses. */
const isSent = (described: Described, name: string): boolean =>
  entriesOf(described).some(({ operation }) => nameOfRef(jsonOf(operation.requestBody)?.$ref ?? "") === name);

/** Null when the document has no schema of this name. */
export function schemaPage(described: Described, name: string): Html | null {
  const schemas = described.components?.schemas ?? {};
  const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined;
  if (schema === undefined) return null;
  const fields = fieldsOf(schema, schemas);
  return html`<main id="content">
    <p class="callers"><a href="${SCHEMAS_ADDRESS}">Schemas</a></p>
    <h1>${name}</h1>
    <div class="columns">
      <div class="facts">
        ${prose(schema.description)}
        <p class="callers">${typeOf(schema)}${limitsOf(schema).map((limit) => html`, ${limit}`)}</p>
        ${fields.length === 0 ? "" : fieldTable(`Fields of ${name}`, fields, !isSent(described, name))}
      </div>
      <div class="samples">${jsonSample("Example", exampleOf(schema, schemas))}</div>
    </div>
  </main>`;
}
