/** Nodes of a program that concern types alone, and nodes that are refused. */
import type { Node } from "./syntax.ts";

/** An expression with something about its type: without that, it is the expression. */
const WRAPPERS = new Set([
  "TSAsExpression",
  "TSSatisfiesExpression",
  "TSTypeAssertion",
  "TSNonNullExpression",
  "TSInstantiationExpression",
]);

export const isWrapper = (node: Node): boolean => WRAPPERS.has(node.type);

/** Statements and members of classes that declare something, for types alone or not. */
const DECLARATIONS = new Set([
  "TSInterfaceDeclaration",
  "TSTypeAliasDeclaration",
  "TSDeclareFunction",
  "TSDeclareMethod",
  "TSIndexSignature",
  "TSEnumDeclaration",
  "TSModuleDeclaration",
  "TSImportEqualsDeclaration",
]);

/** True for an erased node that is a statement, or a member of a class. */
export const isDeclaration = ({ type }: Node): boolean => DECLARATIONS.has(type) || !type.startsWith("TS");

/** True for a node of which nothing is left once the types are erased. */
export function isErased(node: Node): boolean {
  if ("declare" in node && node.declare === true) return true;
  if ("importKind" in node && node.importKind === "type") return true;
  if ("exportKind" in node && node.exportKind === "type") return true;
  switch (node.type) {
    case "ExportNamedDeclaration":
    case "ExportDefaultDeclaration":
      return node.declaration != null && isErased(node.declaration);
    case "ClassProperty":
      return node.abstract === true;
    default:
      return node.type.startsWith("TS") && !isWrapper(node) && findUnsupported(node) === null;
  }
}

/** Why a node is refused: what TypeScript has beyond types is not dropped. Null for all others. */
export function findUnsupported(node: Node): string | null {
  switch (node.type) {
    case "TSEnumDeclaration":
      return "Enums are not supported; use an object: `const Color = { Red: 0 } as const`";
    case "TSModuleDeclaration":
      return "Namespaces are not supported; for types alone, write `declare namespace`";
    case "TSParameterProperty":
      return "Parameter properties are not supported; declare a field, and set it in the constructor";
    case "TSImportEqualsDeclaration":
      return "`import … =` is not supported";
    case "TSExportAssignment":
      return "`export =` is not supported; use `export default`";
    case "TSNamespaceExportDeclaration":
      return "`export as namespace` is not supported";
    case "Decorator":
      return "Decorators are not supported";
    case "ClassAccessorProperty":
      return "`accessor` fields are not supported";
    default:
      return null;
  }
}
