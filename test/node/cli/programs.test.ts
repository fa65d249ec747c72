/** Generated programs, whole ones and broken pieces: compiling keeps their lines, or says where they are wrong. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the programs here hold templates.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeStarter, type ProgramProcess } from "../../../src/cli/service/pool/program-process.ts";
import { compile } from "../../../src/sandbox/compile/compile.ts";
import { parseProgram } from "../../../src/sandbox/compile/syntax.ts";

describe("any generated program", () => {
  it("keeps its line numbers when it is TypeScript", () => {
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
        "const v = (a: {\n b: 1 }): {\n c: 1 } => a as any",
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
          const source = text.replaceAll("\n", lineBreak);
          const compilation = compile(source);
          expect(compilation.ok).toBe(true);
          if (!compilation.ok) return;
          const position = compilation.module
            .split(lineBreak)
            .findIndex((each) => each.includes("throw new Error()"));
          expect(position).toBe(source.split(lineBreak).length - 1);
        },
      ),
    );
  });

  it("compiles or fails with a line and column, however broken it is", () => {
    const words =
      "let const x a type = : => ( ) { } [ ] < > , ; . ? ! ` ${ ' \" / * + - @ # as satisfies enum namespace declare " +
      "abstract class extends constructor private super this function async await yield return import export default " +
      "from interface get set static accessor readonly is keyof infer new for of in while do if else try catch 1 1n " +
      "/a/ 'b' `c` // /* */ \n \r\n \u2028 \uFEFF 😀 \\u0041 ... ?. ?? ** => any";
    const word = fc.constantFrom(...words.split(" "));
    const piece = fc.oneof(
      word,
      fc.constantFrom("let y: 1 = 1;", "declare enum E { A }", "class A<T> { x?: T }"),
      fc.constantFrom("(function* () { yield [...[1]] })()", "new (class { get y() { return this.x } })().y"),
      fc.constantFrom(
        "out: for (const x in { p: 1 }) { continue out }",
        "try { throw 1 } catch (e) {} finally {}",
      ),
    );
    const source = fc.array(fc.tuple(piece, fc.constantFrom(" ", " ", "", "\n")), { maxLength: 30 });
    fc.assert(
      fc.property(source, (pieces) => {
        const text = `${pieces.flat().join("")}\nexport default () => {}`;
        const compilation = compile(text);
        if (compilation.ok) {
          expect(() => parseProgram(compilation.module, "javascript")).not.toThrow();
          return;
        }
        const { line, column } = compilation.problem;
        const lines = text.replace(/^\uFEFF/, "").split(/\r\n|[\n\r\u2028\u2029]/);
        expect(line).toBeLessThanOrEqual(lines.length);
        expect(column).toBeLessThanOrEqual((lines[line - 1] ?? "").length + 2);
        expect(Math.min(line, column)).toBeGreaterThan(0);
      }),
      { numRuns: 3_000 },
    );
  });
});

// System limits of a process for programs.

const DATA_MB = 1024;

/** A process whose Worker does this as it starts. */
async function start(source: string): Promise<ProgramProcess> {
  const folder = await mkdtemp(path.join(tmpdir(), "atrium-process-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const config = path.join(folder, "workerd.capnp");
  const code = JSON.stringify(`${source}; export default {};`);
  await writeFile(
    config,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [(name = "main", worker = .main)], sockets = []);
const main :Workerd.Worker = (
  modules = [(name = "main.js", esModule = ${code})],
  compatibilityDate = "2026-10-01",
);
`,
  );
  const process = makeStarter(folder, config, DATA_MB)();
  onTestFinished(() => process.kill());
  return process;
}

/** Allocates `mib` MiB outside of V8's heap. */
const holding = (mib: number) =>
  `const kept = Array.from({ length: ${mib} }, () => new Uint8Array(1024 * 1024))`;

it("is enough for what programs may use", async () => {
  await (await start(holding(256))).ready;
});

it.runIf(process.platform === "linux")(
  "ends one that takes more memory outside of its heap, however fast it does",
  async () => {
    const greedy = await start(holding(1024));
    await expect(greedy.ready).rejects.toThrow("could not start");
    expect(await greedy.ended).toBe(true);
  },
);
