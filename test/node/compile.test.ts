/** What compiled programs do when they run: the same as before, under the guard's eyes. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compile } from "../../src/workflows/compile.ts";
import { compiledModule, runCompiled, runPlain, runTranslated } from "./compiled.ts";

/** What happens, the body of the default export, and how often the guard is asked: the export itself is one. */
const GUARDED: readonly (readonly [string, string, number])[] = [
  ["a function", "return 1", 1],
  ["for", "let n = 0; for (let i = 0; i < 3; i++) { n += i } return n", 4],
  ["for without a block", "let n = 0; for (let i = 0; i < 3; i++) n += i; return n", 4],
  ["for with nothing to do", "let i = 0; for (; i < 3; i++); return i", 4],
  ["for-in", "let s = ''; for (const key in { a: 1, b: 2 }) s += key; return s", 3],
  ["for-of", "let s = 0; for (const n of [1, 2, 3]) { s += n } return s", 4],
  ["for-await", "let s = 0; for await (const n of [1, Promise.resolve(2)]) s += n; return s", 3],
  ["while", "let n = 0; while (n < 3) n++; return n", 4],
  ["while with a semicolon alone", "let n = 0; while (n++ < 3); return n", 4],
  ["do-while", "let n = 0; do { n++ } while (n < 3) return n", 4],
  ["do-while without a block", "let n = 0\ndo n++\nwhile (n < 3)\nreturn n", 4],
  [
    "loops in loops without blocks",
    "let n = 0; for (const a of [1, 2]) for (const b of [1, 2]) while (n < a + b) n++; return n",
    11,
  ],
  ["a loop around an arrow without semicolons", "let f\nfor (const a of [1]) f = () => a\nreturn f()", 3],
  [
    "labels",
    "let n = 0; outer: for (;;) { for (;;) { n++; if (n > 3) break outer; else continue outer } } return n",
    9,
  ],
  ["a loop behind else", "if (false) ; else for (const a of [1]) void a; return 1", 2],
  ["function declarations", "function f() { return 1 } return f() + f()", 3],
  ["function expressions", "const f = function () { return 1 }; return f()", 2],
  ["functions at once", "return (function () { return 1 })() + (() => 2)()", 3],
  ["recursion", "const f = (n) => n === 0 ? 0 : 1 + f(n - 1); return f(5)", 7],
  ["arrows", "return [1, 2].map((n) => n * 2)", 3],
  ["arrows that give an object", "return [1].map((n) => ({ n }))", 2],
  ["arrows that give a sequence", "let a; return [1].map((n) => (a = n, a + 1))", 2],
  ["arrows that assign", "let a; [7].forEach((n) => a = n); return a", 2],
  ["arrows that give arrows", "return ((a) => (b) => (c) => a + b + c)(1)(2)(3)", 4],
  [
    "arrows with in, in the head of a for",
    "let n = 0; for (let f = (k) => (k in { a: 1 }); f('a') && n < 2; n++); return n",
    6,
  ],
  ["arrows that give a conditional", "return [0, 1].map((n) => n ? 'a' : 'b')", 3],
  ["arrows over lines", "return [1].map((n) =>\n  // why\n  n /* what */\n  + 1 // then\n)", 2],
  ["async arrows", "return await (async (n) => await n)(Promise.resolve(1))", 2],
  ["arrows that give a class", "return (() => class A { static x = 1 })().x", 3],
  ["arrows that give a template", "return (() => `a${(() => `b`)()}`)()", 3],
  ["arrows in braces of templates", "return `${[1].map((n) => `${n}`)}`", 2],
  [
    "arrows in regular expressions' neighbourhood",
    "return 'a=>b'.replace(/=>|\\/(?<x>b)[/]/g, () => '=>')",
    2,
  ],
  ["methods", "return { m() { return 1 } }.m()", 2],
  [
    "getters and setters",
    "let v; const o = { get a() { return v }, set a(n) { v = n } }; o.a = 1; return o.a",
    3,
  ],
  [
    "methods of classes",
    "class A { m() { return 1 } static s() { return 2 } #p() { return 3 } q() { return this.#p() } } return new A().m() + A.s() + new A().q()",
    5,
  ],
  ["constructors", "class A { constructor(n) { this.n = n } } return new A(1).n", 2],
  [
    "derived constructors",
    "class A {} class B extends A { constructor() { super(); this.n = 1 } } return new B().n",
    3,
  ],
  ["static blocks", "class A { static n; static { A.n = 1 } static {} static { A.n++ } } return A.n", 3],
  [
    "fields",
    "class A { x = 1 + 1; y = () => this.x; z; static w = 3; ['v'] = 4 } return [new A().y(), A.w, new A().v]",
    8,
  ],
  [
    "what a class extends",
    "let n = 0; const f = () => { n++; return Object }; class A extends f() {} return n",
    3,
  ],
  [
    "computed names",
    "const k = (s) => s; class A { [k('m')]() { return 1 } get [(k, 'g')]() { return 2 } } return new A().m() + new A().g",
    6,
  ],
  ["generators", "function* g() { yield 1; yield 2 } return [...g()]", 2],
  ["yield*", "function* g() { yield* [1, 2] } let n = 0; for (const m of g()) n += m; return n", 4],
  [
    "async generators",
    "async function* g() { yield 1 } let n = 0; for await (const m of g()) n += m; return n",
    3,
  ],
  [
    "functions in default values",
    "const f = (a = (() => 1)(), { b = (() => 2)() } = {}) => a + b; return f()",
    4,
  ],
  ["directives", "function f() { 'use strict'; return this === undefined } return f()", 2],
  [
    "directives without semicolons",
    "function f() { 'use strict'\n'and so on'\nreturn this === undefined } return f()",
    2,
  ],
  ["directives alone", "function f() { 'use strict' } return f() ?? 1", 2],
  ["strings that are no directives", "function f() { 'a'.length\nreturn 1 } return f()", 2],
  [
    "catch and finally",
    "let n = 0; for (;;) { try { throw 1 } catch { continue } finally { if (++n > 2) break } } return n",
    4,
  ],
  [
    "switches in loops",
    "let s = ''; for (const n of [1, 2]) switch (n) { case 1: s += 'a'; break; default: s += 'b' } return s",
    3,
  ],
  [
    "the names of functions",
    "const f = () => 1; class A { x = () => 1; y = class {}; static z = function () {} } return [f.name, new A().x.name, new A().y.name, A.z.name]",
    1,
  ],
  ["the number of parameters", "return [((a, b) => a).length, (function (a, b = 1) {}).length]", 1],
  ["new.target", "function F() { return { isNew: new.target === F } } return new F()", 2],
  ["tagged templates", "const t = (s, ...v) => s.raw.join('|') + v; return t`a\\n${1}b${2}`", 2],
  ["optional chains", "const o = { f: () => 1 }; return [o?.f?.(), o.g?.(), o?.['f']()]", 3],
  ["line separators", "let s = '\u2028'; for (const a of [1]) s += a; return s.length", 2],
  [
    "names like the guard's",
    "const $0000 = 1, tick = 2; let $ = 0; for (const a of [1]) $ += a; return $0000 + tick + $",
    2,
  ],
  [
    "names like the guard's, spelt otherwise",
    "const \\u00240000 = (x) => x; const \\u{24}0001 = 2; for (const a of [1]) void a; return \\u00240000(\\u{24}0001)",
    3,
  ],
];

