/** The imports of a program: it is one module, and has none that work. */
import type { ImportExpression } from "@babel/types";
import { Edits } from "./edits.ts";
import { endOf, type Node, type Program, startOf, walk } from "./syntax.ts";

export const NOTHING_TO_IMPORT = "a workflow is one module and can import nothing";

/**
 * The module with each `import(…)` rejected and `import.meta` empty: what they give depends on where the program runs,
 * and may lead out of its isolate. No line changes its number.
 */
export function refuseImports(program: Program, code: string): string {
  const edits = new Edits();
  walk(program, (node) => {
    if (node.type === "ImportExpression") refuseImport(edits, node);
    if (node.type === "MetaProperty" && node.meta.name === "import") {
      edits.replace(startOf(node), endOf(node), "Object()");
    }
    return true;
  });
  return edits.apply(code);
}

function refuseImport(edits: Edits, node: ImportExpression): void {
  const [start, source] = [startOf(node), node.source];
  edits.replace(start, start + "import".length, "Promise.reject");
  const because = `)+"\\": ${NOTHING_TO_IMPORT}")`;
  edits.wrap(startOf(source), endOf(source), 'new TypeError("Cannot find module \\""+(', because);
}

/** What a module imports first. */
export interface ImportedModule {
  readonly name: string;
  readonly offset: number;
}

function nameOfImport(node: Node): string | null {
  switch (node.type) {
    case "ImportDeclaration":
    case "ExportAllDeclaration":
      return node.source.value;
    case "ExportNamedDeclaration":
      return node.source ? node.source.value : null;
    case "ImportExpression":
      return literalOf(node.source);
    default:
      return null;
  }
}

function literalOf(source: Node): string | null {
  if (source.type === "StringLiteral") return source.value;
  return source.type === "TemplateLiteral" && source.expressions.length === 0
    ? (source.quasis[0]?.value.cooked ?? null)
    : null;
}

/** The first import that names a module, wherever it stands; null when there is none. */
export function findImport(program: Program): ImportedModule | null {
  const imports: ImportedModule[] = [];
  walk(program, (node) => {
    const name = nameOfImport(node);
    if (name !== null) imports.push({ name, offset: startOf(node) });
    return true;
  });
  return imports.sort((a, b) => a.offset - b.offset)[0] ?? null;
}
