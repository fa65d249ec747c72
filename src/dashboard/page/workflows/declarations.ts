/** Parses interfaces from the SDK's TypeScript source, so that the editor shows the SDK's own documentation. */
import { typescriptLanguage } from "@codemirror/lang-javascript";

/** A property or a method. */
export interface Member {
  readonly name: string;
  /** As in the source: a type, or a method's parameters and result. */
  readonly type: string;
  /** Its doc comment. */
  readonly about: string;
}

/** The members of each interface of a module, by its name. */
export function readDeclarations(source: string): Map<string, readonly Member[]> {
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
