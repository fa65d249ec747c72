/** The TypeScript types that the package has in place of schemas. */
import { expect, it } from "vitest";
import * as z from "zod";
import { print } from "../../src/cli/package/plain-types.ts";

it("a description that has the end of a comment in it ends no comment", () => {
  const schema = z.object({ cron: z.string().meta({ description: "A step such as `*/15`." }) });
  const printed = print(schema, { direction: "output", nameOf: () => null, indent: "" });
  expect(printed).toBe("{\n  /** A step such as `*\\/15`. */\n  readonly cron: string;\n}");
});
