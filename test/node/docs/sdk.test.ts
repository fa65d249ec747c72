/** The generated methods of `atrium/server` are those that the endpoints declare. */

import { parseSignature } from "@atrium/contract/openapi/sdk-signature.ts";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { generateServerSdk } from "../../../src/cli/package/server-sdk.ts";
import { endpointsFor } from "../../../src/http/endpoint.ts";
import { scrolling } from "../../../src/http/lists.ts";
import { runCli } from "../cli/processes.ts";

it("packages/sdk/server/generated.ts is what `npm run dev -- sdk` writes", { timeout: 120_000 }, async () => {
  expect(await runCli("sdk.ts", ["--check"])).toMatchObject({ exitCode: 0, stdout: "", stderr: "" });
});

it("a signature that does not fit its endpoint is refused", { timeout: 120_000 }, async () => {
  const { endpoint } = endpointsFor({ module: "Rooms" });
  const generate = (sdk: string) =>
    generateServerSdk([
      endpoint({
        ...{ method: "POST", path: "/rooms/:roomId/bells", operation: "ring", summary: "Ring a bell", sdk },
        body: z.object({ tone: z.string(), times: z.int().optional() }),
        done: "Rung",
        data: z.object({ bell: z.string() }),
        handle: async () => ({ bell: "" }),
      }),
    ]);
  expect(await generate("bells.ring(roomId, tone): bell")).toContain(
    'this.only("bell", this.rest.post(["rooms", roomId, "bells"], { tone }))',
  );
  await expect(generate("bells.ring(roomId, times?): bell")).rejects.toThrow("No argument has tone");
  await expect(generate("bells.ring(tone): bell")).rejects.toThrow("No argument has roomId");
  await expect(generate("bells.ring(roomId, tone): sound")).rejects.toThrow(
    "The response has no field sound",
  );
});

it("a name of arguments is refused where another endpoint has it for other fields, or for a page of them", async () => {
  const { endpoint } = endpointsFor({ module: "Rooms" });
  const list = (operation: string, sdk: string | string[], query: z.ZodObject) =>
    endpoint({
      ...{ method: "GET", path: `/bells/${operation}`, operation, summary: "Bells", sdk, query },
      done: "Bells retrieved",
      data: z.object({ bells: z.array(z.string()) }),
      handle: async () => ({ bells: [] }),
    });
  const loud = z.object({ loud: z.string().optional() });
  const bells = ["bells.list(filter?: BellFilter): data", "bells.each(filter?: BellFilter): each bells"];
  const paged = list("listBells", bells, loud.extend(scrolling));
  const beside = (query: z.ZodObject, sdk = "bells.names(filter?: BellFilter): bells") =>
    generateServerSdk([paged, list("nameBells", sdk, query)]);
  const refusal = "BellFilter has other fields in listBells";
  expect(await beside(loud.extend(scrolling))).toContain("The arguments of `listBells`, `nameBells`.");
  await expect(beside(loud)).rejects.toThrow(refusal);
  await expect(beside(z.object({ old: z.string().optional() }))).rejects.toThrow(refusal);
  const old = loud.extend({ ...scrolling, old: z.string().optional() });
  await expect(beside(old, "bells.eachName(filter?: BellFilter): each bells")).rejects.toThrow(refusal);
});

describe("a signature", () => {
  const plain = { type: undefined, isOptional: false, byDefault: undefined, fields: undefined };

  it("has an owner, arguments and the field that is returned", () => {
    expect(parseSignature("threads.markAsRead(roomId, seq?): thread")).toEqual({
      ...{ owner: "threads", method: "markAsRead", result: "field", field: "thread", type: undefined },
      args: [
        { ...plain, name: "roomId" },
        { ...plain, name: "seq", isOptional: true },
      ],
    });
  });

  it("may have types, defaults and fields of an argument, and commas inside of them", () => {
    const { args } = parseSignature('f(a?: Pick<Scroll, "limit" | "after">, b = null, { userId, file })');
    expect(args).toEqual([
      { ...plain, name: "a", type: 'Pick<Scroll, "limit" | "after">', isOptional: true },
      { ...plain, name: "b", byDefault: "null" },
      { ...plain, name: "", fields: ["userId", "file"] },
    ]);
  });

  it("returns nothing, the whole response, a field or the items of all pages", () => {
    const resultOf = (text: string) => {
      const { result, field, type } = parseSignature(`f()${text}`);
      return [result, field, type];
    };
    expect(resultOf("")).toEqual(["nothing", "", undefined]);
    expect(resultOf(": data")).toEqual(["data", "", undefined]);
    expect(resultOf(": RoomWithUsers")).toEqual(["data", "", "RoomWithUsers"]);
    expect(resultOf(": responses as readonly BatchResponse[]")).toEqual([
      ...["field", "responses", "readonly BatchResponse[]"],
    ]);
    expect(resultOf(": each users as UserWithToken")).toEqual(["each", "users", "UserWithToken"]);
  });

  it("is rejected if it is something else", () => {
    expect(() => parseSignature("threads.list")).toThrow('sdk: "threads.list" is no signature');
    expect(() => parseSignature("f(a b)")).toThrow('sdk: "a b" is no argument');
  });
});
