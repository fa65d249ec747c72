/** Blanks the types of one program. */
import type {
  ClassMethod,
  ClassPrivateMethod,
  ClassPrivateProperty,
  ClassProperty,
  Identifier,
} from "@babel/types";
import {
  CodeError,
  endOf,
  type Node,
  type Outline,
  outlineOf,
  type Program,
  startOf,
  walk,
} from "./syntax.ts";

/** The ends of lines, as JavaScript knows them. */
const LINE_BREAK = /[\n\r\u2028\u2029]/;

/** A text whose parts become spaces, so that lines and columns stay. */
class BlankedText {
  readonly #text: string;
  readonly #units: string[];
  readonly #done: boolean[] = [];

  constructor(text: string) {
    this.#text = text;
    this.#units = text.split("");
  }

  /** Blanks a part except for its line breaks and finished parts. `first` replaces its first unit. */
  blank(start: number, end: number, first = " "): void {
    let unit = first;
    for (let index = start; index < end; index++) {
      if (this.#done[index] || LINE_BREAK.test(this.#text.charAt(index))) continue;
      this.replace(index, unit);
      unit = " ";
    }
  }

  /** Replaces one unit, for good. */
  replace(index: number, unit: string): void {
    this.#units[index] = unit;
    this.#done[index] = true;
  }

  /** The first place from `index` on that is neither blank nor the end of a statement. */
  skip(index: number): number {
    let at = index;
    while (/[\s;]/.test(this.#units[at] ?? "")) at += 1;
    return at;
  }

  toString(): string {
    return this.#units.join("");
  }
}

type Class = Extract<Node, { readonly type: "ClassDeclaration" | "ClassExpression" }>;
type Member = ClassMethod | ClassPrivateMethod | ClassProperty | ClassPrivateProperty;
type ArrowFunction = Extract<Node, { readonly type: "ArrowFunctionExpression" }>;

/** A type at their end ends them where they have no semicolon; without it they could go on in the next line. */
const ENDED_BY_TYPES = new Set([
  "ExpressionStatement",
  "VariableDeclaration",
  "ReturnStatement",
  "ThrowStatement",
  "ExportDefaultDeclaration",
  "ClassProperty",
  "ClassPrivateProperty",
]);
const MODIFIERS = /\b(?:public|private|protected|readonly|override)\b/g;

const isThis = (node: Node): boolean => node.type === "Identifier" && node.name === "this";

export class TypeEraser {
  readonly #text: string;
  readonly #program: Program;
  readonly #blanks: BlankedText;
  readonly #kept: Node[] = [];
  readonly #erased = new Set<Node>();
  readonly #openEnds = new Set<number>();

  constructor(text: string, program: Program) {
    this.#text = text;
    this.#program = program;
    this.#blanks = new BlankedText(text);
  }

  /** The program without types. Throws {@link CodeError} for the first thing that is unsupported. */
  erase(): string {
    let unsupported: CodeError | null = null;
    const unused = new Set<Node>(findUnusedImports(this.#program));
    walk(this.#program, (node) => {
      if (this.#erased.has(node)) return false;
      if (unused.has(node) || isErased(node)) {
        this.#blanks.blank(startOf(node), endOf(node), isDeclaration(node) ? ";" : " ");
        return false;
      }
      const why = findUnsupported(node);
      if (why !== null && startOf(node) < (unsupported?.offset ?? Number.POSITIVE_INFINITY)) {
        unsupported = new CodeError(why, startOf(node));
      }
      if (ENDED_BY_TYPES.has(node.type) && !this.#hasSemicolon(node)) this.#openEnds.add(endOf(node));
      this.#eraseParts(node);
      if (!isWrapper(node)) this.#kept.push(node);
      return true;
    });
    if (unsupported !== null) throw unsupported;
    return this.#blanks.toString();
  }

  /** The remaining code after the erasure. */
  get outline(): Outline {
    return outlineOf(this.#kept, (start) => this.#blanks.skip(start));
  }

  /** Erases parts about types that are no node of their own. */
  #eraseParts(node: Node): void {
    if ("params" in node) this.#eraseListed<Node>(node.params, isThis);
    switch (node.type) {
      case "TSAsExpression":
      case "TSSatisfiesExpression":
      case "TSNonNullExpression":
      case "TSInstantiationExpression": {
        const end = endOf(node);
        this.#blanks.blank(endOf(node.expression), end, this.#openEnds.has(end) ? ";" : " ");
        break;
      }
      case "TSTypeAssertion":
        this.#blanks.blank(startOf(node), startOf(node.expression));
        break;
      case "ClassDeclaration":
      case "ClassExpression":
        this.#eraseHeritage(node);
        break;
      case "ClassMethod":
      case "ClassPrivateMethod":
      case "ClassProperty":
      case "ClassPrivateProperty":
        this.#eraseMember(node);
        break;
      case "ArrowFunctionExpression":
        this.#keepOnLine(node);
        break;
      case "ImportDeclaration":
      case "ExportNamedDeclaration":
        this.#eraseListed<Node>(node.specifiers, isErased);
        break;
      case "VariableDeclarator":
        if (node.definite && node.id.type === "Identifier") this.#eraseMark("!", node.id);
        break;
      case "Identifier":
        if (node.optional) this.#eraseMark("?", node);
    }
  }

  /** True for a node that ends with a semicolon, or in front of one, as in the head of a loop. */
  #hasSemicolon(node: Node): boolean {
    return (
      this.#text.endsWith(";", endOf(node)) || /^\s*;/.test(this.#text.slice(endOf(node), endOf(node) + 80))
    );
  }

  #eraseListed<Listed extends Node>(list: readonly Listed[], isPart: (node: Listed) => boolean): void {
    for (const [index, node] of list.entries()) {
      if (!isPart(node)) continue;
      const next = list[index + 1];
      const comma = /^\s*,/.exec(this.#text.slice(endOf(node), endOf(node) + 80))?.[0] ?? "";
      this.#erased.add(node);
      this.#blanks.blank(startOf(node), next === undefined ? endOf(node) + comma.length : startOf(next));
    }
  }

  #eraseHeritage(node: Class): void {
    const start = startOf(node);
    if (node.type === "ClassDeclaration" && node.abstract)
      this.#blanks.blank(start, start + "abstract".length);
    const last = node.implements?.at(-1);
    if (last === undefined) return;
    const before = node.superTypeArguments ?? node.superClass ?? node.typeParameters ?? node.id;
    const from = before ? endOf(before) : this.#text.indexOf("class", start) + "class".length;
    this.#blanks.blank(from, endOf(last));
  }

  #eraseMember(node: Member): void {
    const start = startOf(node);
    for (const { 0: modifier, index } of this.#text.slice(start, startOf(node.key)).matchAll(MODIFIERS)) {
      // The code from the name on must not continue the member before it.
      this.#blanks.blank(start + index, start + index + modifier.length, index === 0 ? ";" : " ");
    }
    const isField = node.type === "ClassProperty" || node.type === "ClassPrivateProperty";
    const type = isField ? node.typeAnnotation : null;
    const mark = this.#text
      .slice(endOf(node.key), type ? startOf(type) : endOf(node.key) + 80)
      .search(/[?!]/);
    const hasMark = ("optional" in node && node.optional) || ("definite" in node && node.definite);
    const at = hasMark && mark >= 0 ? endOf(node.key) + mark : null;
    if (at !== null) this.#blanks.blank(at, at + 1, isField && !node.value ? ";" : " ");
    // A field called `get` must not become a part of the member after it.
    else if (isField && type && !node.value) this.#blanks.blank(startOf(type), endOf(type), ";");
  }

  /** Erases the text between a name and its type, or behind a name without one. */
  #eraseMark(mark: "?" | "!", name: Identifier): void {
    const { typeAnnotation } = name;
    const at = typeAnnotation ? this.#text.lastIndexOf(mark, startOf(typeAnnotation)) : endOf(name) - 1;
    this.#blanks.blank(at, at + 1);
  }

  /** Lets the parentheses of an arrow function enclose the lines of its types: none may end before them, or before `=>`. */
  #keepOnLine({ typeParameters, returnType }: ArrowFunction): void {
    if (returnType && this.#isOverLines(returnType)) {
      const close = this.#text.lastIndexOf(")", startOf(returnType));
      this.#blanks.blank(close, endOf(returnType) - 1);
      this.#blanks.replace(endOf(returnType) - 1, ")");
    }
    if (typeParameters && this.#isOverLines(typeParameters)) {
      const open = this.#text.indexOf("(", endOf(typeParameters));
      this.#blanks.blank(startOf(typeParameters), open + 1, "(");
    }
  }

  #isOverLines(node: Node): boolean {
    return LINE_BREAK.test(this.#text.slice(startOf(node), endOf(node)));
  }
}

/** Imports that a program uses for types alone, or not at all: like TypeScript, the compiler leaves them out. */
function findUnusedImports(program: Program): readonly Node[] {
  const used = namesOfValues(program);
  return program.body.filter(
    (statement) =>
      statement.type === "ImportDeclaration" &&
      statement.specifiers.length > 0 &&
      statement.specifiers.every((specifier) => isErased(specifier) || !used.has(specifier.local.name)),
  );
}

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

/** Wrappers of an expression that only say something about its type. */
const WRAPPERS = new Set([
  "TSAsExpression",
  "TSSatisfiesExpression",
  "TSTypeAssertion",
  "TSNonNullExpression",
  "TSInstantiationExpression",
]);

const isWrapper = (node: Node): boolean => WRAPPERS.has(node.type);

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
const isDeclaration = ({ type }: Node): boolean => DECLARATIONS.has(type) || !type.startsWith("TS");

/** True for a node of which nothing is left once the types are erased. */
function isErased(node: Node): boolean {
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

/** The reason to refuse a node: TypeScript beyond types is not dropped. Null for all others. */
function findUnsupported(node: Node): string | null {
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
