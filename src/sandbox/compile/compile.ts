/** Compiles a workflow's source to JavaScript that is checked and imports nothing. */
import { checkDefaultExport, findImport, NOTHING_TO_IMPORT, refuseImports } from "./modules.ts";
import { checkExportLists, checkNamesInBlocks } from "./parse-limits.ts";
import {
  CodeError,
  nodesOf,
  type Outline,
  outlineOf,
  type Program,
  parseProgram,
  startOf,
  walk,
} from "./syntax.ts";
import { TypeEraser } from "./type-eraser.ts";

/** A position in a text, as editors count: lines and columns from 1, columns in UTF-16 units. */
interface Position {
  readonly line: number;
  readonly column: number;
}

/** The ends of lines, as JavaScript knows them. */
const LINE_BREAKS = /\r\n|[\n\r\u2028\u2029]/g;

/** The position of an offset, which may be the end. */
function locate(text: string, offset: number): Position {
  let line = 1;
  let lineStart = 0;
  for (const { 0: lineBreak, index } of text.matchAll(LINE_BREAKS)) {
    const next = index + lineBreak.length;
    if (next > offset) break;
    line += 1;
    lineStart = next;
  }
  return { line, column: offset - lineStart + 1 };
}

/** TypeScript without its types: JavaScript in which everything keeps its place. */
interface Erased {
  readonly code: string;
  readonly program: Program;
}

/**
 * Erases TypeScript's erasable syntax. Throws {@link CodeError} for text that is no TypeScript or takes too
 * long to parse, for TypeScript beyond that syntax, and where only types keep parts apart that would mean
 * something else together.
 */
export function eraseTypes(text: string): Erased {
  checkExportLists(text);
  checkNamesInBlocks(text);
  const typed = parseProgram(text, "typescript");
  const eraser = new TypeEraser(text, typed);
  const code = eraser.erase();
  const program = parseProgram(code, "javascript");
  const misread = findDifference(eraser.outline, outlineOf(nodesOf(program)));
  if (misread !== null) {
    throw new CodeError("Without its types this means something else; put it in parentheses", misread);
  }
  return { code, program };
}

/** The position of the first node that only one of two programs has; null when they are equal. */
function findDifference(typed: Outline, plain: Outline): number | null {
  const [before, after] = [typed.toSorted(compare), plain.toSorted(compare)];
  for (let index = 0; index < Math.max(before.length, after.length); index++) {
    const [a, b] = [before[index], after[index]];
    if (a?.type !== b?.type || a?.start !== b?.start) {
      return Math.min(...[a, b].map((node) => node?.start ?? Number.POSITIVE_INFINITY));
    }
  }
  return null;
}

const compare = (a: Outline[number], b: Outline[number]): number =>
  a.start - b.start || Number(a.type > b.type) - Number(a.type < b.type);

interface Problem extends Position {
  readonly message: string;
}

export type Compilation =
  | {
      readonly ok: true;
      /** An ES module: the program with lines as its author counts them. */
      readonly module: string;
      /** Why each run must fail, without a try; null for most programs. */
      readonly problemAtRun: Problem | null;
    }
  | { readonly ok: false; readonly problem: Problem };

const MAX_MODULE_LENGTH = 1.5 * 1024 * 1024;

const BYTE_ORDER_MARK = "\uFEFF";

/**
 * Compiles a program of JavaScript or TypeScript. Syntax of TypeScript beyond types is a problem, as is a
 * default export that is missing, or certainly no function. A byte order mark counts as no column.
 */
export function compile(source: string): Compilation {
  const text = source.startsWith(BYTE_ORDER_MARK) ? source.slice(1) : source;
  const problemAt = (message: string, offset: number): Problem => ({ message, ...locate(text, offset) });
  try {
    const { code, program } = eraseTypes(text);
    checkPatterns(program);
    checkDefaultExport(program);
    const imported = findImport(program);
    if (imported) {
      const name = JSON.stringify(imported.name);
      const { line } = locate(text, imported.offset);
      const message = `Cannot find module ${name} (line ${line}): ${NOTHING_TO_IMPORT}`;
      return { ok: true, module: standIn(message), problemAtRun: problemAt(message, imported.offset) };
    }
    const module = refuseImports(program, code);
    if (module.length > MAX_MODULE_LENGTH) {
      throw new CodeError("The compiled code is larger than 1.5 MiB", 0);
    }
    return { ok: true, module, problemAtRun: null };
  } catch (error) {
    if (error instanceof CodeError) return { ok: false, problem: problemAt(error.message, error.offset) };
    throw error;
  }
}

const standIn = (message: string): string =>
  `export default () => { throw new TypeError(${JSON.stringify(message)}); };\n`;

/** Throws {@link CodeError} for a pattern that is none. */
function checkPatterns(program: Program): void {
  walk(program, (node) => {
    if (node.type !== "RegExpLiteral") return;
    try {
      new RegExp(node.pattern, node.flags);
    } catch (error) {
      throw new CodeError(
        error instanceof Error ? error.message : "Invalid regular expression",
        startOf(node),
      );
    }
  });
}
