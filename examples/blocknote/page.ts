/** What surrounds the editor: the user of this window, who else is in the document, and whether all is saved. */
import type { Awareness } from "y-protocols/awareness";

/** What the back end answers. */
interface Visit {
  readonly serverUrl: string;
  /** The address of the room's documents, for the clients that editors bring. */
  readonly documents: string;
  readonly token: string;
  readonly name: string;
}

/** What others see of a user. */
export interface Person {
  readonly name: string;
  readonly color: string;
}

const COLORS = ["#be123c", "#c2410c", "#a16207", "#4d7c0f", "#0f766e", "#0369a1", "#4f46e5", "#a21caf"];

/** Becomes a user of the room. */
export async function enter(): Promise<Visit & { readonly user: Person }> {
  const response = await fetch("/token", { method: "POST" });
  if (!response.ok) throw new Error(await response.text());
  const visit: Visit = await response.json();
  const color = COLORS[Math.floor(Math.random() * COLORS.length)] ?? "#0369a1";
  return { ...visit, user: { name: visit.name, color } };
}

/** Shows who is in the document: a circle for each, the user of this window first. */
export function showPeople(awareness: Awareness): void {
  const show = () => {
    const own = awareness.getLocalState();
    const others = [...awareness.getStates().values()].filter((state) => state !== own);
    find("#people").replaceChildren(...[own, ...others].flatMap(circleOf));
  };
  awareness.on("change", show);
  show();
}

/** Anyone can write anything here. Editors keep the person in `user`, Lexical beside its cursor. */
function circleOf(state: Readonly<Record<string, unknown>> | null): HTMLElement[] {
  const { name, color }: Partial<Record<keyof Person, unknown>> = Object(state?.user ?? state);
  if (typeof name !== "string" || typeof color !== "string") return [];
  const circle = document.createElement("li");
  circle.textContent = name.replace("Guest ", "").slice(0, 3);
  circle.title = name;
  circle.style.background = color;
  return [circle];
}

/** Says how the document is doing. */
export function say(text: string): void {
  find("[role=status]").textContent = text;
}

export const OFFLINE = "Offline: what you write is kept here";

export function find(selector: string): HTMLElement {
  const element = document.querySelector<HTMLElement>(selector);
  if (element === null) throw new Error(`The page has no ${selector}`);
  return element;
}
