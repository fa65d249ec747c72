/** Markdown as the documentation's pages show it: headings with ids, samples as figures, links within the service. */
import { marked, type Token, type Tokens } from "marked";
import { highlighted, type Language } from "./browser/highlighted.ts";

/** The title of a sample in a language, and the language's name where samples are colored. */
const LANGUAGES: Readonly<Record<string, readonly [title: string, colored?: Language]>> = {
  sh: ["Shell", "bash"],
  ts: ["TypeScript", "typescript"],
  tsx: ["React", "typescript"],
  js: ["JavaScript", "typescript"],
  json: ["JSON", "json"],
  html: ["HTML", "xml"],
  css: ["CSS", "css"],
  text: ["Text"],
};

/** The local service in links becomes the service that serves the page. */
const LOCAL = "http://localhost:8787";

interface Heading {
  readonly depth: number;
  readonly title: string;
  readonly id: string;
  /** The section as plain text, for the search. */
  readonly text: string;
  /** Error codes and settings that a table of the section explains. */
  readonly codes: readonly { readonly code: string; readonly meaning: string }[];
}

export interface RenderedPage {
  readonly title: string;
  readonly headings: readonly Heading[];
  readonly html: string;
}

/** A paragraph of nothing but links, and of the choice that holds in bold: `**React** · [Plain JavaScript](…)`. */
const CHOICES = /<p>((?:<(strong|a)\b[^>]*>[^<]*<\/\2>(?: · (?=<))?){2,})<\/p>/g;

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
    .replaceAll(/<!--.*?-->|```.*$/gm, "")
    .replaceAll(/[`*]/g, "")
    .replaceAll(/\||---+:?/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();

const isOf = <Type extends Token["type"]>(
  token: Token,
  type: Type,
): token is Extract<Token, { type: Type }> => token.type === type;

/** Replaces the targets of a text's links outside of its samples; null keeps one. */
export const withLinks = (text: string, addressOf: (target: string) => string | null): string =>
  text
    .split(/^(```[\s\S]*?^```$)/m)
    .map((part, index) =>
      index % 2 === 1
        ? part
        : part.replaceAll(/\]\(([^)\s]+)\)/g, (link, target: string) => {
            const address = /^(https?:|#)/.test(target) ? null : addressOf(target);
            return address === null ? link : `](${address})`;
          }),
    )
    .join("");

/** Renders a document. `addressOf` gives a link's address on the service; null makes it plain text. */
export function renderMarkdown(text: string, addressOf: (target: string) => string | null): RenderedPage {
  const tokens = marked.lexer(text);
  const headings = readHeadings(tokens);
  void marked.walkTokens(tokens, (token) => {
    if (isOf(token, "link") || isOf(token, "image")) rewriteLink(token, addressOf);
    else if (isOf(token, "heading")) become(token, headingHtml(token as Tokens.Heading));
    else if (isOf(token, "code") && !tokens.includes(token)) become(token, figure(token as Tokens.Code)); // in a list
  });
  const html = marked
    .parser(Object.assign(groupSamples(tokens), { links: tokens.links }))
    .replaceAll("<th", '<th scope="col"')
    .replaceAll('<th scope="col"ead', "<thead")
    .replaceAll("<table>", '<div class="scroll" role="group" aria-label="Table" tabindex="0"><table>')
    .replaceAll("</table>", "</table></div>")
    .replaceAll(CHOICES, (_, choices: string) => `<p class="choices">${choices.replaceAll(" · ", " ")}</p>`);
  return { title: headings[0]?.title ?? "", headings, html };
}

function readHeadings(tokens: readonly Token[]): Heading[] {
  return tokens.flatMap((token, index) => {
    if (!isOf(token, "heading")) return [];
    const behind = tokens.slice(index + 1);
    const end = behind.findIndex((one) => isOf(one, "heading"));
    const section = end < 0 ? behind : behind.slice(0, end);
    const text = plain(section.map(({ raw }) => raw).join(" "));
    const codes = section.flatMap(codesIn);
    return [{ depth: token.depth, title: plain(token.text), id: headingId(token.text), text, codes }];
  });
}

/** The rows of a table that begin with a name in capitals. */
function codesIn(token: Token): Heading["codes"][number][] {
  if (!isOf(token, "table")) return [];
  return (token as Tokens.Table).rows.flatMap((cells) => {
    const [, code] = /^`([A-Z]+(?:_[A-Z]+)*)`$/.exec(cells[0]?.text ?? "") ?? [];
    return code === undefined ? [] : [{ code, meaning: plain(cells.at(-1)?.text ?? "") }];
  });
}

/** Puts finished markup in the token's place. */
const become = (token: Token, html: string): void => {
  Object.assign(token, { type: "html", text: html, raw: html, pre: false, block: true });
};

/** Headings below the title are links to themselves, unless they contain links. */
function headingHtml({ depth, text, tokens }: Tokens.Heading): string {
  const id = headingId(text);
  const title = marked.Parser.parseInline(tokens);
  const isLink = depth > 1 && !tokens.some((token) => isOf(token, "link"));
  const content = isLink ? `<a class="anchor" href="#${id}">${title}</a>` : title;
  return `<h${depth} id="${id}">${content}</h${depth}>\n`;
}

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

/** The language of a sample, and the name of the file if it is a whole one: both stand behind its fence. */
const infoOf = ({ lang = "text" }: Tokens.Code): readonly string[] => lang.split(" ");

function figure(code: Tokens.Code): string {
  const { text } = code;
  const [lang = "text", file] = infoOf(code);
  const [title, colored] = LANGUAGES[lang] ?? [lang];
  const name = file ?? (lang === "sh" && /\bcurl /.test(text) ? "curl" : title);
  const content = colored === undefined ? escapeHtml(text) : highlighted(text, colored);
  return `<figure><figcaption>${name}</figcaption><pre tabindex="0"><code>${content}</code></pre></figure>\n`;
}

const isFile = (code: Tokens.Code): boolean => infoOf(code).length > 1;

/** Samples in several languages that follow each other become one group, and so do files; comments go. */
function groupSamples(tokens: readonly Token[]): Token[] {
  const result: Token[] = [];
  let group: Tokens.Code[] = [];
  const end = () => {
    const figures = group.map(figure).join("");
    const kind = group.every(isFile) ? "files" : "languages";
    const html = group.length > 1 ? `<div class="${kind}">${figures}</div>\n` : figures;
    if (group.length > 0) result.push({ type: "html", raw: html, text: html, pre: false, block: true });
    group = [];
  };
  for (const token of tokens) {
    const isComment = isOf(token, "html") && token.raw.startsWith("<!--");
    if (isComment || isOf(token, "space")) continue;
    if (isOf(token, "code")) {
      const code = token as Tokens.Code;
      if (group.some((one) => one.lang === code.lang || isFile(one) !== isFile(code))) end();
      group.push(code);
    } else {
      end();
      result.push(token);
    }
  }
  end();
  return result;
}
