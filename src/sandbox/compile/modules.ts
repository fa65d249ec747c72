/** The imports of a program, none of which work, and its default export. */
import type { ExportNamedDeclaration, ImportExpression } from "@babel/types";
import { CodeError, endOf, type Node, type Program, startOf, walk } from "./syntax.ts";

export const NOTHING_TO_IMPORT = "a workflow is one module and can import nothing";

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * Replaces each `import(…)` by a rejection and `import.meta` by an empty object: their results depend on where
 * the program runs, and may lead out of its isolate. Line numbers stay.
 */
export function refuseImports(program: Program, code: string): string {
  const edits: Edit[] = [];
  walk(program, (node) => {
    if (node.type === "ImportExpression") edits.push(...refuseImport(node));
    if (node.type === "MetaProperty" && node.meta.name === "import") {
      edits.push({ start: startOf(node), end: endOf(node), text: "Object()" });
    }
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

interface ImportedModule {
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
  });
  return imports.sort((a, b) => a.offset - b.offset)[0] ?? null;
}

const WANTED = "export default async function (event, bindings) { … }";

/** The initial value of a name at the top level, if it has one. */
type Bindings = ReadonlyMap<string, Node>;

function collectBindings(program: Program): Bindings {
  const bindings = new Map<string, Node>();
  for (const statement of program.body) {
    const declared = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
    if (declared?.type === "FunctionDeclaration" || declared?.type === "ClassDeclaration") {
      if (declared.id) bindings.set(declared.id.name, declared);
    }
    // A variable may have become a function by the time it is called.
    if (declared?.type === "VariableDeclaration" && declared.kind === "const") {
      for (const { id, init } of declared.declarations) {
        if (id.type === "Identifier" && init) bindings.set(id.name, init);
      }
    }
  }
  return bindings;
}

const isDefault = ({ exported }: ExportNamedDeclaration["specifiers"][number]): boolean =>
  (exported.type === "Identifier" ? exported.name : exported.value) === "default";

/** The default export; null for none, undefined when another module has it. */
function findExported(program: Program): Node | null | undefined {
  for (const statement of program.body) {
    if (statement.type === "ExportDefaultDeclaration") return statement.declaration;
    if (statement.type === "ExportNamedDeclaration") {
      const specifier = statement.specifiers.find(isDefault);
      if (specifier)
        return specifier.type === "ExportSpecifier" && !statement.source ? specifier.local : undefined;
    }
  }
  return null;
}

/** The certain kind of a node, in words; null if it is, or may give, a function that can be awaited. */
function describeOther(node: Node): string | null {
  switch (node.type) {
    case "FunctionDeclaration":
    case "FunctionExpression":
      return node.generator ? "a generator, which would not run when called" : null;
    case "ClassDeclaration":
    case "ClassExpression":
      return "a class";
    case "ObjectExpression":
      return "an object";
    case "ArrayExpression":
      return "an array";
    case "TemplateLiteral":
    case "StringLiteral":
    case "NumericLiteral":
    case "BigIntLiteral":
    case "BooleanLiteral":
    case "NullLiteral":
    case "UnaryExpression":
    case "UpdateExpression":
    case "BinaryExpression":
      return "a plain value";
    default:
      return null;
  }
}

/** Throws {@link CodeError} when there is no default export (at the end), or when it is certainly no function. */
export function checkDefaultExport(program: Program): void {
  const exported = findExported(program);
  if (exported === null) throw new CodeError(`There is no default export: add \`${WANTED}\``, endOf(program));
  if (exported === undefined) return;
  const bindings = collectBindings(program);
  const seen = new Set<Node>();
  let node: Node | undefined = exported;
  while (node?.type === "Identifier" && !seen.has(node)) {
    seen.add(node);
    node = bindings.get(node.name);
  }
  const other = node && describeOther(node);
  if (other) {
    throw new CodeError(
      `The default export is ${other}; it must be a function: \`${WANTED}\``,
      startOf(exported),
    );
  }
}
