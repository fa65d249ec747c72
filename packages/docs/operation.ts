/** The page of one operation: purpose, parameters, body, responses, errors, sample calls, and a form to try it. */
import * as api from "@atrium/contract/openapi/described.ts";
import { exampleOf } from "./examples.ts";
import { type Field, fieldOfParameter, fieldsOf, fieldTable, typeOf } from "./fields.ts";
import {
  credentialAddress,
  ERRORS_ADDRESS,
  type Html,
  html,
  inline,
  jsonSample,
  markup,
  paragraphs,
  prose,
  sample,
  scrollBox,
} from "./page.ts";
import { RIGHTS_ADDRESS, rightOf } from "./rights.ts";
import { samplesOf } from "./samples.ts";

/** The method as a small colored label; the color only repeats the word. */
export const badge = (method: string): Html =>
  html`<span class="method ${method}">${method.toUpperCase()}</span>`;

/** A path that may break before each slash, with its parameters marked. */
const breakable = (path: string): Html[] =>
  path
    .split(/(?=\/)/)
    .map((part) => (part.startsWith("/{") ? html`<wbr>/<var>${part.slice(1)}</var>` : html`<wbr>${part}`));

function callers(operation: api.Operation): Html {
  const schemes = (operation.security ?? []).flatMap((requirement) => Object.keys(requirement));
  if (schemes.length === 0) return html`<p class="soft">Public: needs no credential.</p>`;
  const links = schemes.map(
    (name, index) => html`${index === 0 ? "" : " or "}<a href="${credentialAddress(name)}">${name}</a>`,
  );
  return html`<p class="soft">Credential: ${links} · <a href="${RIGHTS_ADDRESS}">Right</a>: <code>${rightOf(operation)}</code></p>`;
}

function parameters(operation: api.Operation): Html {
  const fields = (operation.parameters ?? []).map(fieldOfParameter);
  return fields.length === 0
    ? html``
    : html`<h2>Parameters</h2>${fieldTable(`Parameters of ${operation.summary}`, fields)}`;
}

function body(operation: api.Operation, schemas: api.Schemas): Html {
  const form = api.formOf(operation);
  const schema = form ?? api.jsonOf(operation.requestBody);
  if (schema === undefined) return html``;
  return html`<h2>${form === undefined ? "Body" : "Form"}</h2><p>${typeOf(schema)}</p>
    ${fieldTable(`Body of ${operation.summary}`, fieldsOf(schema, schemas))}`;
}

/** The fields inside `data`: the introduction explains the envelope around it once. */
function payloadOf(answer: api.Answer, schemas: api.Schemas): Field[] {
  const fields = fieldsOf(api.jsonOf(answer) ?? {}, schemas);
  const payload = fields.filter((field) => field.name.startsWith("data."));
  return payload.length > 0 ? payload : fields.filter((field) => field.name === "data");
}

function success(status: string, answer: api.Answer, operation: api.Operation, schemas: api.Schemas): Html {
  const fields = api.jsonOf(answer) === undefined ? [] : payloadOf(answer, schemas);
  return html`<h2>Response <span class="status">${status}</span></h2>${prose(answer.description)}
    ${fields.length === 0 ? "" : fieldTable(`Response ${status} of ${operation.summary}`, fields, true)}`;
}

/** One row per paragraph of an error's description: the code and its cause, then the remedy on a line of its own. */
function errorRow(status: string, paragraph: string): Html {
  const [, name = "", cause = paragraph, remedy = ""] = /^`([A-Z_]+)`: (.*)\n(.*)$/.exec(paragraph) ?? [];
  return html`<tr><th scope="row"><span class="status">${status}</span></th><td><code>${name}</code></td><td>${inline(cause)}</td><td>${inline(remedy)}</td></tr>`;
}

/** An error that one or more operations answer with. */
interface Failure {
  readonly status: string;
  readonly paragraph: string;
}

const failuresOf = (operation: api.Operation): Failure[] =>
  Object.entries(operation.responses)
    .filter(([status]) => !api.isSuccess(status))
    .flatMap(([status, answer]) =>
      paragraphs(answer.description).map((paragraph) => ({ status, paragraph })),
    );

/** An error with the same words in this share of all operations is explained once for all of them. */
const COMMON_SHARE = 1 / 8;

/** The errors that many operations share, by their statuses. */
export function commonFailures(entries: readonly api.Entry[]): Failure[] {
  const all = entries.flatMap(({ operation }) => failuresOf(operation));
  const same = [...Map.groupBy(all, ({ status, paragraph }) => `${status} ${paragraph}`).values()];
  return same
    .filter(({ length }) => length > 1 && length >= entries.length * COMMON_SHARE)
    .flatMap(([first]) => first ?? [])
    .sort((a, b) => a.status.localeCompare(b.status));
}

export const failureTable = (label: string, failures: readonly Failure[]): Html =>
  scrollBox(
    label,
    html`<table class="records errors">
      <thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Cause</th><th scope="col">What to do</th></tr></thead>
      <tbody>${failures.map(({ status, paragraph }) => errorRow(status, paragraph))}</tbody>
    </table>`,
  );

