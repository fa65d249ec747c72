/** JSON bodies at the limits of size and depth, and with duplicate keys. */
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { MAX_BODY_BYTES, MAX_DEPTH, readBody } from "../../src/http/request-input.ts";
import { isTooDeep } from "../../src/platform/text.ts";
import type { Room } from "../../src/wire/room.ts";
import { account } from "../support/api.ts";

const depthOf = (value: unknown): number =>
  typeof value === "object" && value !== null
    ? 1 + Math.max(0, ...Object.values(value as object).map(depthOf))
    : 0;

const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

describe("depth", () => {
  it("is that of the parsed value, whatever its strings contain", () => {
    const brackets = fc.constantFrom("[", "]", "{", "}", '"', "\\", '\\"[', "x");
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 40 },
        fc.array(brackets).map((parts) => parts.join("")),
        tie("array"),
        tie("object"),
      ),
      array: fc.array(tie("value"), { maxLength: 2 }),
      object: fc.dictionary(brackets, tie("value"), { maxKeys: 2 }),
    }));
    const wrapped = fc.tuple(value, fc.nat(40)).map(([inner, levels]) => {
      let outer: unknown = inner;
      for (let i = 0; i < levels; i += 1) outer = i % 2 === 0 ? [outer] : { '"]': outer };
      return outer;
    });
    fc.assert(
      fc.property(wrapped, fc.constantFrom(0, 2), fc.nat(MAX_DEPTH), (any, indent, max) => {
        expect(isTooDeep(JSON.stringify(any, null, indent), max)).toBe(depthOf(any) > max);
      }),
    );
  });

  it("is allowed up to the limit", () => {
    expect([isTooDeep(nested(MAX_DEPTH), MAX_DEPTH), isTooDeep(nested(MAX_DEPTH + 1), MAX_DEPTH)]).toEqual([
      false,
      true,
    ]);
  });

  it("is found out without a look at each character where little nests", () => {
    const looks = vi.spyOn(String.prototype, "charCodeAt");
    try {
      expect(isTooDeep(JSON.stringify({ data: "x".repeat(60_000) }), MAX_DEPTH)).toBe(false);
      expect(looks).not.toHaveBeenCalled();
    } finally {
      looks.mockRestore();
    }
  });

  it("does not count what strings contain, however much that is", () => {
    const brackets = "[".repeat(MAX_DEPTH + 1);
    expect(isTooDeep(JSON.stringify([brackets]), MAX_DEPTH)).toBe(false);
    expect(isTooDeep(JSON.stringify([brackets]), 0)).toBe(true);
  });
});

describe("size", () => {
  const bytes = (size: number) => new Uint8Array(size).fill(0x20);
  const post = (body: BodyInit) => new Request("https://atrium.test", { method: "POST", body });
  const chunked = (size: number) =>
    post(
      new ReadableStream({
        start(controller) {
          for (let sent = 0; sent < size; sent += 1000)
            controller.enqueue(bytes(Math.min(1000, size - sent)));
          controller.close();
        },
      }),
    );

  it.each([0, 1, 999, 1000, 1001, MAX_BODY_BYTES])("of %d bytes is read whole", async (size) => {
    for (const request of [post(bytes(size)), chunked(size)]) {
      expect(await readBody(request, "Rooms")).toEqual(bytes(size));
    }
  });

  it("is refused one byte above the limit", async () => {
    for (const request of [post(bytes(MAX_BODY_BYTES + 1)), chunked(MAX_BODY_BYTES + 1)]) {
      await expect(readBody(request, "Rooms")).rejects.toMatchObject({
        code: "BAD_REQUEST",
        module: "Rooms",
      });
    }
  });
});

describe("duplicate keys", () => {
  it("keep their last value", async () => {
    const { api } = await account();
    const answer = await api.send<{ room: Room }>("POST", "/rooms", {
      body: '{"name":7,"customId":"a","name":"first","name":"last","customId":"b"}',
      headers: { "Content-Type": "application/json" },
    });
    expect(answer.data.room).toMatchObject({ name: "last", custom_id: "b" });
  });
});