describe("a compiled program", () => {
  it.each(GUARDED)("gives what it gave before, and asks the guard each time: %s", async (_, body, ticks) => {
    const source = `export default async function () { ${body} }`;
    const plain = await runPlain(source);
    expect(plain.line).toBeNull();
    expect(await runCompiled(source)).toMatchObject({ ...plain, ticks });
  });

  it("hands what it spreads into arrays and calls to the guard, and nothing else", async () => {
    const source = `export default () => {
      const list = [2, 3], more = [4];
      const sum = (...all) => all.reduce((a, b) => a + b, 0);
      class Kept { constructor(...all) { this.all = all } }
      class Handed extends Kept { constructor(...all) { super(...all) } }
      const [first, ...rest] = list;
      return [
        [1, ...list, ...(0, more)], sum(...list), sum?.(...list), new Handed(...list).all,
        { ...list }, first, rest, [...list, ...[...more]], [...(() => list)()], sum(...list.map((n) => n)),
      ];
    }`;
    const plain = await runPlain(source);
    expect(plain.line).toBeNull();
    expect(await runCompiled(source)).toMatchObject({ ...plain, spreads: 11 });
  });

  const ENDLESS: readonly (readonly [string, string])[] = [
    ["a loop", "for (;;);"],
    ["a loop that catches", "for (;;) { try { for (;;); } catch {} }"],
    ["a loop that finally goes on", "outer: for (;;) { try { for (;;); } finally { continue outer } }"],
    ["a condition that does the work", "let n = 0; while (n++ >= 0);"],
    ["a loop at the top level", "0"],
    [
      "functions that call each other",
      "const f = () => { try { g() } catch {} g() }, g = () => { try { f() } catch {} f() }; f()",
    ],
    ["getters", "const o = { get a() { try { return this.a } catch {} return this.a } }; o.a"],
    [
      "constructors without a word",
      "let n = 30; class A { x = n > 0 ? (n--, [new A(), n++, new A()]) : 0 } for (;;) new A()",
    ],
    [
      "classes that extend a class",
      "const f = (n) => class extends (n > 0 ? (f(n - 1), f(n - 1)) : Object) {}; f(60)",
    ],
    ["a generator", "function* g() { for (;;) yield 1 } Array.from(g())"],
    ["a static block", "class A { static { for (;;); } }"],
    ["default values", "const f = (n, a = n > 0 ? f(n - 1) + f(n - 1) : 0) => a; f(60)"],
  ];

  it.each(ENDLESS)("can be stopped by the guard: %s", async (title, body) => {
    const top = title.endsWith("top level") ? "while (true) {}" : "";
    const source = `${top}\nexport default () => { ${body} }`;
    const { ticks } = await runCompiled(source, null, 1_000);
    expect(ticks).toBeGreaterThan(1_000);
  });

  it("throws at the lines of its source", async () => {
    const source = [
      "type A = {",
      "  a: number;",
      "};",
      "enum Color { Red,",
      "  Green }",
      "export default (event: A) => {",
      "  const f = (): never => {",
      "    for (const a of [1, 2]) {",
      "      if (a === Color.Green + 1) throw new Error(`${a}`);",
      "    }",
      "    return undefined as never;",
      "  };",
      "  return f();",
      "};",
    ];
    for (const lineBreak of ["\n", "\r\n"]) {
      expect(await runCompiled(source.join(lineBreak))).toMatchObject({ result: "Error: 2", line: 9 });
    }
  });

  it("finds nothing to import, whatever computes the name", async () => {
    const source = `export default async (event) => {
      const tried = [];
      for (const load of [() => import(event), () => import((0, event), {}), async () => { await import(/* ( */ event) }]) {
        try { await load() } catch (error) { tried.push(String(error)) }
      }
      return [tried, typeof import.meta, import.meta.url ?? null];
    }`;
    const message =
      'TypeError: Cannot find module "node:fs": a workflow is one module and can import nothing';
    const { result } = await runCompiled(source, "node:fs");
    expect(JSON.parse(result)).toEqual([[message, message, message], "object", null]);
  });
});

