/** The page of one operation: what it does, its parameters, body, responses and errors, sample calls, and a form to try it. */
import { credentialAddress } from "./addresses.ts";
import { exampleOf } from "./example.ts";
import { type Field, fieldOfParameter, fieldsOf, fieldTable, scrollBox, typeOf } from "./fields.ts";
import { type Answer, type Entry, formOf, isSuccess, jsonOf, type Operation, type Schemas } from "./model.ts";
import { insteadOfSdk, samplesOf } from "./samples.ts";
import { type Html, html, inline, paragraphs, prose } from "./text.ts";
import { tryForm } from "./try-form.ts";

/** The method as a small colored label; the color only repeats the word. */
export const badge = (method: string): Html =>
  html`<span class="method ${method}">${method.toUpperCase()}</span>`;

/** A path that may break before each slash, with its parameters marked. */
const breakable = (path: string): Html[] =>
  path
    .split(/(?=\/)/)
    .map((part) => (part.startsWith("/{") ? html`<wbr>/<var>${part.slice(1)}</var>` : html`<wbr>${part}`));

export const jsonSample = (title: string, value: unknown): Html =>
  sample(title, JSON.stringify(value, null, 2));

const sample = (title: string, text: string): Html =>
  html`<figure><figcaption>${title}</figcaption><pre tabindex="0"><code>${text}</code></pre></figure>`;

function callers(operation: Operation): Html {
  const schemes = (operation.security ?? []).flatMap((requirement) => Object.keys(requirement));
  if (schemes.length === 0) return html`<p class="callers">Public: needs no credential.</p>`;
  const links = schemes.map(
    (name, index) => html`${index === 0 ? "" : " or "}<a href="${credentialAddress(name)}">${name}</a>`,
  );
  return html`<p class="callers">Credential: ${links}</p>`;
}

function parameters(operation: Operation): Html {
  const fields = (operation.parameters ?? []).map(fieldOfParameter);
  return fields.length === 0
    ? html``
    : html`<h2>Parameters</h2>${fieldTable(`Parameters of ${operation.summary}`, fields)}`;
}

function body(operation: Operation, schemas: Schemas): Html {
  const form = formOf(operation);
  const schema = form ?? jsonOf(operation.requestBody);
  if (schema === undefined) return html``;
  return html`<h2>${form === undefined ? "Body" : "Form"}</h2><p>${typeOf(schema)}</p>
    ${fieldTable(`Body of ${operation.summary}`, fieldsOf(schema, schemas))}`;
}

/** The fields inside `data`: the introduction explains the envelope around it once. */
function payloadOf(answer: Answer, schemas: Schemas): Field[] {
  const fields = fieldsOf(jsonOf(answer) ?? {}, schemas);
  const payload = fields.filter((field) => field.name.startsWith("data."));
  return payload.length > 0 ? payload : fields.filter((field) => field.name === "data");
}

function success(status: string, answer: Answer, operation: Operation, schemas: Schemas): Html {
  const fields = jsonOf(answer) === undefined ? [] : payloadOf(answer, schemas);
  return html`<h2>Response <span class="status">${status}</span></h2>${prose(answer.description)}
    ${fields.length === 0 ? "" : fieldTable(`Response ${status} of ${operation.summary}`, fields, true)}`;
}

/** One row per paragraph of an error's description, which begins with its code. */
function errorRow(status: string, paragraph: string): Html {
  const [, name, meaning] = /^`([A-Z_]+)`: (.*)$/s.exec(paragraph) ?? [undefined, "", paragraph];
  return html`<tr><th scope="row"><span class="status">${status}</span></th><td><code>${name}</code></td><td>${inline(meaning ?? "")}</td></tr>`;
}

function errors(operation: Operation): Html {
  const failures = Object.entries(operation.responses).filter(([status]) => !isSuccess(status));
  const rows = failures.flatMap(([status, answer]) =>
    paragraphs(answer.description).map((paragraph) => errorRow(status, paragraph)),
  );
  return html`<h2>Errors</h2>${scrollBox(
    `Errors of ${operation.summary}`,
    html`<table>
      <thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Meaning</th></tr></thead>
      <tbody>${rows}</tbody>
    </table>`,
  )}`;
}

/** The calls in each language, as tabs where there are several. */
function calls(entry: Entry, schemas: Schemas): Html {
  const instead = insteadOfSdk(entry);
  const samples = samplesOf(entry, schemas).map(({ language, text }) => sample(language, text));
  return html`${samples.length > 1 ? html`<div class="languages">${samples}</div>` : samples}
    ${instead === null ? "" : html`<p class="callers">${inline(instead)}</p>`}`;
}

/** The content of an operation's page. */
export function operationPage(entry: Entry, schemas: Schemas): Html {
  const { method, path, operation } = entry;
  const successes = Object.entries(operation.responses).filter(([status]) => isSuccess(status));
  const requestBody = jsonOf(operation.requestBody);
  return html`<main id="content">
    <h1>${inline(operation.summary)}</h1>
    <p class="address">${badge(method)} <code>${breakable(path)}</code></p>
    <div class="columns">
      <div class="facts">
        ${prose(operation.description)}
        ${callers(operation)}
        ${parameters(operation)}
        ${body(operation, schemas)}
        ${successes.map(([status, answer]) => success(status, answer, operation, schemas))}
        ${errors(operation)}
      </div>
      <div class="samples">
        ${calls(entry, schemas)}
        ${tryForm(entry, schemas)}
        ${requestBody === undefined ? "" : jsonSample("Body", exampleOf(requestBody, schemas))}
        ${successes.map(([status, answer]) => {
          const schema = jsonOf(answer);
          return schema === undefined ? "" : jsonSample(`Response ${status}`, exampleOf(schema, schemas));
        })}
      </div>
    </div>
  </main>`;
}
