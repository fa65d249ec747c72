/** Links in a text, by the rules of autolinks of GitHub Flavored Markdown, which end at the punctuation of Chinese and Japanese too. */
import { WORD_START } from "./words.ts";

/** Punctuation that no address contains: of Chinese and Japanese, and of full and half width. */
const WIDE = String.raw`\u3001\u3002\u3008-\u301f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65`;
const IN_URL = String.raw`[^\s<>"${WIDE}]`;
const SCHEME = "[Hh][Tt]{2}[Pp][Ss]?:\\/\\/";
const HOST = String.raw`(?:${SCHEME}(?:[\p{L}\p{N}]|\[[\da-fA-F:.]+\])|[Ww]{3}\.[\p{L}\p{N}])`;

/** Matches a link, with the punctuation behind it. */
export const LINK_PATTERN = `${WORD_START}${HOST}${IN_URL}*`;

const TRAIL = "?!.,:*_~'`…’‘“”«»・";

const countOf = (text: string, char: string): number => text.split(char).length - 1;

/** The link without the punctuation behind it. A closing bracket is part of it if the opening one is. */
function withoutTrail(found: string): string {
  const unclosed: Record<string, number> = {
    ")": countOf(found, "(") - countOf(found, ")"),
    "]": countOf(found, "[") - countOf(found, "]"),
  };
  for (let end = found.length; ; ) {
    const last = found.charAt(end - 1);
    const opened = unclosed[last] ?? 0;
    if (last === ";") end = /&[a-z\d]+;$/i.exec(found.slice(0, end))?.index ?? end - 1;
    else if (TRAIL.includes(last) || opened < 0) end -= 1;
    else return found.slice(0, end);
    unclosed[last] = opened + 1;
  }
}

export interface TextPart {
  readonly type: "text";
  readonly text: string;
}

export interface LinkPart {
  readonly type: "link";
  readonly text: string;
  readonly url: string;
}

/** The link that a text which matches begins with. */
export function linkOf(found: string): LinkPart {
  const text = withoutTrail(found);
  return { type: "link", text, url: /^www/i.test(text) ? `http://${text}` : text };
}

/** Splits a text into the parts that `read` makes of matches, each with its length, and the text between them. */
export function split<Part>(
  text: string,
  pattern: RegExp,
  read: (match: RegExpExecArray) => { readonly part: Part; readonly length: number } | null,
): (Part | TextPart)[] {
  const parts: (Part | TextPart)[] = [];
  let end = 0;
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const { index } = match;
    const found = read(match);
    pattern.lastIndex = index + (found?.length ?? 1);
    if (found === null) continue;
    if (index > end) parts.push({ type: "text", text: text.slice(end, index) });
    parts.push(found.part);
    end = pattern.lastIndex;
  }
  if (end < text.length) parts.push({ type: "text", text: text.slice(end) });
  return parts;
}

/** Splits a text into its links and the text between them. */
export const linksOf = (text: string): (LinkPart | TextPart)[] =>
  split(text, new RegExp(LINK_PATTERN, "gu"), ([found]) => {
    const part = linkOf(found);
    return { part, length: part.text.length };
  });
