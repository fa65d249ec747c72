/** The texts of a suggested change as its reader sees them. */
import type { SuggestedPart } from "../wire/resources.ts";

interface ShownTexts {
  readonly before: string;
  readonly after: string;
}

/** Formats of characters in common editors: all other tags are blocks, each in a line of its own. */
const FORMAT =
  /<\/?(?:b|bold|strong|i|em|italic|u|underline|s|strike|code|link|mark|highlight|sub(?:script)?|sup(?:erscript)?|comment\w*|text(?:style|color)|backgroundcolor)(?:\s[^<>]*)?>/gi;

const withoutTags = (text: string): string => text.replace(FORMAT, "").replace(/(?:<[^<>]*>\s*)+/g, "\n");

/** XML is shown without its tags, unless only those differ; plain text may have what looks like a tag. */
export function shownTexts(part: SuggestedPart, type: "text" | "xml"): ShownTexts {
  const { kind, context } = part;
  const raw = { before: part.before ?? "", after: part.after ?? "" };
  if (type === "text" || kind === "set") return raw;
  const [before, after] = [withoutTags(raw.before), withoutTags(raw.after)];
  if (before.trim() === after.trim()) return raw;
  const line = (text: string) =>
    (/^$|\n$/.test(context.before) ? text.replace(/^\n+/, "") : text).replace(/\n+$/, "");
  return { before: line(before), after: line(after) };
}
