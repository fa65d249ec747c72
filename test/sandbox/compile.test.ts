/** Compiling programs when they are saved: problems with their place, and the module that results otherwise. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the programs here hold templates.
import { describe, expect, it } from "vitest";
import { type Compilation, compile } from "../../src/sandbox/compile/compile.ts";

const HANDLER = "\nexport default () => 1;\n";

function problemOf(source: string) {
  const compilation = compile(source);
  if (compilation.ok) throw new Error(`No problem was found in ${source}`);
  return compilation.problem;
}

function compiled(source: string): Extract<Compilation, { ok: true }> {
  const compilation = compile(source);
  if (!compilation.ok) throw new Error(JSON.stringify(compilation.problem));
  return compilation;
}

/** `line:column message` */
const say = ({ line, column, message }: ReturnType<typeof problemOf>): string =>
  `${line}:${column} ${message}`;

it.each([
  ["let x = ;", "1:9 Unexpected token"],
  ["let a: 1; let x = ;", "1:19 Unexpected token"],
  ["\uFEFFlet x = ;", "1:9 Unexpected token"],
  ["\uFEFFlet a: 1; let x = ;", "1:19 Unexpected token"],
  ["let a = '👩‍🚀'; let x = ;", "1:26 Unexpected token"],
  ["let a: '👩‍🚀'; let x = ;", "1:25 Unexpected token"],
  ["a\r\nb\rc\n\tlet x = ;", "4:10 Unexpected token"],
  ["type A = {\r\n  a: 1\r\n}\r\n\tlet x = ;", "4:10 Unexpected token"],
  ["type A = `a\nb`; let x: `a\nb` = ;", "3:6 Unexpected token"],
  ["// \u2028let x = ;", "2:9 Unexpected token"],
  ["let a: number = 1; a.b.c.;", "1:26 Unexpected token"],
  ["let a: 1 = 1;\nlet a: 1 = 1;", "2:5 Identifier 'a' has already been declared"],
  ["let x: RegExp = /(/;", "1:17 Invalid regular expression: /(/: Unterminated group"],
  ["const f = (a: number) => await a;", "1:26 Unexpected reserved word 'await'"],
  ["export default () => {", "1:23 Unexpected token"],
  ["let s: string = 'abc\n';", "1:17 Unterminated string constant"],
  ["let x = `a ", "1:10 Unterminated template"],
  ["/* ", "1:1 Unterminated comment"],
  ["return 1", "1:1 'return' outside of function"],
  ["with (a) {}", "1:1 'with' in strict mode"],
  ["let a = 1 let b", "1:10 Missing semicolon"],
  ["class A { m() { return this.#x } }", "1:29 Private name #x is not defined"],
  ["const x = <div/>;", '1:15 Unexpected token, expected ","'],
  ["a \0", "1:3 Unexpected character '\0'"],
  ["namespace void (1)", "1:1 Unexpected token"],
])("a syntax error has its place: %j", (code, expected) => {
  const isEnd = /^(export|.*(`a|\/\*))/.test(code);
  expect(say(problemOf(isEnd ? code : code + HANDLER))).toBe(expected);
});

describe("the default export", () => {
  const WANTED = "`export default async function (event, bindings) { … }`";

  it.each([
    "export default function () {}",
    "export default async function handle(event, { room }) {}",
    "export default async (event: Event): Promise<void> => {}",
    "const f = async () => 1; export default f",
    "const f = function () {}, g = f; export { g as default }",
    "export { f as 'default' }; function f() {}",
    "let f = 1; f = () => 1; export default f",
    "export default wrap(() => 1)",
    "export default isNew ? () => 1 : () => 2",
    "const { f } = { f: () => 1 }; export default f",
    "export default fetch",
    "export default (async (event: any) => event as object) satisfies Workflow",
    "export default function f(a: string): void;\nexport default function f(a: any) {}",
    "const a = b, b = a; export default a",
  ])("may be a function, or what could give one: %s", (source) => {
    expect(compiled(source).problemAtRun).toBeNull();
  });

  it.each([
    ["export default class {}", "1:16", "a class"],
    ["class A {} export { A as default }", "1:21", "a class"],
    ["export default { run() {} }", "1:16", "an object"],
    ["const a: any = [];\n export default a as any", "2:17", "an array"],
    ["export default 'x' + 1", "1:16", "a plain value"],
    ["export default null", "1:16", "a plain value"],
    ["export default `x`", "1:16", "a plain value"],
    ["const f = 1, g = f; export default g", "1:36", "a plain value"],
    ["export default function* () {}", "1:16", "a generator, which would not run when called"],
    ["export default async function* () {}", "1:16", "a generator, which would not run when called"],
  ])("must be no other thing: %s", (source, place, what) => {
    const message = `The default export is ${what}; it must be a function: ${WANTED}`;
    expect(say(problemOf(source))).toBe(`${place} ${message}`);
  });

  it.each([
    ["", "1:1"],
    ["const a = 1", "1:12"],
    ["export const handler = () => 1;\n", "2:1"],
    ["module.exports = () => 1", "1:25"],
    ["export default interface A {}", "1:30"],
    ["export default function f(): void;", "1:35"],
  ])("must be there, and is missed at the end: %s", (source, place) => {
    expect(say(problemOf(source))).toBe(`${place} There is no default export: add ${WANTED}`);
  });
});

describe("what TypeScript has beyond types", () => {
  const ENUM = "Enums are not supported; use an object: `const Color = { Red: 0 } as const`";
  const PROPERTY = "Parameter properties are not supported; declare a field, and set it in the constructor";
  const MISREAD = "Without its types this means something else; put it in parentheses";
  const NAMESPACE = "Namespaces are not supported; for types alone, write `declare namespace`";

  it.each([
    ["namespace A { export const b = 1 }", `1:1 ${NAMESPACE}`],
    ["let a;\n  namespace A.B {}", `2:3 ${NAMESPACE}`],
    ["export namespace A { let b }", `1:8 ${NAMESPACE}`],
    [
      "module A { let b }",
      "1:1 `module ... {}` declarations must have a string name. Use `namespace ... {}` instead",
    ],
    ["type T = 1\nnamespace A { let b }", `2:1 ${NAMESPACE}`],
    ["function f() {} namespace f { export const a = 1 }", `1:17 ${NAMESPACE}`],
    ["declare namespace A { const b: 1 }\nnamespace B { const c = 1 }", `2:1 ${NAMESPACE}`],
    ["import a = require('b')", "1:1 `import … =` is not supported"],
    ["import a = B.C", "1:1 `import … =` is not supported"],
    ["export import a = B.C", "1:8 `import … =` is not supported"],
    ["export = 5", "1:1 `export =` is not supported; use `export default`"],
    ["export as namespace A", "1:1 `export as namespace` is not supported"],
    ["@sealed class A {}", "1:1 Decorators are not supported"],
    ["class A { @bound() m() {} }", "1:11 Decorators are not supported"],
    ["class A { accessor x = 1 }", "1:11 `accessor` fields are not supported"],
    ["class A { static accessor #x: number = 1 }", "1:11 `accessor` fields are not supported"],
    ["enum A { B }", `1:1 ${ENUM}`],
    ["let a;\nexport const enum A { B = 1 }", `2:8 ${ENUM}`],
    ["class A { constructor(readonly a: 1, private b?: 2) {} }", `1:23 ${PROPERTY}`],
    ["const f = () => <T>{ a: 1 };", `1:20 ${MISREAD}`],
    ["const f = () => { return <T>\n1 }", `2:1 ${MISREAD}`],
    ["const x = a + b as number * 2", `1:11 ${MISREAD}`],
    ["const x = a < b as any + 2", `1:11 ${MISREAD}`],
  ])("is refused by name where it would be lost: %j", (code, expected) => {
    expect(say(problemOf(code + HANDLER))).toBe(expected);
  });

  it.each([
    "declare namespace A { const b: 1; namespace C { type D = 1 } } declare module 'm' { export = 1 }",
    "const namespace = 1, module = 2, accessor = 3; class A { namespace() {} accessor = 1; module }",
    "interface A { namespace: 1; accessor: 2; enum: 3; export: 4 }",
    "declare const enum A { B = 1 } declare enum C { D }",
    "'namespace A {}'; /@a/; `@b`; // @c\n/* enum A { B = `x` } */",
    "const a = b < c, d = e > (f); g(h < 1 + 1, i > (j)); for (let i = a as any; i < 2; i++); type B = {\u2028}",
  ])("is not seen where it is not: %j", (code) => {
    expect(compiled(code + HANDLER).problemAtRun).toBeNull();
  });
});

describe("an import", () => {
  const missing = (name: string, line: number) =>
    `Cannot find module "${name}" (line ${line}): a workflow is one module and can import nothing`;

  it.each([
    ["import 'left-pad'", 1, 1, "left-pad"],
    ['const a = 1;\n\n  import b from "left-pad"; b', 3, 3, "left-pad"],
    ["export * from './guard.js'", 1, 1, "./guard.js"],
    ["let a: 1;\nimport { b } from 'node:fs'; b()", 2, 1, "node:fs"],
    ["export { a } from 'cloudflare:workers'", 1, 1, "cloudflare:workers"],
    ["const f = async () => {\n await import(`a`) }", 2, 8, "a"],
    ["await import('a'); import 'b'", 1, 7, "a"],
    ["import data from './a.json' with { type: 'json' }; data", 1, 1, "./a.json"],
  ])("is saved, and is what each run fails with: %s", (code, line, column, name) => {
    const { module, problemAtRun } = compiled(code + HANDLER);
    expect(problemAtRun).toEqual({ line, column, message: missing(name, line) });
    expect(module).not.toMatch(/^\s*import|\bfrom\b|import\(/m);
    expect(module).toContain(JSON.stringify(missing(name, line)));
  });

  it("may be the default export", () => {
    expect(compiled("import f from 'a'; export default f").problemAtRun?.message).toBe(missing("a", 1));
    expect(compiled("export { default } from 'a'").problemAtRun?.message).toBe(missing("a", 1));
  });

  it("may be of types", () => {
    const { module, problemAtRun } = compiled(
      `import type A from "a"; import { type B } from "b"; import { C } from "c"; let c: C;${HANDLER}`,
    );
    expect(problemAtRun).toBeNull();
    expect(module).not.toMatch(/\bimport\b/);
  });
});

const MAX_LENGTH = 256 * 1024;
/** Repeats a part, made of its number, as often as a program can hold it. */
const fill = (part: (index: string) => string): string => {
  let text = "";
  for (let index = 0; text.length < MAX_LENGTH - 64; index++) text += part(index.toString(36));
  return text;
};

describe("a program made to be hard", () => {
  it.each([
    ["parentheses", "(".repeat(50_000)],
    ["parentheses that close", `x = ${"(".repeat(50_000)}1${")".repeat(50_000)}`],
    ["arrays", `x = ${"[".repeat(10_000)}${"]".repeat(10_000)}`],
    ["objects in TypeScript", `let x: T = ${"{a:".repeat(10_000)}1${"}".repeat(10_000)}`],
    ["types", `let x: ${"{a:".repeat(20_000)}1${"}".repeat(20_000)}`],
    ["blocks", `${"{".repeat(50_000)}${"}".repeat(50_000)}`],
    ["functions", `${"function f(){".repeat(15_000)}${"}".repeat(15_000)}`],
    ["templates", `x = ${"`$\x7b".repeat(40_000)}`],
    ["operators", `x = ${"!".repeat(100_000)}1`],
    ["arrows in default values", `let y: T; x = ${"(a = ".repeat(2_000)}1${") => 1".repeat(2_000)}`],
    ["a sum", `x = ${"1+".repeat(100_000)}1`],
  ])("is nested too deeply: %s", (_, code) => {
    expect(problemOf(code + HANDLER).message).toBe("The code is nested too deeply");
  });

  it.each([
    ["casts, which are read in two ways each", `x =\n${"<T>(".repeat(24)}1${")".repeat(24)}`],
    ["casts without end", `x =\n${"<T>(".repeat(100)}`],
    ["casts of casts", `x =\n${"<T>(".repeat(40)}1${" as any as any)".repeat(40)}`],
    ["async calls with type arguments", `x =\n${"async<T>(a = ".repeat(30)}1${")".repeat(30)}`],
    ["arrow functions in casts", `x =\n${"<T>(() => ".repeat(40)}1${")".repeat(40)}`],
  ])("takes too long to read, and is refused where that shows: %s", (_, code) => {
    const { line, message } = problemOf(code + HANDLER);
    expect(message).toBe("The code takes too long to read here; nest casts and arrow functions less");
    expect(line).toBe(2);
  });

  const variables = fill((index) => `var a${index};`).slice(0, -2_000);
  const declared = variables.replaceAll(";var ", ",").slice("var ".length);

  it.each([
    ["blocks", `${"{".repeat(400)}\n${variables}${"}".repeat(400)}`],
    ["blocks that close in strings", `${'{"}";'.repeat(300)}\n${variables}${"}".repeat(300)}`],
    ["blocks behind regular expressions", `${"{if (a) /`}/;".repeat(100)}\n${variables}${"}".repeat(100)}`],
    ["loops", `${"for(;;)".repeat(250)}{\n${variables}}`],
    ["statements", `${"{".repeat(400)}if (a) var\n${declared}${"}".repeat(400)}`],
  ])("has too many names in nested blocks: %s", (_, code) => {
    const { line, message } = problemOf(code + HANDLER);
    expect(message).toBe("Too many names stand in nested blocks; nest less, or use functions");
    expect(line).toBe(2);
  });

  const exported = Array.from({ length: 13_000 }, (_, index) => `a${index.toString(36)}`).join();

  it.each([
    ["blocks", `${"{}".repeat(65_000)}\nexport {${exported}};`],
    ["blocks before types", `${"{}".repeat(65_000)}\nexport type {${exported}};`],
    ["fields", `class A{${"a;".repeat(65_000)}}\nexport/**/{${exported}};`],
    ["a brace in a string", `${"{}".repeat(65_000)}\nexport { b as "}", ${exported}};`],
    ["a brace in a comment", `${"{}".repeat(65_000)}\nexport //\r{ /*}*/ ${exported}};`],
    ["many lists", `${"{}".repeat(65_000)}\n${fill((index) => `export{a${index}};`).slice(132_000)}`],
  ])("exports too many names behind long code: %s", (_, code) => {
    const { line, message } = problemOf(code + HANDLER);
    expect(message).toBe("Too many names are exported in lists; export them where they are declared");
    expect(line).toBe(2);
  });

  it("exports as many names in lists as anyone needs", () => {
    const declared = Array.from({ length: 300 }, (_, index) => `a${index}`);
    const code = `${"{}".repeat(120_000)}let ${declared.join()};export{${declared.join()}};`;
    expect(compiled(code + HANDLER).problemAtRun).toBeNull();
  });

  it.each([
    ["lists in lists", fill(() => "export{")],
    ["comments in lists", fill(() => "export{/*")],
    ["comments that all end at once", `${fill(() => "export{/*").slice(16)}*/`],
    ["strings in lists", fill(() => "export{'")],
  ])("is refused at once: %s", (_, code) => {
    expect(problemOf(code).message).not.toBe("");
  });

  it.each([
    ["functions", fill(() => "()=>1;")],
    ["loops", fill(() => "for(;;);")],
    ["spreads", `x = [${fill(() => "...a,")}]`],
    ["computed names", `class A{${fill(() => "[a];")}}`],
    ["variables", fill((index) => `let a${index};`)],
    ["a pattern of variables", `let {${fill((index) => `a${index},`)}} = x`],
    ["old variables", "if(a){var b}".repeat(1_500)],
    ["parameters", `function f(${fill((index) => `a${index},`)}) {}`],
    ["private names", `class A{${fill((index) => `#a${index};`)}}`],
    ["calls", `a${fill(() => "()")}`],
    ["members", `a${fill(() => ".b")}`],
    ["literals", fill(() => '"a";')],
    ["type arguments", `let y: T;${fill(() => "f<a,b>(1);")}`],
    ["fields of types", `class A{${fill(() => "get:T\n")}}`],
    ["declarations", fill(() => "interface A{}\n")],
    ["escapes", `f\`${fill(() => "\\u{")}\``],
    ["lines", fill(() => "\n")],
  ])("stays within 1.5 MiB, and is done: %s", (_, code) => {
    expect(compiled(code + HANDLER).module.length).toBeLessThan(1.5 * 1024 * 1024);
  });
});
