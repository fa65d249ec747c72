/** Compiled programs behave as before, and pass through the guard. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the programs here hold templates.
import { describe, expect, it } from "vitest";
import { runCompiled, runPlain } from "./compiled.ts";

/** A description, the body of the default export, and how often the guard is called, counting the export itself. */
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
  it.each(GUARDED)(
    "returns what it returned before, and calls the guard each time: %s",
    async (_, body, ticks) => {
      const source = `export default async function () { ${body} }`;
      const plain = await runPlain(source);
      expect(plain.line).toBeNull();
      expect(await runCompiled(source)).toMatchObject({ ...plain, ticks });
    },
  );

  it("passes only spreads, for…in objects, shift counts and exponents to the guard", async () => {
    const source = `export default () => {
      const list = [2, 3], more = [4];
      const sum = (...all) => all.reduce((a, b) => a + b, 0);
      class Kept { constructor(...all) { this.all = all } }
      class Handed extends Kept { constructor(...all) { super(...all) } }
      const [first, ...rest] = list;
      const { length, ...kept } = { length: 1, a: 2 };
      const keys = [];
      for (const key in (0, list)) keys.push(key);
      let n = 2n;
      n <<= 1n;
      n **= 2n;
      return [
        keys, String(n), 1 << 2, 2 ** 3 ** 2, kept,
        [1, ...list, ...(0, more)], sum(...list), sum?.(...list), new Handed(...list).all,
        { ...list }, first, rest, [...list, ...[...more]], [...(() => list)()], sum(...list.map((n) => n)),
      ];
    }`;
    const plain = await runPlain(source);
    expect(plain.line).toBeNull();
    expect(await runCompiled(source)).toMatchObject({ ...plain, spreads: 18 });
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

  it("throws errors with the lines of its source", async () => {
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

  it("cannot import anything, however the name is computed", async () => {
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
