/** Reads the shared types of a Yjs document. Loaded on demand, because it contains Yjs. */
import * as Y from "yjs";
import type { DocumentRoot } from "./document.ts";

/** Deeper content is left out: anyone may nest as deep as they like. */
const MAX_DEPTH = 100;
const LEFT_OUT = "…";

interface Stretch {
  readonly insert: unknown;
  readonly attributes?: object;
}

/** The text of XML: a line for each block that has text of its own. */
function blocksOf(nodes: readonly unknown[], depth: number): string[] {
  if (depth > MAX_DEPTH) return [LEFT_OUT];
  const isText = (node: unknown) => node instanceof Y.XmlText;
  if (nodes.some(isText)) return [nodes.map((node) => inlineOf(node, depth + 1)).join("")];
  return nodes.flatMap((node) => {
    if (!(node instanceof Y.XmlElement)) return [];
    const children = node.toArray();
    return children.length === 0 ? [""] : blocksOf(children, depth + 1);
  });
}

/** The text of one line. */
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

/** The shared types in a document that is given as one update, by name; none of one without content. */
export function readUpdate(update: Uint8Array): DocumentRoot[] {
  const doc = new Y.Doc();
  Y.applyUpdate(doc, update);
  const roots = readRoots(doc);
  doc.destroy();
  return roots;
}

/** The shared types that have, or had, content, by name. */
const readRoots = (doc: Y.Doc): DocumentRoot[] =>
  [...doc.share.keys()].sort().flatMap((name) => readRoot(doc, name) ?? []);

function readRoot(doc: Y.Doc, name: string): DocumentRoot | null {
  const kind = kindOf(doc.share.get(name));
  switch (kind) {
    case "text": {
      const type = doc.getText(name);
      return { name, kind, text: type.toString(), json: jsonOf(type, 0) };
    }
    case "xml": {
      const type = doc.getXmlFragment(name);
      return {
        name,
        kind,
        text: type
          .toArray()
          .flatMap((node) => blocksOf([node], 0))
          .join("\n"),
        json: jsonOf(type, 0),
      };
    }
    case "map":
      return { name, kind, text: null, json: jsonOf(doc.getMap(name), 0) };
    case "array":
      return { name, kind, text: null, json: jsonOf(doc.getArray(name), 0) };
    case null:
      return null;
  }
}

/** The kind that the content of a shared type suggests; null when nothing in it tells. */
function kindOf(type: ReturnType<Y.Doc["share"]["get"]>): DocumentRoot["kind"] | null {
  for (let item = type?._start ?? null; item !== null; item = item.right) {
    const { content } = item;
    if (content instanceof Y.ContentString || content instanceof Y.ContentFormat) return "text";
    if (content instanceof Y.ContentEmbed) return "text";
    if (content instanceof Y.ContentType) return isXml(content.type) ? "xml" : "array";
    // A document keeps neither deleted content nor its kind.
    if (!(content instanceof Y.ContentDeleted)) return "array";
  }
  if (type?._map.size) return "map";
  return type?._start ? "text" : null;
}

const isXml = (type: unknown): boolean =>
  type instanceof Y.XmlFragment || type instanceof Y.XmlText || type instanceof Y.XmlHook;

/** A shared type, or a value in one, as JSON. */
function jsonOf(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) return LEFT_OUT;
  const below = (inner: unknown) => jsonOf(inner, depth + 1);
  if (value instanceof Y.XmlElement) {
    const children = value.toArray().map(below);
    return { [value.nodeName]: children, ...withAttributes(value, below) };
  }
  if (value instanceof Y.XmlText) {
    const content = formatted(value, below);
    const attributes = withAttributes(value, below);
    return "attributes" in attributes ? { text: content, ...attributes } : content;
  }
  if (value instanceof Y.Text) return formatted(value, below);
  if (value instanceof Y.XmlFragment || value instanceof Y.Array) return value.toArray().map(below);
  if (value instanceof Y.Map)
    return Object.fromEntries([...value.entries()].map(([key, inner]) => [key, below(inner)]));
  if (value instanceof Y.Doc) return { document: value.guid };
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  return value;
}

function withAttributes(
  type: Y.XmlElement | Y.XmlText,
  below: (value: unknown) => unknown,
): { readonly attributes?: object } {
  const attributes = Object.entries(type.getAttributes());
  if (attributes.length === 0) return {};
  return { attributes: Object.fromEntries(attributes.map(([key, value]) => [key, below(value)])) };
}

/** Text as a string or, when it has formats or embedded objects, as its stretches. */
function formatted(text: Y.Text, below: (value: unknown) => unknown): unknown {
  const stretches: readonly Stretch[] = text.toDelta();
  if (stretches.every(({ insert, attributes }) => typeof insert === "string" && attributes === undefined))
    return stretches.map(({ insert }) => insert).join("");
  return stretches.map(({ insert, attributes }) => ({
    insert: below(insert),
    ...(attributes && { attributes }),
  }));
}
