/** The text of a comment in parts: its mentions, its links, and the files at its end. */
import { LINK_PATTERN, type LinkPart, linkOf, split, type TextPart } from "./links.ts";
import { mentionPattern } from "./mentions.ts";

/** The address of a file for its reader; empty while that is unknown, null for the address of anything else. */
export type FileResolver = (url: string) => string | null;

export interface AttachedFile {
  readonly name: string;
  readonly url: string;
  /** The line in the text. */
  readonly line: string;
}

interface StoredFile {
  readonly accountId: string;
  readonly key: string;
  readonly name: string;
}

const STORED = /\/v1\/accounts\/([^/?#]+)\/storage\/([\da-f-]{36}\/[\w-]{22}\/uploads)\/([^/?#]+)$/;

/** The file that an address belongs to, whatever host it names; null for the address of anything else. */
function fileAt(url: string): StoredFile | null {
  const [, accountId, folder, name] = STORED.exec(url) ?? [];
  if (accountId === undefined || name === undefined) return null;
  try {
    const decoded = decodeURIComponent(name);
    return { accountId: decodeURIComponent(accountId), key: `${folder}/${decoded}`, name: decoded };
  } catch {
    return null; // malformed encoding
  }
}

/** Files have their key from the address, and their host from the reader: `getUrl` returns that of a key, if it is known. */
export const fileResolver =
  (getUrl: (key: string) => string | null): FileResolver =>
  (url) => {
    const file = fileAt(url);
    if (file === null) return null;
    const own = getUrl(file.key);
    return own === null ? "" : fileAt(own)?.accountId === file.accountId ? own : null;
  };

const FILE_LINE = /^\[[^\]\n]*\]\((https?:\/\/\S+)\)$/;

/** The line of an attached file: a labelled link, whose parentheses would end it for other readers of the text. */
export const lineOf = (name: string, url: string): string =>
  `[${name.replace(/[[\]\n]/g, " ")}](${url.replaceAll("(", "%28").replaceAll(")", "%29")})`;

/** The text, and the files of its last lines. */
export function withoutFiles(
  whole: string,
  resolve: FileResolver,
): { readonly text: string; readonly files: readonly AttachedFile[] } {
  const lines = whole.split("\n");
  const files: AttachedFile[] = [];
  for (;;) {
    const line = lines.at(-1) ?? "";
    const [, written = ""] = FILE_LINE.exec(line) ?? [];
    const url = resolve(written);
    if (url === null) return { text: lines.join("\n"), files };
    files.unshift({ name: fileAt(written)?.name ?? "", url, line });
    lines.pop();
  }
}

/** The text with the lines of files. */
export const withFiles = (text: string, lines: readonly string[]): string =>
  [text.trim(), ...lines].filter((line) => line !== "").join("\n");

export type Part = TextPart | LinkPart | { readonly type: "mention"; readonly text: string };

const LABELLED = String.raw`\[([^[\]\n]+)\]\((https?:\/\/[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)\)`;

/** Splits a text into parts. `names` are those of mentions; a labelled link counts if it leads to a file. */
export function partsOf(text: string, names: readonly string[], resolve: FileResolver): readonly Part[] {
  const mention = mentionPattern(names) ?? "(?!)";
  const pattern = new RegExp(`${LABELLED}|(${LINK_PATTERN})|${mention}`, "gu");
  return split<Part>(text, pattern, ([found, label = "", labelled, plain]) => {
    const { length } = found;
    if (labelled !== undefined) {
      const url = resolve(labelled);
      return url === null ? null : { part: { type: "link", text: label, url }, length };
    }
    if (plain === undefined) return { part: { type: "mention", text: found }, length };
    const part = linkOf(plain);
    return { part, length: part.text.length };
  });
}
