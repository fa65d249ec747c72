/** Whether a module's default export is a function that a run can call, as far as that shows before it runs. */
import type { ExportNamedDeclaration } from "@babel/types";
import { CodeError } from "./code-error.ts";
import { endOf, type Node, type Program, startOf } from "./syntax.ts";

const WANTED = "export default async function (event, bindings) { … }";

/** What stands for a name at the top level: its initial value, where it has one. */
type Bindings = ReadonlyMap<string, Node>;

function collectBindings(program: Program): Bindings {
  const bindings = new Map<string, Node>();
  for (const statement of program.body) {
    const declared = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
    if (declared?.type === "FunctionDeclaration" || declared?.type === "ClassDeclaration") {
      if (declared.id) bindings.set(declared.id.name, declared);
    }
    // What is no constant may have become a function by the time it is called.
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

/** What is exported as the default; null when nothing is, undefined when another module has it. */
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

/** What a node certainly is, in words, unless it is, or may give, a function that can be awaited. */
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
