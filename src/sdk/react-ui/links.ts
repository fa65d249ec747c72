/** Links in a text, by the rules of autolinks of GitHub Flavored Markdown, which end at the punctuation of Chinese and Japanese too. */
import { WORD_START } from "./mentions.ts";

/** Punctuation that stands in no address: of Chinese and Japanese, and of full and half width. */
const WIDE = String.raw`\u3001\u3002\u3008-\u301f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65`;
const IN_URL = String.raw`[^\s<>"${WIDE}]`;
const SCHEME = "[Hh][Tt]{2}[Pp][Ss]?:\\/\\/";
const HOST = String.raw`(?:${SCHEME}(?:[\p{L}\p{N}]|\[[\da-fA-F:.]+\])|[Ww]{3}\.[\p{L}\p{N}])`;

/** Matches a link, with the punctuation behind it. */
export const LINK_PATTERN = `${WORD_START}${HOST}${IN_URL}*`;

const TRAIL = "?!.,:*_~'`…’‘“”«»・";

const countOf = (text: string, char: string): number => text.split(char).length - 1;

/** The link without the punctuation behind it. A closing bracket is part of it if the opening one is. */
export function withoutTrail(found: string): string {
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

export const addressOf = (link: string): string => (/^www/i.test(link) ? `http://${link}` : link);
