/** How large the house is: each measure of the repository, with its target. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { graphOf, SRC, sources } from "./sources.ts";

interface Measure {
  readonly name: string;
  readonly today: number;
  readonly target: number;
}

const ROOT = path.join(SRC, "..");
const SHORT_FILE_LINES = 25;
const MAX_FILES = 20;
const EXPORT =
  /^export (?:declare )?(?:async )?(?:abstract )?(?:const|let|function\*?|class|interface|type|enum) /gm;

const linesOf = (text: string): number => text.split("\n").length - 1;
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
const countIn = (pattern: RegExp): number => sum(sources.map(({ text }) => text.match(pattern)?.length ?? 0));

const textsOf = (pattern: string, exclude: readonly string[] = []): string[] =>
  globSync(pattern, { cwd: ROOT, exclude }).map((file) => readFileSync(path.join(ROOT, file), "utf8"));

/** Lines with nothing but a comment. */
const commentLines = (text: string): number =>
  sum(
    (text.match(/^[ \t]*(?:\/\/.*|\/\*(?:[^*]|\*(?!\/))*\*\/[ \t]*)$/gm) ?? []).map(
      (comment) => comment.split("\n").length,
    ),
  );

/** The folder at the top of `src`; files there stand for themselves. */
const topOf = (file: string): string => file.split("/")[0] ?? "";

const isFolder = (top: string): boolean => !top.includes(".");

/** The pairs of folders at the top of `src` that import each other, as `a ↔ b`. */
function mutualFolders(): string[] {
  const graph = graphOf(topOf);
  return [...graph].flatMap(([from, targets]) =>
    [...targets]
      .filter((to) => from < to && graph.get(to)?.has(from) && isFolder(from) && isFolder(to))
      .map((to) => `${from} ↔ ${to}`),
  );
}

/** The folders of `src` with more files than one can take in. */
function largeFolders(): string[] {
  const counts = new Map<string, number>();
  for (const { file } of sources) counts.set(path.dirname(file), (counts.get(path.dirname(file)) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > MAX_FILES).map(([folder]) => folder);
}

const codeLines = sum(sources.map(({ text }) => linesOf(text)));
const styleLines = sum(textsOf("src/**/*.css").map(linesOf));
const tests = textsOf("test/**/*.{ts,tsx,diff,md}", ["**/node_modules", "test/bench", "test/endurance"]);
const folders = new Set(sources.map(({ file }) => topOf(file)).filter(isFolder));

const measure = (name: string, today: number, target: number): Measure => ({ name, today, target });

export const MEASURES: readonly Measure[] = [
  measure("lines of source, styles included", codeLines + styleLines, 76_000),
  measure("code files", sources.length, 900),
  measure(
    `code files below ${SHORT_FILE_LINES} lines`,
    sources.filter(({ text }) => linesOf(text) < SHORT_FILE_LINES).length,
    60,
  ),
  measure("lines of tests, without bench and endurance", sum(tests.map(linesOf)), 58_000),
  measure("folders at the top of src", folders.size, 12),
  measure("pairs of them that import each other", mutualFolders().length, 0),
  measure(`folders with more than ${MAX_FILES} files`, largeFolders().length, 0),
  measure("exported declarations", countIn(EXPORT), 3_000),
  measure(
    "comment lines in a thousand",
    Math.round((1_000 * sum(sources.map(({ text }) => commentLines(text)))) / codeLines),
    83,
  ),
  measure("migrations of D1", globSync("migrations/*.sql", { cwd: ROOT }).length, 1),
];

/** Where to begin: the folders that import each other, and those that are too large. */
export const DETAILS: readonly string[] = [...mutualFolders(), ...largeFolders()];

/** Modules of which a function runs during a warm request, those of `platform/` left out. */
export const PATH_TARGETS = [
  { name: "POST /rooms", target: 16 },
  { name: "STORE_SET", target: 20 },
  { name: "a join up to its webhook", target: 32 },
  { name: "a run of a workflow", target: 40 },
] as const;
