/** Sends the request that a reader has filled in to this service, and shows the answer. Changes are confirmed first. */
import type { Me } from "@atrium/contract/rest/people.ts";
import { button, element, sample } from "./elements.ts";
import {
  buildRequest,
  type Credential,
  describeRequest,
  type Filled,
  IncompleteFormError,
  keyBearer,
  type TryRequest,
} from "./try-request.ts";

/** The page shows the beginning of a longer answer. */
const MAX_SHOWN = 100_000;

/** Makes the form of an operation send its request. */
export async function enableTrying(box: HTMLElement): Promise<void> {
  const form = box.querySelector("form");
  const credentialBox = box.querySelector<HTMLElement>(".credential");
  const answer = box.querySelector<HTMLElement>(".answer");
  if (!form || !credentialBox || !answer) return;
  const { method = "", path = "", credentials = "" } = box.dataset;
  const readCredential = await showCredentials(credentialBox, credentials.split(" ").filter(Boolean));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    try {
      const request = buildRequest(method, path, fieldsOf(form), readCredential());
      if (method === "GET") void send(request, form, answer);
      else askBefore(request, () => void send(request, form, answer));
    } catch (error) {
      if (!(error instanceof IncompleteFormError)) throw error;
      answer.replaceChildren(outcome(error.message, "problem"));
    }
  });
}

function fieldsOf(form: HTMLFormElement): Filled[] {
  // Selections and text areas have the same fields, but for files.
  const controls = form.querySelectorAll<HTMLInputElement>("[data-in]");
  return [...controls].map((control) => ({
    name: control.name,
    in: control.dataset.in ?? "",
    value: control.files?.[0] ?? control.value,
  }));
}

/** Values of the choice beside the IDs of the session's organizations. */
const API_KEY = "key";
const USER_TOKEN = "token";

async function findSession(): Promise<Me | null> {
  const response = await fetch("/dashboard/api/session");
  const { data }: { data: { me?: Me | null } } = await response.json();
  return data.me ?? null;
}

/** The form works without a session: the error goes to the console. */
function withoutSession(error: unknown): null {
  reportError(error);
  return null;
}

/** Shows the choice of a credential. Returns its reader, which throws {@link IncompleteFormError} for an incomplete choice. */
async function showCredentials(box: HTMLElement, schemes: readonly string[]): Promise<() => Credential> {
  const session = schemes.includes("session") ? await findSession().catch(withoutSession) : null;
  const organizations = session?.organizations ?? [];
  const options = organizations.map(({ id, name }) => new Option(`${name}, as ${session?.person.name}`, id));
  if (schemes.includes("apiKey")) options.push(new Option("An API key", API_KEY));
  if (schemes.includes("userToken")) options.push(new Option("A user's token", USER_TOKEN));
  const select = element("select", ...options);
  const [account, secret] = [textInput("text"), textInput("password")];
  const secretName = element("span");
  const accountField = element("label", element("span", "Account ID"), account);
  const secretField = element("label", secretName, secret);
  const update = () => {
    const isTyped = select.value === API_KEY || select.value === USER_TOKEN || schemes.length === 0;
    accountField.hidden = !isTyped;
    secretField.hidden = !isTyped || schemes.length === 0;
    secretName.textContent = select.value === USER_TOKEN ? "Token" : "API key";
  };
  select.addEventListener("change", update);
  update();
  if (schemes.length > 0) box.appendChild(element("label", element("span", "Credential"), select));
  if (session === null && schemes.includes("session")) box.appendChild(signInHint());
  for (const field of [accountField, secretField]) box.appendChild(field);
  return () => {
    if (accountField.hidden) return { accountId: select.value, bearer: null };
    const accountId = account.value.trim();
    if (accountId === "") throw new IncompleteFormError("The Account ID is missing.");
    if (secretField.hidden) return { accountId, bearer: null };
    const typed = secret.value.trim();
    if (typed === "") throw new IncompleteFormError("The credential is missing.");
    return { accountId, bearer: select.value === USER_TOKEN ? typed : keyBearer(accountId, typed) };
  };
}

function signInHint(): HTMLElement {
  const link = element("a", "Sign in to the dashboard");
  link.href = "/dashboard";
  const more =
    " and open this page again to try it without a key. What you type stays on this page, and is sent to this service only.";
  const hint = element("p", link, more);
  hint.className = "note";
  return hint;
}

/** Neither the browser nor the page stores the text. */
function textInput(type: "text" | "password"): HTMLInputElement {
  const input = element("input");
  input.type = type;
  input.autocomplete = "off";
  input.spellcheck = false;
  return input;
}

/** Asks before `proceed`; Escape and "Cancel" send nothing. */
function askBefore(request: TryRequest, proceed: () => void): void {
  const title = "Send this request?";
  const send = button(`Send ${request.method}`, () => {
    dialog.close();
    proceed();
  });
  const cancel = button("Cancel", () => dialog.close());
  cancel.autofocus = true;
  const dialog = element(
    "dialog",
    element("h2", title),
    element("p", "It changes the data of your organization, as the same request of an application would."),
    sample("Request", describeRequest(request)),
    element("p", send, " ", cancel),
  );
  dialog.className = "confirmation";
  dialog.ariaLabel = title;
  dialog.addEventListener("close", () => dialog.remove());
  document.body.appendChild(dialog);
  dialog.showModal();
}

async function send(request: TryRequest, form: HTMLFormElement, answer: HTMLElement): Promise<void> {
  const submit = form.querySelector<HTMLButtonElement>("button[type=submit]");
  if (submit) submit.disabled = true;
  const shown = sample("Request", describeRequest(request));
  try {
    const { method, path, headers, body } = request;
    const startedAt = performance.now();
    // A relative address without redirects: the request reaches this service only.
    const response = await fetch(path, { method, headers, body, redirect: "error", cache: "no-store" });
    const text = await response.text();
    const ms = Math.round(performance.now() - startedAt);
    const status = outcome(`Status ${response.status} after ${ms} ms`, response.ok ? "fine" : "problem");
    answer.replaceChildren(status, shown, sample("Response", readable(text)));
  } catch (error) {
    reportError(error);
    const problem = "The service cannot be reached. Check the connection and try again.";
    answer.replaceChildren(outcome(problem, "problem"), shown);
  } finally {
    if (submit) submit.disabled = false;
  }
}

/** JSON with a field per line; any other text as it is. */
function readable(text: string): string {
  let shown = text;
  try {
    shown = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // The text is no JSON.
  }
  return shown.length <= MAX_SHOWN ? shown : `${shown.slice(0, MAX_SHOWN)}\n…`;
}

function outcome(text: string, className: "fine" | "problem"): HTMLElement {
  const paragraph = element("p", text);
  paragraph.className = className;
  return paragraph;
}
