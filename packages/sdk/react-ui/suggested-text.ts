/** The texts of a suggested change as its reader sees them. */
import type { SuggestedPart } from "../wire/resources.ts";

interface ShownTexts {
  readonly before: string;
  readonly after: string;
  /** The rest of the lines in which the change begins and ends. */
  readonly context: SuggestedPart["context"];
}

/** The most characters that a context has, one less where it would split a character. */
const CONTEXT_LENGTH = 39;

/** Formats of characters in common editors: all other tags are blocks, each in a line of its own. */
const FORMAT =
  /<\/?(?:b|bold|strong|i|em|italic|u|underline|s|strike|code|link|mark|highlight|sub(?:script)?|sup(?:erscript)?|comment\w*|text(?:style|color)|backgroundcolor)(?:\s[^<>]*)?>/gi;

const withoutTags = (text: string): string => text.replace(FORMAT, "").replace(/(?:<[^<>]*>\s*)+/g, "\n");

/** Neighboring characters with the same format. */
const joined = (text: string): string => text.replace(/<\/(\w+)><\1>/g, "");

function linesAround({ before, after }: SuggestedPart["context"]): SuggestedPart["context"] {
  const first = /[^\n]*\n?$/.exec(before)?.[0] ?? "";
  const last = /^\n?[^\n]*/.exec(after)?.[0] ?? "";
  return {
    before: first === before && before.length >= CONTEXT_LENGTH ? `…${first}` : first,
    after: last === after && after.length >= CONTEXT_LENGTH ? `${last}…` : last,
  };
}

/** XML is shown without its tags, unless only those differ; plain text may have what looks like a tag. */
export function shownTexts(part: SuggestedPart, type: "text" | "xml"): ShownTexts {
  const context = linesAround(part.context);
  const raw = { before: part.before ?? "", after: part.after ?? "", context };
  if (type === "text" || part.kind === "set") return raw;
  const [before, after] = [withoutTags(raw.before), withoutTags(raw.after)];
  if (before.trim() === after.trim())
    return { before: joined(raw.before), after: joined(raw.after), context };
  const startsLine = /^$|\n$/.test(context.before);
  const line = (text: string) => (startsLine ? text.replace(/^\n+/, "") : text).replace(/\n+$/, "");
  return { before: line(before), after: line(after), context };
}
