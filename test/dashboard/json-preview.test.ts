/** JSON in one short line. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { previewOf } from "../../src/dashboard/page/ui/json-preview.ts";

describe("the preview of a JSON value", () => {
  it.each([
    [{ title: "Buy milk", for: ["Bo"] }, '{"title":"Buy milk","for":["Bo"]}'],
    ["x".repeat(100), `"${"x".repeat(40)}…"`],
    [[], "[]"],
    [null, "null"],
    [undefined, "null"],
  ])("of %j is %s", (value, preview) => {
    expect(previewOf(value)).toBe(preview);
  });

  it("is the whole of a small value, and short for any other", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const [whole, preview] = [JSON.stringify(value), previewOf(value)];
        if (whole.length <= 40) expect(preview).toBe(whole);
        expect(preview.length).toBeLessThan(1_000);
      }),
    );
  });

  it("looks only at what it shows", () => {
    const huge = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`key ${index}`, index]));
    expect(previewOf(huge)).toMatch(/^\{"key 0":0,.+,…\}$/);
    let looks = 0;
    const watched = new Proxy(huge, {
      get: (target, key) => {
        looks += 1;
        return Reflect.get(target, key);
      },
    });
    previewOf(watched);
    expect(looks).toBeLessThan(20);
  });
});
