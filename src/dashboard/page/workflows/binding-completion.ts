/** Completion and tooltips for the bindings of workflows. */
import type { CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import type { EditorView, Tooltip } from "@codemirror/view";
import declarations from "atrium/workflow/declarations";
import { type Member, readDeclarations } from "./declarations.ts";

/** The bindings of workflows and their members, read from the SDK's declarations. */
const DECLARATIONS = readDeclarations(declarations);

const membersOf = (name: string): readonly Member[] => DECLARATIONS.get(name) ?? [];

/** The members of all events together, because the editor does not know which event it will be. */
const EVENT: readonly Member[] = [
  ...new Map(
    [...DECLARATIONS]
      .filter(([name]) => name.endsWith("Event"))
      .flatMap(([, members]) => members.map((member) => [member.name, member])),
  ).values(),
];

/** The members at a path of names; for an empty path, the bindings themselves. */
function membersAfter(names: readonly string[]): readonly Member[] {
  let members = membersOf("Bindings");
  for (const name of names) {
    const [type = ""] = members.find((member) => member.name === name)?.type.split(/[<\s]/) ?? [];
    members = type === "EventOf" ? EVENT : membersOf(type);
  }
  return members;
}

/** A dotted path of names. */
const PATH = /[\w$]+(?:\.[\w$]*)*/;

export function completeBindings(context: CompletionContext): CompletionResult | null {
  const path = context.matchBefore(PATH);
  if (path === null && !context.explicit) return null;
  const names = path?.text.split(".") ?? [""];
  const prefix = names.pop() ?? "";
  const options = membersAfter(names).map(optionOf);
  return options.length === 0 ? null : { from: context.pos - prefix.length, options };
}

const isMethod = ({ type }: Member): boolean => type.startsWith("(");

const optionOf = (member: Member) => ({
  label: member.name,
  type: isMethod(member) ? "method" : "property",
  detail: member.type,
  info: member.about,
});

/** The tooltip of a binding or of a member of one; null elsewhere. */
export function explainBinding(view: EditorView, position: number): Tooltip | null {
  const { from: start, text } = view.state.doc.lineAt(position);
  for (const { 0: path, index } of text.matchAll(new RegExp(PATH, "g"))) {
    let from = start + index;
    for (const [depth, name] of path.split(".").entries()) {
      const end = from + name.length;
      const names = path.split(".").slice(0, depth);
      const member = membersAfter(names).find((one) => one.name === name);
      if (member && position >= from && position <= end) {
        return { pos: from, end, above: true, create: () => ({ dom: draw(member) }) };
      }
      from = end + 1;
    }
  }
  return null;
}

function draw(member: Member): HTMLElement {
  const dom = document.createElement("div");
  dom.className = "cm-binding";
  const code = document.createElement("code");
  code.textContent = `${member.name}${isMethod(member) ? "" : ": "}${member.type}`;
  dom.appendChild(code);
  dom.appendChild(document.createTextNode(member.about));
  return dom;
}
