/** Reads Markdown for the documentation's tests: fenced blocks, headings and links, with their lines. */
import { globSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { headingId } from "@atrium/docs/markdown.ts";
import { ROOT } from "../cli/processes.ts";

export interface Block {
  /** The language after the fence, such as `ts`. */
  readonly language: string;
  /** The name of the file that the block is all of, as it stands behind the language. */
  readonly file: string | undefined;
  readonly code: string;
  /** Line of the first line of code, from 1. */
  readonly line: number;
  /** The line before the fence: a comment may name the block's purpose. */
  readonly before: string;
}

export interface Link {
  readonly target: string;
  readonly line: number;
}

/** The Markdown files of the repository by their paths from its root. */
export async function listDocuments(): Promise<string[]> {
  const docs = await readdir(path.join(ROOT, "docs"), { recursive: true });
  const pages = docs.filter((name) => name.endsWith(".md")).map((name) => path.posix.join("docs", name));
  const beside = ["README.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md"];
  return [...beside, ...globSync("{packages,examples}/*/README.md", { cwd: ROOT }), ...pages].sort();
}

export const readDocument = (file: string): Promise<string> => readFile(path.join(ROOT, file), "utf8");

/** The fenced blocks of a text. */
export function readBlocks(text: string): Block[] {
  const lines = text.split("\n");
  const blocks: Block[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const [, language, file] = /^```(\w+)(?: (\S+))?$/.exec(lines[index] ?? "") ?? [];
    if (language === undefined) continue;
    const end = lines.indexOf("```", index + 1);
    const code = lines.slice(index + 1, end).join("\n");
    blocks.push({ language, file, code, line: index + 2, before: lines[index - 1] ?? "" });
    index = end;
  }
  return blocks;
}

/** The text with everything inside fences left blank, so that lines keep their numbers. */
export const withoutBlocks = (text: string): string =>
  text.replaceAll(/^```[\s\S]*?^```$/gm, (block) => block.replaceAll(/[^\n]/g, ""));

/** Targets of links and pictures outside of code. */
export const readLinks = (text: string): Link[] =>
  withoutBlocks(text)
    .split("\n")
    .flatMap((line, index) =>
      [...line.replaceAll(/`[^`]*`/g, "").matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => ({
        target,
        line: index + 1,
      })),
    );

/** Ids of the headings, as GitHub and the service's /docs make them. */
export const readAnchors = (text: string): Set<string> =>
  new Set([...withoutBlocks(text).matchAll(/^#{1,6} (.*)$/gm)].map(([, title = ""]) => headingId(title)));
