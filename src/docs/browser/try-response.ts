/** Shows the response to a reader's request. */
import { addCopyButton } from "./copy-buttons.ts";
import { element } from "./element.ts";

/** Of a longer answer, the beginning is shown. */
const MAX_SHOWN = 100_000;

/** JSON with a field per line. */
export function readable(text: string): string {
  let shown = text;
  try {
    shown = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // It is shown as it came.
  }
  return shown.length <= MAX_SHOWN ? shown : `${shown.slice(0, MAX_SHOWN)}\n…`;
}

export function sample(title: string, text: string): HTMLElement {
  const pre = element("pre", element("code", text));
  pre.tabIndex = 0;
  const figure = element("figure", element("figcaption", title), pre);
  addCopyButton(pre);
  return figure;
}

export function outcome(text: string, className: "fine" | "problem"): HTMLElement {
  const paragraph = element("p", text);
  paragraph.className = className;
  return paragraph;
}
