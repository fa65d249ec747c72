/** Documents as editors keep them: a text, Tiptap's paragraphs and lists, BlockNote's containers. */
import * as Y from "yjs";

type Random = (max: number) => number;

const isElement = (type: unknown): type is Y.XmlElement => type instanceof Y.XmlElement;

/** The characters of a text, without formatting. */
export const plain = (text: Y.Text): string =>
  text
    .toDelta()
    .map(({ insert }: { insert: unknown }) => (typeof insert === "string" ? insert : ""))
    .join("");

function element(name: string, ...children: (Y.XmlElement | Y.XmlText)[]): Y.XmlElement {
  const made = new Y.XmlElement(name);
  made.insert(0, children);
  return made;
}

const paragraph = (text: string): Y.XmlElement =>
  text === "" ? element("paragraph") : element("paragraph", new Y.XmlText(text));

/** The elements that may stand in another one: in Tiptap's and in BlockNote's schema. */
const TIPTAP: Readonly<Record<string, readonly string[]>> = {
  "": ["paragraph", "heading", "bulletList"],
  bulletList: ["listItem"],
  listItem: ["paragraph"],
  paragraph: [],
  heading: [],
};
const BLOCKNOTE: Readonly<Record<string, readonly string[]>> = {
  "": ["blockGroup"],
  blockGroup: ["blockContainer"],
  blockContainer: ["paragraph"],
  paragraph: [],
};

/** Throws for what the editor's schema does not allow, which the editor would delete. */
function requireSchema(schema: typeof TIPTAP, type: Y.XmlFragment, name: string): void {
  const [allowed, children] = [schema[name], type.toArray()];
  const isUnit = name === "listItem" || name === "blockContainer";
  if (allowed === undefined || (isUnit && children.length !== 1))
    throw new Error(`<${name}> is not of the editor's form`);
  for (const child of children)
    if (isElement(child) && allowed.includes(child.nodeName)) requireSchema(schema, child, child.nodeName);
    else if (!(child instanceof Y.XmlText) || allowed.length > 0)
      throw new Error(`<${name}> has content that is not of the editor's form`);
}

function textsIn(type: Y.XmlFragment): Y.XmlText[] {
  return type.toArray().flatMap((child) => {
    if (child instanceof Y.XmlText) return [child];
    return isElement(child) ? textsIn(child) : [];
  });
}

const textForm = {
  fill: (doc: Y.Doc, lines: readonly string[]) => doc.getText("default").insert(0, lines.join("\n")),
  texts: (doc: Y.Doc): Y.Text[] => [doc.getText("default")],
  addBlock: (doc: Y.Doc, text: string) => {
    const type = doc.getText("default");
    type.insert(type.length, text);
  },
  dropBlock: (_: Y.Doc, __: Random): string[] => [],
  contentOf: (doc: Y.Doc) => doc.getText("default").toString(),
  requireForm: (_: Y.Doc) => undefined,
};

function xmlForm(
  schema: typeof TIPTAP,
  groupOf: (doc: Y.Doc) => Y.XmlFragment,
  wrap: (block: Y.XmlElement, random: Random) => Y.XmlElement,
) {
  const root = (doc: Y.Doc) => doc.getXmlFragment("default");
  return {
    fill(doc: Y.Doc, lines: readonly string[]) {
      if (schema === BLOCKNOTE) root(doc).insert(0, [new Y.XmlElement("blockGroup")]);
      for (const [index, line] of lines.entries())
        groupOf(doc).insert(index, [wrap(paragraph(index === 1 ? "" : line), () => index)]);
    },
    texts: (doc: Y.Doc): Y.Text[] => textsIn(root(doc)),
    addBlock(doc: Y.Doc, text: string, random: Random) {
      const group = groupOf(doc);
      group.insert(random(group.length + 1), [wrap(paragraph(text), random)]);
    },
    /** Returns the characters that went with it. */
    dropBlock(doc: Y.Doc, random: Random): string[] {
      const group = groupOf(doc);
      if (group.length < 2) return [];
      const at = random(group.length);
      const block = group.get(at);
      const gone = isElement(block) ? textsIn(block).flatMap((text) => [...plain(text)]) : [];
      group.delete(at, 1);
      return gone;
    },
    contentOf: (doc: Y.Doc) => root(doc).toString(),
    requireForm: (doc: Y.Doc) => requireSchema(schema, root(doc), ""),
  };
}

/** How people write in a form, and how it is read. */
export function formOf(form: "text" | "tiptap" | "blocknote") {
  if (form === "text") return textForm;
  if (form === "blocknote")
    return xmlForm(
      BLOCKNOTE,
      (doc) => doc.getXmlFragment("default").get(0) as Y.XmlElement,
      (block) => {
        const container = element("blockContainer", block);
        container.setAttribute("id", "block");
        return container;
      },
    );
  return xmlForm(
    TIPTAP,
    (doc) => doc.getXmlFragment("default"),
    (block, random) => (random(3) === 2 ? element("bulletList", element("listItem", block)) : block),
  );
}
