/** Compiled TypeScript behaves the same as when another compiler translates it. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the programs here hold templates.
import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { transformSync } from "esbuild";
import { describe, expect, it } from "vitest";
import { eraseTypes } from "../../../src/sandbox/compile/compile.ts";
import { compiledModule, runCompiled, runPlain, runTranslated } from "./compiled.ts";
import { ROOT } from "./processes.ts";

/** A feature of TypeScript, and the body of a module that declares `result`. */
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
    "ambient declarations",
    "declare const a: unique symbol; declare function f(): void; declare class C { m(): void }\ndeclare enum E { A }\ndeclare global { interface X { a: 1 } }\ndeclare namespace N { const x: number; namespace M { const y: 1 } }\ndeclare module 'm' { export const z: 1 }\ndeclare let b: string\nconst result = 1",
  ],
  [
    "abstract classes",
    "abstract class A { abstract x: number; abstract get g(): number; abstract m(): void; abstract y; n() { return 1 } }\nclass B extends A { x = 2; get g() { return 3 } m() {} y = 4 }\nconst b = new B(); const result = [b.n(), b.x, b.g, b.y]",
  ],
  [
    "fields",
    "class A { x: number; y? = 1; z!: string; declare w: number; static s: number = 3; readonly r = 4; #p?: number = 5; private q2 = 6; 'q'?: number; [k: string]: any; get p() { return this.#p } }\nconst a = new A(); const result = [Object.keys(a), a.p, A.s]",
  ],
  [
    "fields called like modifiers",
    "class A { get: number\nset?: number\nstatic!: number\nasync: any\nfoo() { return 1 } declare: 1 = 1; readonly = 2; abstract = 3; type; accessor = 4; override = 5 }\nconst a = new A(); const result = [Object.keys(a), a.foo(), typeof a.get]",
  ],
  [
    "methods",
    "class A { m?(): void; f(a: string): void; f(a: any) { return a } g<T>(this: A, x: T): T { return x } async *h<T>(): AsyncGenerator<T> {} private static i() { return 1 } get a(): number { return 1 } set a(v: number) {} }\nconst result = [new A().f(1), new A().g(2), Object.getOwnPropertyNames(A.prototype)]",
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
    "let n = 0\nif (false) { interface I {} }\nn++\nfor (const a of [1]) type = 2\nn++\nvar type: number\nconst result = n",
  ],
  [
    "arrows whose types stand on lines of their own",
    'const f = (a: number\n): {\n  b: number\n}["b"] => a\nconst g = async <\n  T,\n>(x: T) => x\nconst result = [f(1), await g(2)]',
  ],
  [
    "templates with text around what they hold",
    "const a: number = 1; const result = [`${a} and ${a as any};`, ` ${a}\n ${a!} `, String.raw<any>` ;${a} `]",
  ],
  [
    "types with templates over lines",
    "type A = `a\n${string}b\n`; const result = new Error('x').stack?.includes('x')",
  ],
  [
    "decimals, big integers and other literals",
    "const a: bigint = 10n ** 20n; const b = 1_000.5; const c = 0b11 as number; const d = /[/]\\/(?<y>\\d{4})/u.exec('/2024')?.groups?.y!; const result = [`${a}`, b, c, d]",
  ],
  [
    "types without a space around them",
    "const x: any = 'a'; const f = (): string=>{ return<any>x }; let n: any = 1; const result = [f(), typeof<any>x, +<any>+n, -<any>-n, n, await<any>x, 'length' as any in[], [...x as any[]], void<any>0]",
  ],
  [
    "type arguments before declarations",
    "const f = (x?: any): any => 'f'; let n = 0\nconst a = f<string>\ninterface I { type: 1\n}\n(n++)\nconst b = f<{\n  type: 1\n}>\n(n++)\nconst result = [typeof a, b, n]",
  ],
];

describe("TypeScript", () => {
  it.each(TYPED)("has the same meaning as elsewhere: %s", async (_, body) => {
    const source = `${body}\nexport default async (event: unknown) => result as any;\n`;
    const translated = await runTranslated(source);
    expect(translated.line).toBeNull();
    expect(await runCompiled(source)).toMatchObject(translated);
    expect(compiledModule(source).split("\n").length).toBe(source.split("\n").length);
  });

  it("is erased from large programs as by another compiler, and JavaScript stays as it is: the sources of the SDK and of workflows", async () => {
    const options = { minifySyntax: true, minifyWhitespace: true, legalComments: "none" } as const;
    for (const name of globSync("src/{sdk,workflows,sandbox}/**/*.ts", { cwd: ROOT })) {
      const source = await readFile(path.join(ROOT, name), "utf8");
      const erased = transformSync(eraseTypes(source).code, { ...options, loader: "js" });
      expect([name, erased.code]).toEqual([name, transformSync(source, { ...options, loader: "ts" }).code]);
      const javascript = transformSync(source, { loader: "ts" }).code;
      expect([name, eraseTypes(javascript).code]).toEqual([name, javascript]);
    }
  });

  it("is recognized by type arguments alone", async () => {
    const source = "const f = (x) => x; export default () => f<number>(1)";
    expect(await runCompiled(source)).toMatchObject({ result: "1" });
    const compared = "const a = 1, b = 2, c = 3; export default () => (a < b) > (c) || a < b && c > (b)";
    expect(await runCompiled(compared)).toMatchObject(await runPlain(compared));
  });
});
