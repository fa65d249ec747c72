/** The body of a comment in BlockNote, a document of blocks, and its plain text for everyone else. */
import { isRecord } from "../core/json.ts";
import { linksOf } from "../react-ui/links.ts";

/** Names of mentioned users, by their IDs. */
type Names = Readonly<Record<string, string>>;

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

const textsOf = (props: unknown): readonly string[] =>
  isRecord(props) ? Object.values(props).filter(isText) : [];

/** The plain text: a line for each block, names behind `@`, and the addresses of links and files. */
export const textOf = (body: unknown, names: Names = {}): string =>
  isText(body) ? body : linesOf(body, names).join("\n").trim();

function linesOf(blocks: unknown, names: Names): readonly string[] {
  return listOf(blocks)
    .filter(isRecord)
    .flatMap(({ content, props, children }) => [
      inlineText(content, names) || fileText(props),
      ...linesOf(children, names),
    ]);
}

function fileText(props: unknown): string {
  if (!isRecord(props)) return "";
  return [props.caption, props.name, props.url].filter(isText).join(" ");
}

function inlineText(content: unknown, names: Names): string {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return content.map((part) => inlineText(part, names)).join("");
  if (!isRecord(content)) return "";
  const { type, text, href, props, rows } = content;
  if (type === "text") return isText(text) ? text : "";
  if (type === "mention") return `@${nameIn(props, names)}`;
  if (rows !== undefined)
    return listOf(rows)
      .map((row) => rowText(row, names))
      .join("\n");
  const inner = inlineText(content.content, names);
  return isText(href) && href !== inner ? `${inner} (${href})` : inner;
}

const rowText = (row: unknown, names: Names): string =>
  isRecord(row)
    ? listOf(row.cells)
        .map((cell) => inlineText(cell, names))
        .join(" | ")
    : "";

function nameIn(props: unknown, names: Names): string {
  const texts = textsOf(props);
  const known = texts.find((text) => Object.hasOwn(names, text));
  return (known === undefined ? texts[0] : names[known]) ?? "";
}

/** The texts in the properties of all mentions: one of each mention may be the ID of a user. */
export function mentionTexts(content: unknown): readonly string[] {
  if (Array.isArray(content)) return content.flatMap(mentionTexts);
  if (!isRecord(content)) return [];
  if (content.type === "mention") return textsOf(content.props);
  return Object.values(content).flatMap(mentionTexts);
}

/** The body that belongs to a text. Another client may have changed the text since, or written it. */
export function bodyOf(
  text: string,
  { body, names }: { readonly body?: unknown; readonly names?: Names | undefined },
): unknown {
  return body !== undefined && textOf(body, names) === text ? body : text.split("\n").map(paragraphOf);
}

function paragraphOf(line: string): object {
  const content = linksOf(line).map((part) =>
    part.type === "link"
      ? { type: "link", href: part.url, content: part.text }
      : { type: "text", text: part.text, styles: {} },
  );
  return { type: "paragraph", content };
}
