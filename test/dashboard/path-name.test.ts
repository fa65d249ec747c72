/** Names in the addresses of pages. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { nameInPath, pathPartOf } from "../../src/dashboard/page/data/path-name.ts";

it("any name is one part of a path, and comes back from the router", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (name) => {
      const part = pathPartOf(name);
      expect(part).not.toMatch(/[/?#]/);
      expect(nameInPath(decodeURI(part))).toBe(name);
    }),
    { examples: [["notes/today"], ["100%"], ["a%2Fb"], ["why? #1"], ["my notes"]] },
  );
});

it("an address that a person has typed is taken as it is", () => {
  expect([nameInPath("my notes"), nameInPath("100%")]).toEqual(["my notes", "100%"]);
});
