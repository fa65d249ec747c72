/** Messages about refused values: at the API, at sockets, for agents and in workflows. */

import { text } from "@atrium/contract/text.ts";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { explain } from "../../src/http/request-input.ts";
import { parseFrame } from "../../src/room/protocol/frame-parser.ts";
import { account } from "../support/api.ts";

const NAMED = z.union([
  text(1, 3),
  z.strictObject({ customId: text(1, 3) }),
  z.strictObject({ prefix: text(1, 3), length: z.int().optional() }),
]);
const SHAPE = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("circle"), radius: z.number() }),
  z.object({ kind: z.literal("square") }),
]);

describe("a refusal says what a value must be:", () => {
  it.each<[z.ZodType, unknown, string]>([
    [z.string(), 1, "body: must be a string"],
    [z.string(), null, "body: must be a string"],
    [z.string(), undefined, "body is required"],
    [z.number(), "1", "body: must be a number"],
    [z.int(), 1.5, "body: must be a whole number"],
    [z.boolean(), "true", "body: must be true or false"],
    [z.array(z.string()), {}, "body: must be an array"],
    [z.tuple([z.string()]), {}, "body: must be an array"],
    [z.object({}), [], "body: must be an object"],
    [z.record(z.string(), z.string()), null, "body: must be an object"],
    [z.null(), 1, "body: must be null"],
    [z.enum(["viewer", "editor"]), "owner", "body: must be one of viewer, editor"],
    [z.literal(true), false, "body: must be true"],
    [z.string().min(1), "", "body: must have at least 1 character"],
    [z.string().max(2), "abc", "body: must have at most 2 characters"],
    [z.string().length(2), "abc", "body: must have exactly 2 characters"],
    [z.array(z.string()).min(2), ["a"], "body: must have at least 2 items"],
    [z.array(z.string()).max(1), ["a", "b"], "body: must have at most 1 item"],
    [z.number().min(3), 2, "body: must be at least 3"],
    [z.number().max(3), 4, "body: must be at most 3"],
    [z.number().gt(3), 3, "body: must be more than 3"],
    [z.number().lt(3), 3, "body: must be less than 3"],
    [z.number().multipleOf(5), 3, "body: must be a multiple of 5"],
    [z.uuid(), "a", "body: must be a UUID"],
    [z.email(), "a", "body: must be an email address"],
    [z.url(), "a", "body: must be a URL"],
    [z.iso.datetime(), "a", "body: must be a time such as 2026-01-31T09:30:00Z"],
    [z.string().regex(/^a+$/), "b", "body: must match /^a+$/"],
    [z.object({ a: z.string() }), {}, "a is required"],
    [z.object({ a: z.enum(["b", "c"]) }), {}, "a is required"],
    [z.object({ a: z.array(z.int()) }), { a: [1, 2.5] }, "a.1: must be a whole number"],
    [z.strictObject({}), { a: 1, b: 2 }, "a: is not a known field; b: is not a known field"],
    [z.union([z.string(), z.null()]), 1, "body: must be a string, or must be null"],
    [z.object({ names: z.array(NAMED) }), { names: [1] }, "names.0: must be a string, or must be an object"],
    [z.object({ name: NAMED }), { name: "abcd" }, "name: must have 1 to 3 characters"],
    [z.object({ name: NAMED }), {}, "name is required"],
    [z.object({ name: NAMED }), { name: { customId: "" } }, "name.customId: must have 1 to 3 characters"],
    [z.object({ name: NAMED }), { name: {} }, "name: customId is required, or prefix is required"],
    [z.union([z.strictObject({ a: z.string() }), z.string()]), { a: "a", b: 1 }, "b: is not a known field"],
    [SHAPE, { kind: "line" }, "kind: must be one of circle, square"],
    [SHAPE, { kind: "circle" }, "radius is required"],
    [z.record(z.uuid(), z.string()), { a: "b" }, "a: has an entry that is not valid: must be a UUID"],
    [z.string().refine((value) => value === "a"), "b", "body: is not valid"],
    [z.string().refine((value) => value === "a", "must be a"), "b", "body: must be a"],
  ])("%#", (schema, value, sentence) => {
    const { error } = schema.safeParse(value);
    expect(error && explain(error, "body")).toBe(sentence);
  });

  it("in bodies, queries and frames alike", async () => {
    const { api } = await account();
    const messageOf = async (answer: Promise<{ error: { message: string } | null }>) =>
      (await answer).error?.message;
    expect(await messageOf(api.post("/identify", { customId: "a", name: "Ada", rooms: [{ id: 1 }] }))).toBe(
      "rooms.0: customId is required, or customIdPrefix is required",
    );
    expect(await messageOf(api.post("/identify", { customId: "a", name: "Ada", ttl: 1 }))).toBe(
      "ttl: must be at least 60",
    );
    expect(await messageOf(api.get("/rooms?sort=size"))).toMatch(/^sort: must be one of /);
    const frame = (data: object, type = "STORE_SET") => parseFrame(JSON.stringify({ type, data }));
    expect(frame({ store: "a", key: 1, value: 1 })).toMatchObject({
      fault: { message: "data.key: must be a string" },
    });
    expect(frame({ store: "a" })).toMatchObject({ fault: { message: "data.key is required" } });
    expect(frame({ text: "a", mentions: [1] }, "COMMENT_CREATE")).toMatchObject({
      fault: { message: "data.mentions.0: must be a string, or must be an object" },
    });
  });
});
