/** The imports of a program: it is one module, and has none that work. */
import type { ImportExpression } from "@babel/types";
import { endOf, type Node, type Program, startOf, walk } from "./syntax.ts";

export const NOTHING_TO_IMPORT = "a workflow is one module and can import nothing";

/** Replacement text for the part of a program between two offsets. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * The module with each `import(…)` rejected and `import.meta` empty: what they give depends on where the program runs,
 * and may lead out of its isolate. No line changes its number.
 */
export function refuseImports(program: Program, code: string): string {
  const edits: Edit[] = [];
  walk(program, (node) => {
    if (node.type === "ImportExpression") edits.push(...refuseImport(node));
    if (node.type === "MetaProperty" && node.meta.name === "import") {
      edits.push({ start: startOf(node), end: endOf(node), text: "Object()" });
    }
    return true;
  });
  return applyEdits(code, edits);
}

function refuseImport(node: ImportExpression): Edit[] {
  const start = startOf(node);
  const [from, to] = [startOf(node.source), endOf(node.source)];
  return [
    { start, end: start + "import".length, text: "Promise.reject" },
    { start: from, end: from, text: 'new TypeError("Cannot find module \\""+(' },
    { start: to, end: to, text: `)+"\\": ${NOTHING_TO_IMPORT}")` },
  ];
}

/** Applies edits that do not overlap. An insertion precedes a replacement at the same offset. */
function applyEdits(code: string, edits: readonly Edit[]): string {
  let [result, done] = ["", 0];
  for (const { start, end, text } of edits.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    result += code.slice(done, start) + text;
    done = end;
  }
  return result + code.slice(done);
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
