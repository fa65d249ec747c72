/** Compiled programs throw errors with the lines of their source, and import nothing. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the programs here hold templates.
import { describe, expect, it } from "vitest";
import { runCompiled } from "./compiled.ts";

describe("a compiled program", () => {
  it("throws errors with the lines of its source", async () => {
    const source = [
      "type A = {",
      "  a: number;",
      "};",
      "const Color = { Red: 0, Green: 1 } satisfies",
      "  Record<string, number>;",
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
