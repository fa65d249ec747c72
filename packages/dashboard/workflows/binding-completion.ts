/** Completion and tooltips for the bindings of workflows, with the SDK's own documentation. */
import type { CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { typescriptLanguage } from "@codemirror/lang-javascript";
import type { EditorView, Tooltip } from "@codemirror/view";
import declarations from "atrium/workflow/declarations";

/** A property or a method. */
interface Member {
  readonly name: string;
  /** Source text: a type, or a method's parameters and result. */
  readonly type: string;
  /** Doc comment of the member. */
  readonly about: string;
}

/** The members of each interface of a module, by its name, from the TypeScript source. */
function readDeclarations(source: string): Map<string, readonly Member[]> {
  const found = new Map<string, readonly Member[]>();
  const textOf = ({ from, to }: Range): string => source.slice(from, to);
  typescriptLanguage.parser.parse(source).iterate({
    enter: ({ name, node }) => {
      if (name !== "InterfaceDeclaration") return;
      const title = node.getChild("TypeDefinition");
      const body = node.getChild("ObjectType");
      if (title === null || body === null) return;
      found.set(textOf(title), readMembers(body, textOf));
    },
  });
  return found;
}

interface Range {
  readonly from: number;
  readonly to: number;
}

interface Node extends Range {
  readonly name: string;
  readonly firstChild: Node | null;
  readonly nextSibling: Node | null;
  getChild(type: string): Node | null;
}

function readMembers(body: Node, textOf: (range: Range) => string): Member[] {
  const members: Member[] = [];
  let about = "";
  for (let node = body.firstChild; node !== null; node = node.nextSibling) {
    if (node.name === "BlockComment") about = readComment(textOf(node));
    const name = node.getChild("PropertyDefinition");
    if (name === null) continue;
    const type = textOf({ from: name.to, to: node.to })
      .replace(/^\??:\s*/, "")
      .replaceAll(/\s+/g, " ");
    members.push({ name: textOf(name), type, about });
    about = "";
  }
  return members;
}

const readComment = (comment: string): string =>
  comment
    .replaceAll(/^\/\*\*|\*\/$|^\s*\* ?/gm, "")
    .replaceAll(/\s+/g, " ")
    .trim();

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
