/** Sends the request that a reader has filled in to this service, and shows the answer. What changes something is confirmed. */
import { element } from "./element.ts";
import { chooseCredential } from "./try-credential.ts";
import {
  buildRequest,
  type Credential,
  describeRequest,
  type Filled,
  type TryRequest,
  Unfinished,
} from "./try-request.ts";
import { outcome, readable, sample } from "./try-response.ts";

export function enableTrying(): void {
  for (const box of document.querySelectorAll<HTMLElement>("details.try")) {
    box.hidden = false;
    // Reading the documentation asks nothing about the reader.
    box.addEventListener("toggle", () => void prepare(box), { once: true });
  }
}

async function prepare(box: HTMLElement): Promise<void> {
  const form = box.querySelector("form");
  const credentialBox = box.querySelector<HTMLElement>(".credential");
  const answer = box.querySelector<HTMLElement>(".answer");
  if (!form || !credentialBox || !answer) return;
  const { method = "", path = "", credentials = "" } = box.dataset;
  const credential = await chooseCredential(credentialBox, credentials.split(" ").filter(Boolean));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const request = readForm(form, method, path, credential, answer);
    if (request === null) return;
    if (method === "GET") void send(request, form, answer);
    else askBefore(request, () => void send(request, form, answer));
  });
}

/** The request; null when the form is unfinished, which the page then says. */
function readForm(
  form: HTMLFormElement,
  method: string,
  path: string,
  credential: () => Credential,
  answer: HTMLElement,
): TryRequest | null {
  try {
    return buildRequest(method, path, fieldsOf(form), credential());
  } catch (error) {
    if (!(error instanceof Unfinished)) throw error;
    answer.replaceChildren(outcome(error.message, "problem"));
    return null;
  }
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

/** Asks before `proceed`; Escape and "Cancel" send nothing. */
function askBefore(request: TryRequest, proceed: () => void): void {
  const title = element("h2", "Send this request?");
  title.id = "try-confirm";
  const [yes, no] = [button(`Send ${request.method}`), button("Cancel")];
  const dialog = element(
    "dialog",
    title,
    element("p", "It changes the data of your organization, as the same request of an application would."),
    sample("Request", describeRequest(request)),
    element("p", yes, " ", no),
  );
  dialog.setAttribute("aria-labelledby", title.id);
  yes.addEventListener("click", () => {
    dialog.close();
    proceed();
  });
  no.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.appendChild(dialog);
  dialog.showModal();
  no.focus();
}

async function send(request: TryRequest, form: HTMLFormElement, answer: HTMLElement): Promise<void> {
  const submit = form.querySelector<HTMLButtonElement>("button[type=submit]");
  if (submit) submit.disabled = true;
  const shown = sample("Request", describeRequest(request));
  try {
    const { method, path, headers, body } = request;
    const startedAt = performance.now();
    // A relative address, so that nothing is sent to anyone but this service; nor does it follow a redirect elsewhere.
    const response = await fetch(path, { method, headers, body, redirect: "error", cache: "no-store" });
    const text = await response.text();
    const ms = Math.round(performance.now() - startedAt);
    const status = `Status ${response.status} after ${ms} ms`;
    answer.replaceChildren(
      outcome(status, response.ok ? "fine" : "problem"),
      shown,
      sample("Response", readable(text)),
    );
  } catch {
    answer.replaceChildren(
      outcome("The service cannot be reached. Check the connection and try again.", "problem"),
      shown,
    );
  } finally {
    if (submit) submit.disabled = false;
  }
}

function button(text: string): HTMLButtonElement {
  const made = element("button", text);
  made.type = "button";
  return made;
}
