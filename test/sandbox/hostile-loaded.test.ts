/** Hostile programs, by the Worker Loader. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { selectRunner } from "../../src/sandbox/runners/select-runner.ts";
import { runProgram, stage } from "../workflows/support.ts";
import { describeRunner } from "./runner-contract.ts";

const makeRunner = () => selectRunner(env);

describeRunner("the loader runner", makeRunner);

describe("a regular expression that would backtrack for ever", () => {
  it.each(['/^(a+)+$/.test("a".repeat(40) + "b")', '/a*a*a*a*b/.test("a".repeat(20_000))'])(
    "is answered: %s",
    async (expression) => {
      const report = await runProgram(makeRunner(), await stage(), `export default () => ${expression};`);
      expect(report).toMatchObject({ status: "success", result: "false" });
    },
  );
});