/** What is tried of TypeScript, and the body of a module that gives a value under the name `result`. */
const TYPED: readonly (readonly [string, string])[] = [
  [
    "annotations",
    "const f = (a: number, b?: string, ...c: readonly any[]): string => `${a}${b}${c}`; const result: string = f(1, 'x', 2)",
  ],
  [
    "aliases and interfaces",
    "type A = { a: 1 } | null\ninterface B extends Array<A> { b(): void; [key: string]: any }\nexport type { A }\nconst result = 1",
  ],
  [
    "enums",
    "enum E { A, B = 5, C, 'two words', S = 'str', T = A | B, U = 1 << 4 } const result = [E, E.B, E[5], E.S]",
  ],
  [
    "constant enums",
    "const enum E { A = 1, B } export const enum F { C = 'c' } const result = [E.A, E.B, F.C]",
  ],
  ["members of enums with any name", "enum E { default, class = 2, new, 'a-b' = 7, next } const result = E"],
  ["enums within functions", "const f = () => { enum E { A = 3 } return E.A }; const result = f()"],
  [
    "members of enums that are computed",
    "const n = 2; enum E { A = n * 2, B = A + 1, C = Math.max(1, 2) } const result = E",
  ],
  [
    "ambient declarations",
    "declare const a: unique symbol; declare function f(): void; declare class C { m(): void }\ndeclare enum E { A }\ndeclare global { interface X { a: 1 } }\ndeclare namespace N { const x: number; namespace M { const y: 1 } }\ndeclare module 'm' { export const z: 1 }\ndeclare let b: string\nconst result = 1",
  ],
  [
    "abstract classes",
    "abstract class A { abstract x: number; abstract get g(): number; abstract m(): void; abstract y; n() { return 1 } }\nclass B extends A { x = 2; get g() { return 3 } m() {} y = 4 }\nconst b = new B(); const result = [b.n(), b.x, b.g, b.y]",
  ],
  [
    "parameter properties",
    "class A { constructor(private a: number, public readonly b = 2, protected c?: string) { this.a += 1 } get sum() { return [this.a, this.b, this.c] } }\nconst result = [new A(1).sum, new A(1, 3, 'c')]",
  ],
  [
    "parameter properties of derived classes",
    "class A { n = 1 }\nclass B extends A { m = 5; constructor(private a: number, override readonly n: number) { const b = a * 2; super(); this.m += b } get sum() { return this.a + this.n + this.m } }\nconst result = new B(1, 2).sum",
  ],
  [
    "fields",
    "class A { x: number; y? = 1; z!: string; declare w: number; static s: number = 3; readonly r = 4; private #p?: number = 5; 'q'?: number; [k: string]: any; get p() { return this.#p } }\nconst a = new A(); const result = [Object.keys(a), a.p, A.s]",
  ],
  [
    "fields called like modifiers",
    "class A { get: number\nset?: number\nstatic!: number\nasync: any\nfoo() { return 1 } declare: 1 = 1; readonly = 2; abstract = 3; type; accessor = 4; override = 5 }\nconst a = new A(); const result = [Object.keys(a), a.foo(), typeof a.get]",
  ],
  [
    "methods",
    "class A { m?(): void; f(a: string): void; f(a: any) { return a } override g<T>(this: A, x: T): T { return x } async *h<T>(): AsyncGenerator<T> {} private static i() { return 1 } get a(): number { return 1 } set a(v: number) {} }\nconst result = [new A().f(1), new A().g(2), Object.getOwnPropertyNames(A.prototype)]",
  ],
  [
    "overloads",
    "export function f(a: string): void\nexport function f(a: number): void;\nexport function f(a: any) { return a }\nconst result = f(3)",
  ],
  [
    "type parameters",
    "const f = <T,>(x: T): T => x; const g = <const T extends readonly unknown[]>(x: T) => x; const h = async <T>(x: T): Promise<T> => x; function k<T, U = T>(x: T) { return x }\nclass C<in out T> extends Array<T> implements Iterable<T> { at2<U>(x: U) { return x } }\nconst result = [f(1), g([2]), await h(3), k(4), new C<number>().at2(5)]",
  ],
  [
    "type arguments",
    "const f = <T,>(x?: any): any => x; const m = new Map<string, Array<Array<number>>>([['a', [[1]]]]); const g = f<string>; const o = { f };\nconst result = [f<number>(1), [...m], g(2), o.f<string>(3), o?.f?.<string>(4), f<string[]>`x`.length]",
  ],
  [
    "assertions",
    "const a: any = { b: [{ c: 1 }] }; let d = a as unknown as { b: any }; (d as any).e = 1; const s = 'x' as const; const t = { u: 1 } satisfies object as object; const v = <any>a;\nconst result = [a!.b![0]!.c, d.b!.length, s, t, v.e, (a as any)?.b, a.b! as any, [...(a.b as any[])]]",
  ],
  [
    "predicates",
    "const f = (x: any): x is string => true; function g(x: any): asserts x is string {} function h(this: void, x: any): asserts x {} const result = [f(1), g(2), h(3)]",
  ],
  [
    "the parameter this",
    "function f(this: { a: number }, b: number) { return this.a + b } function g(this: any) { return arguments.length } const result = [f.call({ a: 1 }, 2), f.length, g()]",
  ],
  [
    "imports of types",
    "import type A from 'a'; import type { B } from 'b'; import { type C, type D } from 'c'; import { E } from 'e'; import F, * as G from 'f'; import type * as H from 'h'; let x: A | B | C | E | F | G.X | H.Y; export type * from 'i'; import type J = require('j'); const result = 1",
  ],
  ["types of imports", "let x: typeof import('a') | import('b').C = null as any; const result = x"],
  [
    "destructuring",
    "const { a, b: [c] }: { a: number; b: number[] } = { a: 1, b: [2] }; function f({ x }: { x?: number } = {}, [y]: any[] = [3]) { return [x, y] } const result = [a, c, f()]",
  ],
  ["catch clauses", "let result; try { throw 1 } catch (e: unknown) { result = e as number }"],
  [
    "conditionals with arrows",
    "const a = 1 as number; const f = a ? (b: number): number => b : (c) => c; const g = (a ? (a) : 2) as number; const result = [f(1), g]",
  ],
  [
    "types of functions",
    "type F = new (...a: any[]) => void; type G = abstract new () => object; type M = { readonly [K in keyof F as `a${string}`]?: F[K] }; type I<T> = T extends (infer U extends string)[] ? U : never; let f: (a: number, b?: (c: string) => void) => asserts a is 1; const result = typeof f",
  ],
  [
    "labels and names like keywords",
    "let type = 1, of = 3, as = 4, satisfies = 5, is = 6; let n: number = 0; declare: for (;;) { break declare } type = as as number; const result = [type, of, satisfies, is, n]",
  ],
  [
    "using",
    "const log: string[] = []; { using a: Disposable = { [Symbol.dispose]() { log.push('a') } }; await using b = { async [Symbol.asyncDispose]() { log.push('b') } } } const result = log",
  ],
  [
    "operators that look like types",
    "let a = 1, b: number = 2, c = 3; const result = [a < b, a < b && c > (b), a >> 1, a >>> 1, b >= c, (a as number) / 2, /a<b>/.source, a<b, c>b]",
  ],
  [
    "statements that end with a type",
    "const f = (x: any) => x; let n = 0\nconst a = f as any\n(n++)\nconst b = [1] as number[]\n[n++].length\nconst c = 't' as string\n`${n++}`\nconst result = [typeof a, b, c, n]",
  ],
  [
    "statements before declarations",
    "let n = 1, f = (x: any) => x\nconst a = f\ntype T = 1\n;(n++)\nconst b = f\ninterface I {}\n(n++)\nconst c = f\ndeclare let q: number\n[n++].length\nconst d = n\ntype U = 2\n+n\nconst result = [typeof a, typeof b, typeof c, d, n]",
  ],
  [
    "declarations that are all of a statement's body",
    "let n = 0\nif (false) interface I {}\nn++\nfor (const a of [1]) type = 2\nn++\nvar type: number\nconst result = n",
  ],
  [
    "arrows whose types stand on lines of their own",
    "const f = (a: number\n)\n: number => a\nconst g = async <\n  T,\n>(x: T) => x\nconst result = [f(1), await g(2)]",
  ],
  [
    "types with templates over lines",
    "type A = `a\n${string}b\n`; const result = new Error('x').stack?.includes('x')",
  ],
  [
    "decimals, big integers and other literals",
    "const a: bigint = 10n ** 20n; const b = 1_000.5; const c = 0b11 as number; const d = /[/]\\/(?<y>\\d{4})/u.exec('/2024')?.groups?.y!; const result = [`${a}`, b, c, d]",
  ],
];

