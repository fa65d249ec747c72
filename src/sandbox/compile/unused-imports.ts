/** Imports that a program uses for types alone, or not at all: like TypeScript, the compiler leaves them out. */
import { type Node, type Program, walk } from "./syntax.ts";
import { isErased } from "./type-nodes.ts";

export function findUnusedImports(program: Program): readonly Node[] {
  const used = namesOfValues(program);
  return program.body.filter(
    (statement) =>
      statement.type === "ImportDeclaration" &&
      statement.specifiers.length > 0 &&
      statement.specifiers.every((specifier) => isErased(specifier) || !used.has(specifier.local.name)),
  );
}

/** Every name that may stand for a value of the module. */
function namesOfValues(program: Program): ReadonlySet<string> {
  const names = new Set<string>();
  const keys = new Set<Node>();
  walk(program, (node) => {
    if (keys.has(node) || isErased(node) || node.type === "ImportDeclaration") return false;
    if ("property" in node && !("computed" in node && node.computed)) keys.add(node.property);
    if ("key" in node && !("computed" in node && node.computed)) keys.add(node.key);
    if (node.type === "Identifier") names.add(node.name);
    return true;
  });
  return names;
}
