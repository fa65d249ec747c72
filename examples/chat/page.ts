/** The page around the conversation, and the user of this window. */

/** The answer of the back end. */
interface Visit {
  readonly serverUrl: string;
  readonly token: string;
}

/** Becomes a user of the room. */
export async function enter(): Promise<Visit> {
  const response = await fetch("/token", { method: "POST" });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

/** Shows the state of the connection, or what has failed. */
export function say(text: string): void {
  find("[role=status]").textContent = text;
}

export function find(selector: string): HTMLElement {
  const element = document.querySelector<HTMLElement>(selector);
  if (element === null) throw new Error(`The page has no ${selector}`);
  return element;
}