/** Programs that end: statements of many kinds, in each other, with and without blocks and semicolons. */
const program = fc.letrec<{ statement: string; value: string }>((tie) => {
  const name = fc.constantFrom("a", "b", "c");
  const block = fc.array(tie("statement"), { maxLength: 3 }).map((parts) => `{ ${parts.join("\n")} }`);
  const body = fc.oneof(block, tie("statement"), fc.constant(";"));
  const counted = fc.tuple(name, body);
  return {
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom("1", "2", "a", "b", "c", "log.length", "`t${a}`", "/=>/.test('=>')"),
      fc
        .tuple(tie("value"), fc.constantFrom("+", "<", "in {} +", "&&", "??"), tie("value"))
        .map((parts) => `(${parts.join(" ")})`),
      tie("value").map((value) => `(() => ${value})()`),
      tie("value").map((value) => `((n = ${value}) => ({ n, m() { return this.n } }))().m()`),
      tie("value").map((value) => `(() => (log.push(0), ${value}))()`),
      block.map((inner) => `(function () ${inner})()`),
      block.map((inner) => `((n) => ${inner})(...[1])`),
      tie("value").map((value) => `[...[${value}], ...(log.length, [])].length`),
      tie("value").map((value) => `new (class { x = ${value}; get y() { return this.x } })().y`),
      block.map((inner) => `[...(function* () ${inner})()].length`),
      fc.tuple(tie("value"), tie("value"), tie("value")).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
    ),
    statement: fc.oneof(
      { maxDepth: 4 },
      fc.tuple(name, tie("value")).map(([target, value]) => `${target} = ${value}`),
      tie("value").map((value) => `log.push(${value});`),
      counted.map(([, inner]) => `for (let i = 0; i < 2; i++) ${inner}`),
      counted.map(([, inner]) => `for (const x of [1, 2]) ${inner}`),
      counted.map(([, inner]) => `for (const x in { p: 1, q: 2 }) ${inner}`),
      counted.map(([, inner]) => `{ let i = 0; while (i++ < 2) ${inner} }`),
      counted.map(([, inner]) => `{ let i = 0; do ${inner}\nwhile (++i < 2) }`),
      fc.tuple(tie("value"), body, body).map(([value, yes, no]) => `if (${value}) ${yes}\nelse ${no}`),
      fc
        .tuple(block, block)
        .map(([tried, last]) => `try { ${tried} throw 1 } catch (e) { log.push(e) } finally ${last}`),
      fc
        .tuple(body, block)
        .map(
          ([inner, last]) =>
            `void (function () { out: for (const x of [1, 2, 3]) { ${last} for (;;) { if (x > 1) break out; continue out } ${inner} } })()`,
        ),
      fc
        .tuple(name, tie("value"))
        .map(
          ([called, value]) =>
            `{ function f(n) { 'use strict'\nreturn n + ${called} } log.push(f(${value})) }`,
        ),
      tie("value").map((value) => `switch (${value}) { case 1: log.push('one'); default: log.push('more') }`),
    ),
  };
}).statement;

