/** The blocks of text that an editor's document consists of. */
import * as Y from "yjs";

/** What is deeper is left out: anyone may nest as deep as they like. */
export const MAX_DEPTH = 100;
export const LEFT_OUT = "…";

export interface Stretch {
  readonly insert: unknown;
  readonly attributes?: object;
}

/** The text of XML: a line for each block that has text of its own. */
export function blocksOf(nodes: readonly unknown[], depth: number): string[] {
  if (depth > MAX_DEPTH) return [LEFT_OUT];
  const isText = (node: unknown) => node instanceof Y.XmlText;
  if (nodes.some(isText)) return [nodes.map((node) => inlineOf(node, depth + 1)).join("")];
  return nodes.flatMap((node) => {
    if (!(node instanceof Y.XmlElement)) return [];
    const children = node.toArray();
    return children.length === 0 ? [""] : blocksOf(children, depth + 1);
  });
}

/** What stands in one line. */
function inlineOf(node: unknown, depth: number): string {
  if (depth > MAX_DEPTH) return LEFT_OUT;
  if (node instanceof Y.XmlElement)
    return node
      .toArray()
      .map((child) => inlineOf(child, depth + 1))
      .join("");
  if (!(node instanceof Y.Text)) return "";
  const stretches: readonly Stretch[] = node.toDelta();
  return stretches
    .map(({ insert }) => (typeof insert === "string" ? insert : inlineOf(insert, depth + 1)))
    .join("");
}
