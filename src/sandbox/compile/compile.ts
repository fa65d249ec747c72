/** Makes what a workflow runs of what its author wrote: JavaScript that is checked, and imports nothing. */
import type { Program } from "acorn";
import { CodeError, UnsupportedError } from "./code-error.ts";
import { checkDefaultExport } from "./default-export.ts";
import { findImport, NOTHING_TO_IMPORT, refuseImports } from "./imports.ts";
import { locate, type Position } from "./locate.ts";
import { parseModule } from "./syntax.ts";
import { hasTypeArguments } from "./type-arguments.ts";
import { eraseTypes } from "./typescript.ts";

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

/** JavaScript of a program, and the way from its offsets back to the program's. */
interface Script {
  readonly code: string;
  readonly program: Program;
  toSource(offset: number): number;
}

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
    const script = readScript(text);
    inSource(script, () => checkDefaultExport(script.program));
    const imported = findImport(script.program);
    if (imported) {
      const at = script.toSource(imported.offset);
      const name = JSON.stringify(imported.name);
      const message = `Cannot find module ${name} (line ${locate(text, at).line}): ${NOTHING_TO_IMPORT}`;
      return { ok: true, module: standIn(message), problemAtRun: problemAt(message, at) };
    }
    const module = refuseImports(script.program, script.code);
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

/** What is JavaScript is taken as it stands. */
function readScript(text: string): Script {
  let program: Program;
  try {
    program = parseModule(text);
  } catch (error) {
    return further(error, () => readTypeScript(text));
  }
  const script: Script = { code: text, program, toSource: (offset) => offset };
  return hasTypeArguments(program, text) ? readTypeScriptOr(script, text) : script;
}

function readTypeScript(text: string): Script {
  const { code, toSource } = eraseTypes(text);
  return inSource({ toSource }, () => ({ code, toSource, program: parseModule(code) }));
}

function readTypeScriptOr(script: Script, text: string): Script {
  try {
    return readTypeScript(text);
  } catch (error) {
    if (error instanceof CodeError) return script;
    throw error;
  }
}

/** Throws a {@link CodeError} with its offset in the source. */
function inSource<Result>({ toSource }: Pick<Script, "toSource">, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw error instanceof CodeError ? new CodeError(error.message, toSource(error.offset)) : error;
  }
}

/**
 * Of two errors that which says more is thrown, or else the one that lies further in the source: the other met what
 * it does not know.
 */
function further<Result>(first: unknown, read: () => Result): Result {
  try {
    return read();
  } catch (second) {
    const isVague = second instanceof CodeError && !(second instanceof UnsupportedError);
    throw isVague && first instanceof CodeError && first.offset > second.offset ? first : second;
  }
}
