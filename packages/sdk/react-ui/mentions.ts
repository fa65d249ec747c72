/** Mentions: users who match a name that is being typed, and the places of mentions in a text. */
import type { User } from "../client/index.ts";
import { LETTER, WORD_START } from "./words.ts";

/** Nor within an address, such as `ada@example.com` and `https://example.com/@ada`. */
const START = `${WORD_START}(?<![_+/@-])`;
const END = String.raw`(?![\p{M}\u200d]|${LETTER})`;
const STARTS = new RegExp(`${START}@$`, "u");
const ENDS = new RegExp(`^${END}`, "u");
/** A name that is being typed has up to three words. */
const TYPED = new RegExp(String.raw`${START}[@＠]([^\s@＠]*(?:[ \u3000][^\s@＠]+){0,2}[ \u3000]?)$`, "u");

const MAX_MATCHES = 8;

export interface TypedMention {
  /** The position of the `@`. */
  readonly start: number;
  readonly name: string;
}

/** The mention that ends at the caret; null without one. */
export function mentionAt(text: string, caret: number): TypedMention | null {
  const name = TYPED.exec(text.slice(0, caret))?.[1];
  return name === undefined ? null : { start: caret - name.length - 1, name };
}

/** Unites composed letters, half and full width, and both cases of ς and Σ, ß and SS. */
const fold = (text: string): string => text.normalize("NFKC").toLowerCase().toUpperCase();

/** Users with a word in their name that begins with the typed text: exact names first, then users online. */
export function matchesOf(users: readonly User[], typed: string): readonly User[] {
  const begun = fold(typed);
  const found = users.filter(({ name }) => ` ${fold(name)}`.includes(` ${begun}`));
  const rank = ({ name, status }: User) => (fold(name) === begun ? 0 : status === "online" ? 1 : 2);
  return found.sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name)).slice(0, MAX_MATCHES);
}

/** A range of a text. */
interface Range {
  readonly start: number;
  readonly end: number;
}

/** A range that names someone: the `@`, and the name. */
interface PlacedMention<Who> extends Range {
  readonly who: Who;
}

/**
 * A text that is being written, with its mentions. The words alone do not identify users: others can have the
 * same name.
 */
export interface Draft<Who = string> {
  readonly text: string;
  readonly mentions: readonly PlacedMention<Who>[];
}

export const EMPTY_DRAFT: Draft = { text: "", mentions: [] };

/** The number of characters that two texts have in common, from the start or (`from` -1) from the end. */
function common(a: string, b: string, from: 0 | -1): number {
  const most = Math.min(a.length, b.length);
  let count = 0;
  while (count < most && a.at(from < 0 ? -1 - count : count) === b.at(from < 0 ? -1 - count : count))
    count += 1;
  return count;
}

/** The range of `before` that an edit has replaced. The caret stands behind the new text. */
function replacedBy(before: string, after: string, caret: number, selected: Range): Range {
  const [head, tail] = [common(before, after, 0), common(before, after, -1)];
  const isOfSelection =
    selected.end > selected.start &&
    head >= selected.start &&
    tail >= before.length - selected.end &&
    after.length >= selected.start + before.length - selected.end;
  if (isOfSelection) return selected;
  const shorter = Math.min(before.length, after.length);
  // The new letter in "aa" can be either one.
  const kept = head + tail <= shorter ? tail : Math.min(tail, Math.max(shorter - head, after.length - caret));
  return { start: Math.min(head, shorter - kept), end: before.length - kept };
}

/** The draft after an edit, which ends the mentions whose words it touches. `selected` is the range that was selected before. */
export function edited<Who>(
  draft: Draft<Who>,
  text: string,
  caret: number,
  selected: Range = { start: 0, end: 0 },
): Draft<Who> {
  const { text: before, mentions } = draft;
  if (text === before) return draft;
  const replaced = replacedBy(before, text, caret, selected);
  const shift = text.length - before.length;
  const moved = mentions.flatMap((mention) => {
    if (mention.end <= replaced.start) return mention;
    if (mention.start < replaced.end) return [];
    return { ...mention, start: mention.start + shift, end: mention.end + shift };
  });
  return { text, mentions: moved };
}

/** Two drafts below each other; the second can be empty. */
export function joined<Who>(first: Draft<Who>, second: Draft<Who>): Draft<Who> {
  if (second.text === "") return first;
  const shift = first.text.length + 1;
  const below = second.mentions.map(({ start, end, who }) => ({
    start: start + shift,
    end: end + shift,
    who,
  }));
  return { text: `${first.text}\n${second.text}`, mentions: [...first.mentions, ...below] };
}

/** The mentioned users, each once, whose names still stand by themselves in the text. */
export const mentionsIn = <Who>({ text, mentions }: Draft<Who>): Who[] => [
  ...new Set(
    mentions
      .filter(({ start, end }) => STARTS.test(text.slice(0, start + 1)) && ENDS.test(text.slice(end)))
      .map(({ who }) => who),
  ),
];

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Matches a mention of these names, the longest one that fits. Undefined without any. */
export function mentionPattern(names: readonly string[]): string | undefined {
  const longestFirst = names.filter((name) => name !== "").sort((a, b) => b.length - a.length);
  return longestFirst.length === 0 ? undefined : `${START}@(?:${longestFirst.map(escaped).join("|")})${END}`;
}

/** A stored text as a draft; the places of its mentions are found by their names. */
export function draftOf<Who>(
  text: string,
  known: readonly { readonly mention: Who; readonly name?: string | undefined }[],
): Draft<Who> {
  const pattern = mentionPattern(known.flatMap(({ name }) => name ?? []));
  if (pattern === undefined) return { text, mentions: [] };
  const mentions = [...text.matchAll(new RegExp(pattern, "gu"))].flatMap(({ 0: found, index: start }) =>
    known
      .filter(({ name }) => `@${name}` === found)
      .map(({ mention: who }) => ({ start, end: start + found.length, who })),
  );
  return { text, mentions };
}
