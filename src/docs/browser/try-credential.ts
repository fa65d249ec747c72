/** Which credential a tried request has: the dashboard's session, an API key or a user's token. */
import { element } from "./element.ts";
import { type Credential, keyBearer, Unfinished } from "./try-request.ts";

interface Session {
  readonly person: { readonly name: string };
  readonly organizations: readonly { readonly id: string; readonly name: string }[];
}

/** What can be chosen: an organization of the session by its ID, or a credential to type. */
const API_KEY = "key";
const USER_TOKEN = "token";

/** The signed-in person; null when no one is. */
async function findSession(): Promise<Session | null> {
  const response = await fetch("/dashboard/api/session");
  const { data }: { data: { me?: Session | null } } = await response.json();
  return data.me ?? null;
}

/** Fills the part of the form that chooses the credential. Returns what reads the choice; {@link Unfinished} if it is incomplete. */
export async function chooseCredential(
  box: HTMLElement,
  schemes: readonly string[],
): Promise<() => Credential> {
  const session = schemes.includes("session") ? await findSession().catch(() => null) : null;
  const select = document.createElement("select");
  for (const { id, name } of session?.organizations ?? [])
    select.appendChild(new Option(`${name}, as ${session?.person.name}`, id));
  if (schemes.includes("apiKey")) select.appendChild(new Option("An API key", API_KEY));
  if (schemes.includes("userToken")) select.appendChild(new Option("A user's token", USER_TOKEN));
  const account = textInput("text");
  const secret = textInput("password");
  const accountField = labelled("Account ID", account);
  const secretField = labelled("API key", secret);
  const update = () => {
    const isTyped = select.value === API_KEY || select.value === USER_TOKEN || schemes.length === 0;
    accountField.hidden = !isTyped;
    secretField.hidden = !isTyped || schemes.length === 0;
    const [caption] = secretField.children;
    if (caption) caption.textContent = select.value === USER_TOKEN ? "Token" : "API key";
  };
  select.addEventListener("change", update);
  update();
  box.replaceChildren(
    ...(schemes.length === 0 ? [] : [labelled("Credential", select)]),
    ...(session === null && schemes.includes("session") ? [signInHint()] : []),
    accountField,
    secretField,
  );
  return () => {
    if (accountField.hidden) return { accountId: select.value, bearer: null };
    const accountId = account.value.trim();
    if (accountId === "") throw new Unfinished("The Account ID is missing.");
    if (secretField.hidden) return { accountId, bearer: null };
    const typed = secret.value.trim();
    if (typed === "") throw new Unfinished("The credential is missing.");
    return { accountId, bearer: select.value === USER_TOKEN ? typed : keyBearer(accountId, typed) };
  };
}

function signInHint(): HTMLElement {
  const link = element("a", "Sign in to the dashboard");
  link.href = "/dashboard";
  const hint = element(
    "p",
    link,
    " and open this page again to try it without a key. What you type stays on this page, and is sent to this service only.",
  );
  hint.className = "note";
  return hint;
}

/** Neither the browser nor we keep what is typed. */
function textInput(type: "text" | "password"): HTMLInputElement {
  const input = document.createElement("input");
  input.type = type;
  input.autocomplete = "off";
  input.spellcheck = false;
  return input;
}

const labelled = (text: string, control: Node): HTMLElement =>
  element("label", element("span", text), control);
