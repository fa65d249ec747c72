/** Makes what a workflow runs of what its author wrote: JavaScript that is checked, and imports nothing. */
import { CodeError } from "./code-error.ts";
import { checkDefaultExport } from "./default-export.ts";
import { eraseTypes } from "./erase-types.ts";
import { findImport, NOTHING_TO_IMPORT, refuseImports } from "./imports.ts";
import { locate, type Position } from "./locate.ts";
import { checkPatterns } from "./patterns.ts";

/** What is wrong with a program, and where: lines and columns from 1, columns in UTF-16 units. */
export interface Problem extends Position {
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
 * Checks a program of JavaScript or TypeScript, and makes it ready to run. What TypeScript has beyond types and this
 * does not keep is a problem, as is a default export that is missing, or certainly no function. A byte order mark
 * counts as no column.
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

/** For a module that is never to run. */
const standIn = (message: string): string =>
  `export default () => { throw new TypeError(${JSON.stringify(message)}); };\n`;
