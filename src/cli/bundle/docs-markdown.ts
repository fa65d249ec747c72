/** Markdown as the documentation's pages show it: headings with ids, samples as figures, links within the service. */
import { marked, type Token, type Tokens } from "marked";

const LANGUAGES: Readonly<Record<string, string>> = {
  sh: "Shell",
  ts: "TypeScript",
  tsx: "React",
  json: "JSON",
  text: "Text",
};

/** The local service in links becomes the service that serves the page. */
const LOCAL = "http://localhost:8787";

interface Heading {
  readonly depth: number;
  readonly title: string;
  readonly id: string;
  /** The first paragraph below it, as plain text. */
  readonly text: string;
}

export interface RenderedPage {
  readonly title: string;
  readonly headings: readonly Heading[];
  readonly html: string;
}

/** The id of a heading, as GitHub makes it. */
export const headingId = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

const escapeHtml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

const plain = (markdown: string): string =>
  markdown
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/[`*]/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();

const isOf = <Type extends Token["type"]>(
  token: Token,
  type: Type,
): token is Extract<Token, { type: Type }> => token.type === type;

/** Renders a document. `addressOf` gives a link's address on the service; null makes it plain text. */
export function renderMarkdown(text: string, addressOf: (target: string) => string | null): RenderedPage {
  const tokens = marked.lexer(text);
  const headings = readHeadings(tokens);
  void marked.walkTokens(tokens, (token) => {
    if (isOf(token, "link") || isOf(token, "image")) rewriteLink(token, addressOf);
    else if (isOf(token, "heading")) become(token, headingHtml(token as Tokens.Heading));
  });
  const html = marked
    .parser(Object.assign(groupSamples(tokens), { links: tokens.links }))
    .replaceAll("<th", '<th scope="col"')
    .replaceAll('<th scope="col"ead', "<thead")
    .replaceAll("<table>", '<div class="scroll" role="group" aria-label="Table" tabindex="0"><table>')
    .replaceAll("</table>", "</table></div>");
  return { title: headings[0]?.title ?? "", headings, html };
}

function readHeadings(tokens: readonly Token[]): Heading[] {
  return tokens.flatMap((token, index) => {
    if (!isOf(token, "heading")) return [];
    const next = tokens.slice(index + 1).find((one) => isOf(one, "paragraph") || isOf(one, "heading"));
    const title = plain(token.text);
    const body = next !== undefined && isOf(next, "paragraph") ? plain(next.text) : "";
    return [{ depth: token.depth, title, id: headingId(token.text), text: body.slice(0, 160) }];
  });
}

/** Puts finished markup in the token's place. */
const become = (token: Token, html: string): void => {
  Object.assign(token, { type: "html", text: html, raw: html, pre: false, block: true });
};

const headingHtml = ({ depth, text, tokens }: Tokens.Heading): string =>
  `<h${depth} id="${headingId(text)}">${marked.Parser.parseInline(tokens)}</h${depth}>\n`;

function rewriteLink(token: Token, addressOf: (target: string) => string | null): void {
  if (!("href" in token) || typeof token.href !== "string") return;
  const { href } = token;
  if (href.startsWith(LOCAL)) token.href = href.slice(LOCAL.length) || "/";
  else if (!/^(https?:|#)/.test(href)) {
    const address = addressOf(href);
    if (address !== null) token.href = address;
    else if ("text" in token)
      Object.assign(token, { type: "text", raw: token.text, tokens: undefined, escaped: false });
  }
}

const figure = ({ lang = "text", text }: Tokens.Code): string =>
  `<figure><figcaption>${LANGUAGES[lang] ?? lang}</figcaption><pre tabindex="0"><code>${escapeHtml(text)}</code></pre></figure>\n`;

/** Samples in several languages that follow each other become one group; comments go. */
function groupSamples(tokens: readonly Token[]): Token[] {
  const result: Token[] = [];
  let group: Tokens.Code[] = [];
  const end = () => {
    const figures = group.map(figure).join("");
    const html = group.length > 1 ? `<div class="languages">${figures}</div>\n` : figures;
    if (group.length > 0) result.push({ type: "html", raw: html, text: html, pre: false, block: true });
    group = [];
  };
  for (const token of tokens) {
    const isComment = isOf(token, "html") && token.raw.startsWith("<!--");
    if (isComment || isOf(token, "space")) continue;
    if (isOf(token, "code")) {
      const code = token as Tokens.Code;
      if (group.some(({ lang }) => lang === code.lang)) end();
      group.push(code);
    } else {
      end();
      result.push(token);
    }
  }
  end();
  return result;
}
