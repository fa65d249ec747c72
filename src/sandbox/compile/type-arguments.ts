/** Calls with type arguments in what is JavaScript too, where it compares: `f<T>(x)`. */
import type { AnyNode, BinaryExpression, Program } from "acorn";
import { UnsupportedError } from "./code-error.ts";
import { walk } from "./syntax.ts";
import { readFile } from "./tokens.ts";

/**
 * True for a program that makes sense as TypeScript alone: no one compares the outcome of a comparison. Throws
 * {@link UnsupportedError} where both make sense, and not the same: `f(a<b, c>(d))`.
 */
export function hasTypeArguments(program: Program, text: string): boolean {
  let isCertain = false;
  const ambiguous: BinaryExpression[] = [];
  walk(program, (node) => {
    if (endsTypeArguments(node, text) && isComparison(node.left, "<")) isCertain = true;
    for (const [index, element] of listIn(node).entries()) {
      const before = index > 0 ? listIn(node)[index - 1] : null;
      if (element && before && isComparison(before, "<") && endsTypeArguments(element, text)) {
        ambiguous.push(element);
      }
    }
  });
  if (isCertain) return true;
  const [first] = ambiguous;
  if (first && isTypeAt(text, first.left.end)) {
    throw new UnsupportedError(
      "`a<b, c>(d)` is a call in TypeScript and two comparisons in JavaScript: put parentheses where they belong",
      first.start,
    );
  }
  return false;
}

const isComparison = (node: AnyNode, operator: "<" | ">"): node is BinaryExpression =>
  node.type === "BinaryExpression" && node.operator === operator;

const endsTypeArguments = (node: AnyNode, text: string): node is BinaryExpression =>
  isComparison(node, ">") && /^\s*>\s*\(/.test(text.slice(node.left.end, node.right.start));

function listIn(node: AnyNode): readonly (AnyNode | null)[] {
  switch (node.type) {
    case "SequenceExpression":
      return node.expressions;
    case "CallExpression":
    case "NewExpression":
      return node.arguments;
    case "ArrayExpression":
      return node.elements;
    default:
      return [];
  }
}

/** True when TypeScript reads a type at, or from, the offset. */
function isTypeAt(text: string, offset: number): boolean {
  const token = readFile(text).tokens.find(({ end }) => end > offset);
  return token?.isType ?? false;
}
