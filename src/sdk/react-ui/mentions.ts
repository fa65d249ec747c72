/** The text of a comment: its mentions, which are `@` and the name of a user, its links, and the files at its end. */
import type { User } from "../client/index.ts";

const MAX_MATCHES = 8;
/** A name that is being typed has up to three words. */
const TYPED = /(?:^|\s)@([^\s@]*(?: [^\s@]+){0,2} ?)$/;

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

/** Composed letters, and those with marks of their own, are the same. */
const fold = (text: string): string => text.normalize("NFC").toLowerCase();

/** Users of whose names a word begins with what was typed: those who are online first. */
export function matchesOf(users: readonly User[], typed: string): readonly User[] {
  const begun = fold(typed);
  const found = users.filter(({ name }) => ` ${fold(name)}`.includes(` ${begun}`));
  const rank = ({ status }: User) => (status === "online" ? 0 : 1);
  return found.sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name)).slice(0, MAX_MATCHES);
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Whether the text mentions the user by name. */
const isMentioned = (text: string, name: string): boolean =>
  new RegExp(`(^|\\s)@${escaped(name)}(?![\\p{L}\\p{N}])`, "u").test(text);

/** Whether an edit of a text removes the name of a mention. */
export const isUnmentioned = (before: string, after: string, name = ""): boolean =>
  isMentioned(before, name) && !isMentioned(after, name);

/** The mentions of a text, each once: of the `chosen` users those whom it names. */
export const mentionsIn = (text: string, chosen: readonly User[]): string[] => [
  ...new Set(chosen.filter(({ name }) => isMentioned(text, name)).map(({ id }) => id)),
];

export interface AttachedFile {
  readonly name: string;
  readonly url: string;
}

const FILE = /^\[([^\]\n]+)\]\((https?:\/\/[^\s)]+)\)$/;

const lineOf = ({ name, url }: AttachedFile): string => `[${name.replace(/[[\]\n]/g, " ")}](${url})`;

/** The text, and the files of its last lines: labelled links whose addresses `isOwn` knows. */
export function withoutFiles(
  whole: string,
  isOwn: (url: string) => boolean,
): { readonly text: string; readonly files: readonly AttachedFile[] } {
  const lines = whole.split("\n");
  const files: AttachedFile[] = [];
  for (;;) {
    const [, name, url] = FILE.exec(lines.at(-1) ?? "") ?? [];
    if (name === undefined || url === undefined || !isOwn(url)) return { text: lines.join("\n"), files };
    files.unshift({ name, url });
    lines.pop();
  }
}

/** The text with a line for each file. */
export const withFiles = (text: string, files: readonly AttachedFile[]): string =>
  [text.trim(), ...files.map(lineOf)].filter((line) => line !== "").join("\n");

export type Part =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "mention"; readonly text: string }
  | { readonly type: "link"; readonly text: string; readonly url: string };

const LINK = String.raw`\[([^\]\n]+)\]\((https?:\/\/[^\s)]+)\)|(https?:\/\/[^\s<>"]*[^\s<>".,;:!?)])`;

/** The text in parts. `names` are those of the mentioned users; a labelled link counts if `isOwn` knows its address. */
export function partsOf(
  text: string,
  names: readonly string[],
  isOwn: (url: string) => boolean,
): readonly Part[] {
  const longestFirst = [...names].sort((a, b) => b.length - a.length).map(escaped);
  const mention =
    longestFirst.length === 0 ? "" : `|(?<!\\S)(@(?:${longestFirst.join("|")}))(?![\\p{L}\\p{N}])`;
  const parts: Part[] = [];
  let end = 0;
  const add = (until: number) => {
    if (until > end) parts.push({ type: "text", text: text.slice(end, until) });
  };
  for (const match of text.matchAll(new RegExp(LINK + mention, "gu"))) {
    const [found, label, labelled, plain, name] = match;
    if (labelled !== undefined && !isOwn(labelled)) continue;
    add(match.index);
    end = match.index + found.length;
    if (name !== undefined) parts.push({ type: "mention", text: name });
    else {
      const url = labelled ?? plain ?? "";
      parts.push({ type: "link", text: label ?? url, url });
    }
  }
  add(text.length);
  return parts;
}
