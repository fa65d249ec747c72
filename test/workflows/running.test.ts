/** Runs of programs that mean well: what they are given, and what is told of them. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { runnerOf } from "../../src/workflows/runner-of.ts";
import { runProgram, stage } from "./support.ts";

const runner = runnerOf(env);
const at = await stage();
const run = (module: string, options = {}) => runProgram(runner, at, module, options);

describe("a run", () => {
  it("gives what the function returns as JSON", async () => {
    const report = await run("export default async (event) => ({ hello: event.data.userId });");
    expect(report).toMatchObject({ status: "success", result: '{"hello":"ada"}', logs: [] });
  });

  it("tells of an error by the line and the functions of the program", async () => {
    const module = `
export default function greet() {
  const nobody = undefined;
  return deeper(nobody);
}
function deeper(somebody) {
  return somebody.name;
}`;
    expect(await run(module)).toMatchObject({
      status: "failed",
      result:
        "TypeError: Cannot read properties of undefined (reading 'name') (line 7)\n    at deeper (line 7)\n    at greet (line 4)",
    });
  });

  it("keeps what is logged", async () => {
    const { logs } = await run(
      `export default () => { console.log("a", 1, { b: [true] }); console.warn(new Error("x")); };`,
    );
    expect(logs).toMatchObject([
      { level: "log", message: 'a 1 {"b":[true]}' },
      { level: "warn", message: "Error: x" },
    ]);
  });

  it("ends an endless loop", async () => {
    const report = await run("export default () => { for (;;) {  } };");
    expect(report).toMatchObject({
      status: "failed",
      result: "The workflow ran for more than 500 ms without a pause",
    });
  });
});
