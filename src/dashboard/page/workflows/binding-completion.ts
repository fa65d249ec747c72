/** Says what the bindings offer, while one types and where one points. */
import type { CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import type { EditorView, Tooltip } from "@codemirror/view";
import { BINDINGS, type Binding, findBinding, OBJECTS } from "./bindings.ts";

/** The members of a binding after its dot; the bindings themselves within a word. */
export function completeBindings(context: CompletionContext): CompletionResult | null {
  const member = context.matchBefore(/\b(store|room|files|event)\.\w*/);
  if (member !== null) {
    const [object = ""] = member.text.split(".");
    return { from: member.from + object.length + 1, options: (BINDINGS[object] ?? []).map(optionOf) };
  }
  const word = context.matchBefore(/\w+/);
  if (word === null && !context.explicit) return null;
  return { from: word?.from ?? context.pos, options: OBJECTS.map(optionOf) };
}

const optionOf = ({ name, type, about }: Binding) => ({
  label: name,
  type: type.startsWith("(") ? "method" : "property",
  detail: type,
  info: about,
});

/** What is pointed at, if it is a binding or a member of one. */
export function explainBinding(view: EditorView, position: number): Tooltip | null {
  const { from: start, text } = view.state.doc.lineAt(position);
  for (const found of text.matchAll(/\b(?:(store|room|files|event)\.)?(\w+)/g)) {
    const [whole, object, name = ""] = found;
    const end = start + found.index + whole.length;
    const from = end - name.length;
    const binding = position >= from && position <= end ? findBinding(object, name) : undefined;
    if (binding !== undefined) return { pos: from, end, above: true, create: () => ({ dom: draw(binding) }) };
  }
  return null;
}

function draw({ name, type, about }: Binding): HTMLElement {
  const dom = document.createElement("div");
  dom.className = "cm-binding";
  const code = document.createElement("code");
  code.textContent = `${name}${type.startsWith("(") ? "" : ": "}${type}`;
  dom.appendChild(code);
  dom.appendChild(document.createTextNode(about));
  return dom;
}
