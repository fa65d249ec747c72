/** Runs programs in Node.js: as their author wrote them, and compiled. */
import { transformSync } from "esbuild";
import { compile } from "../../../src/sandbox/compile/compile.ts";

/** Result of a program's default export, as JSON, or its error. */
export interface Outcome {
  readonly result: string;
  /** The line of the error; null if unknown. */
  readonly line: number | null;
}

const asModule = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;

/** Makes each module unique, so that no two runs share its state. */
let serial = 0;

const nextSerial = (): number => {
  serial += 1;
  return serial;
};

async function runModule(code: string, event: unknown): Promise<Outcome> {
  const url = `${asModule(code)}#${nextSerial()}`;
  try {
    const module = (await import(/* @vite-ignore */ url)) as { default: (event: unknown) => unknown };
    const result = await module.default(event);
    return { result: JSON.stringify(result) ?? "undefined", line: null };
  } catch (error) {
    const { name, message, stack = "" } = error as Error;
    const [, line] = /#\d+:(\d+):\d+/.exec(stack) ?? [];
    return { result: `${name}: ${message}`, line: line === undefined ? null : Number(line) };
  }
}

/** Runs JavaScript unchanged. */
export const runPlain = (source: string, event: unknown = null): Promise<Outcome> => runModule(source, event);

/** Runs TypeScript as a complete compiler translates it. */
export function runTranslated(source: string, event: unknown = null): Promise<Outcome> {
  const tsconfigRaw = { compilerOptions: { useDefineForClassFields: true } };
  return runModule(transformSync(source, { loader: "ts", target: "esnext", tsconfigRaw }).code, event);
}

/** The compiled module. Throws a description of the problem in the source. */
export function compiledModule(source: string): string {
  const compilation = compile(source);
  if (!compilation.ok) throw new Error(JSON.stringify(compilation.problem));
  return compilation.module;
}

/** Runs a compiled program. */
export const runCompiled = (source: string, event: unknown = null): Promise<Outcome> =>
  runModule(compiledModule(source), event);