describe("any program", () => {
  it("gives, compiled, what it gave before", async () => {
    const programs = fc.array(program, { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(programs, async (statements) => {
        const body = `let a = 0, b = 1, c = 2; const log = [];\n${statements.join("\n")}\nreturn [a, b, c, log]`;
        const source = `export default async () => { ${body} }`;
        const { ticks, spreads, ...outcome } = await runCompiled(source, null, Number.MAX_SAFE_INTEGER);
        expect(outcome).toEqual(await runPlain(source));
        expect(ticks).toBeGreaterThan(0);
        expect(spreads).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 300 },
    );
  });

  it("keeps its lines through being TypeScript", () => {
    const types = fc.constantFrom(
      ": number",
      ": { a: 1;\n b: 2 }",
      " as any",
      "\nas any",
      "!",
      ": `a\nb` | 1",
      "",
    );
    const line = fc.oneof(
      types.filter((type) => type.startsWith(":")).map((type) => `let x${type} = 1;`),
      fc.constantFrom(
        "type T =\n  | 1\n  | 2",
        "interface I {\n  a: 1\n}",
        "enum E {\n A,\n B\n}",
        "declare let q: 1;",
      ),
      fc.constantFrom("f(() =>\n 1);", "/* a\n b */", "// c", "`d\n${1}`;", "for (;;)\n break;"),
    );
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 12 }),
        fc.constantFrom("\n", "\r\n", "\r"),
        (lines, lineBreak) => {
          const blocks = lines.map((each) => `{ const f = (_: unknown) => {};\n${each}\n}`);
          const text = [...blocks, "export default () => { throw new Error() }"].join("\n");
          const source = text.replaceAll("enum E", () => `enum E`).replaceAll("\n", lineBreak);
          const compilation = compile(source);
          const isTwice = lines.filter((each) => each.startsWith("enum")).length > 1;
          expect(compilation.ok).toBe(!isTwice);
          if (!compilation.ok) return;
          const position = compilation.module
            .split(lineBreak)
            .findIndex((each) => each.includes("throw new Error()"));
          expect(position).toBe(source.split(lineBreak).length - 1);
        },
      ),
    );
  });
});

describe("TypeScript", () => {
  it.each(TYPED)("means what it means elsewhere: %s", async (_, body) => {
    const source = `${body}\nexport default async (event: unknown) => result as any;\n`;
    const translated = await runTranslated(source);
    expect(translated.line).toBeNull();
    expect(await runCompiled(source)).toMatchObject(translated);
    expect(compiledModule(source).split("\n").length).toBe(source.split("\n").length + 2);
  });

  it("may be told from JavaScript by type arguments alone", async () => {
    const source = "const f = (x) => x; export default () => f<number>(1)";
    expect(await runCompiled(source)).toMatchObject({ result: "1" });
    const compared = "const a = 1, b = 2, c = 3; export default () => (a < b) > (c) || a < b && c > (b)";
    expect(await runCompiled(compared)).toMatchObject(await runPlain(compared));
  });

  it.each([
    ["a class", "export default abstract class A {}"],
    ["an interface", "export default interface A {}"],
  ])("takes no %s for a function", (_, source) => {
    expect(compile(source)).toMatchObject({ ok: false });
  });
});