/** The operation's own errors, and a link to those that it shares with others. */
function errors(operation: api.Operation, common: readonly Failure[]): Html {
  const isCommon = (failure: Failure) =>
    common.some(({ status, paragraph }) => status === failure.status && paragraph === failure.paragraph);
  const [shared = [], own = []] = [true, false].map((wanted) =>
    failuresOf(operation).filter((failure) => isCommon(failure) === wanted),
  );
  const codes = [...new Set(shared.map(({ paragraph }) => /^`([A-Z_]+)`/.exec(paragraph)?.[1] ?? ""))];
  const links = codes.map((code, index) => html`${index === 0 ? "" : ", "}<code>${code}</code>`);
  return html`<h2>Errors</h2>
    ${own.length === 0 ? "" : failureTable(`Errors of ${operation.summary}`, own)}
    ${codes.length === 0 ? "" : html`<p class="soft">${own.length === 0 ? "Only those" : "Also those"} that <a href="${ERRORS_ADDRESS}">many operations share</a>: ${links}</p>`}`;
}

/** A sentence for operations without a call of the SDK; undefined for the others. */
export function insteadOfSdk(operation: api.Operation): string | undefined {
  if (operation["x-sdk"] !== undefined) return undefined;
  const isOfIdentities = operation.security?.every((requirement) => "userToken" in requirement) ?? false;
  const ofIdentities = isOfIdentities ? "A page sends it by `fetch`, with its identity's token." : undefined;
  return operation["x-instead-of-sdk"] ?? ofIdentities;
}

/** The calls in each language, as tabs where there are several. */
function calls(entry: api.Entry, schemas: api.Schemas): Html {
  const instead = insteadOfSdk(entry.operation);
  const samples = samplesOf(entry, schemas).map(({ title, language, text }) => sample(title, language, text));
  return html`${samples.length > 1 ? html`<div class="languages">${samples}</div>` : samples}
    ${instead === undefined ? "" : html`<p class="soft">${inline(instead)}</p>`}`;
}

export function operationPage(entry: api.Entry, schemas: api.Schemas, common: readonly Failure[]): Html {
  const { method, path, operation } = entry;
  const successes = Object.entries(operation.responses).filter(([status]) => api.isSuccess(status));
  const requestBody = api.jsonOf(operation.requestBody);
  return html`<h1>${inline(operation.summary)}</h1>
    <p class="address">${badge(method)} <code>${breakable(path)}</code></p>
    <div class="columns">
      <div class="facts">
        ${prose(operation.description)}
        ${callers(operation)}
        ${parameters(operation)}
        ${body(operation, schemas)}
        ${successes.map(([status, answer]) => success(status, answer, operation, schemas))}
        ${errors(operation, common)}
      </div>
      <div class="samples">
        ${calls(entry, schemas)}
        ${tryForm(entry, schemas)}
        ${requestBody === undefined ? "" : jsonSample("Body", exampleOf(requestBody, schemas))}
        ${successes.map(([status, answer]) => {
          const schema = api.jsonOf(answer);
          return schema === undefined ? "" : jsonSample(`Response ${status}`, exampleOf(schema, schemas));
        })}
      </div>
    </div>`;
}

/** Part of the credential, not of the parameters: a session says which organization it is. */
const ACCOUNT = "accountId";

function control(name: string, place: string, schema: api.Schema, isRequired: boolean): Html {
  const choices = schema.enum ?? (schema.type === "boolean" ? [true, false] : undefined);
  const attributes = html`name="${name}" data-in="${place}"${markup(isRequired ? " required" : "")}`;
  if (schema.contentMediaType !== undefined) return html`<input type="file" ${attributes}>`;
  return choices === undefined
    ? html`<input type="text" ${attributes} autocomplete="off" spellcheck="false">`
    : html`<select ${attributes}>${isRequired ? "" : html`<option value=""></option>`}${choices.map(
        (choice) => html`<option>${choice}</option>`,
      )}</select>`;
}

const field = (name: string, place: string, schema: api.Schema, isRequired: boolean): Html =>
  html`<label><span><code>${name}</code> ${isRequired ? html`<em>required</em>` : ""}</span>${control(name, place, schema, isRequired)}</label>`;

function bodyFields(operation: api.Operation, schemas: api.Schemas): Html {
  const form = api.formOf(operation);
  if (form !== undefined) {
    const { properties = {}, required = [] } = api.resolve(schemas, form);
    return html`${Object.entries(properties).map(([name, schema]) =>
      field(name, "form", schema, required.includes(name)),
    )}`;
  }
  const body = api.jsonOf(operation.requestBody);
  if (body === undefined) return html``;
  const text = JSON.stringify(exampleOf(body, schemas), null, 2);
  const rows = Math.min(16, text.split("\n").length + 1);
  return html`<label><span>Body, as JSON</span><textarea name="body" data-in="body" rows="${rows}" spellcheck="false">${text}</textarea></label>`;
}

/** Empty for operations that no form can show, such as those that open a socket. */
function tryForm(entry: api.Entry, schemas: api.Schemas): Html {
  if (!api.isJson(entry)) return html``;
  const { method, path, operation } = entry;
  const parameters = (operation.parameters ?? []).filter(({ name }) => name !== ACCOUNT);
  const schemes = (operation.security ?? []).flatMap((requirement) => Object.keys(requirement));
  return html`<details class="try" hidden data-method="${method.toUpperCase()}" data-path="${path}" data-credentials="${schemes.join(" ")}">
    <summary>Try it</summary>
    <form autocomplete="off">
      <div class="credential"></div>
      ${parameters.map(({ name, in: place, schema = {}, required = false }) =>
        field(name, place, schema, required),
      )}
      ${bodyFields(operation, schemas)}
      <p><button type="submit" class="button primary">Send ${method.toUpperCase()}</button></p>
    </form>
    <div class="answer" aria-live="polite"></div>
  </details>`;
}
