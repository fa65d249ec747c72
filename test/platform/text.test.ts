/** The strings of the wire, and the fold by which they are searched. */

import { byteLength, codePoints, cutToBytes, fold, Name, WebUrl } from "@atrium/contract/text.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

const character = fc.string({ unit: "binary", minLength: 1, maxLength: 1 });

describe("names", () => {
  it.each(["x", "Ärger", "שלום \u202Eעולם", "👩‍👩‍👧‍👦", "%_\\'\";--", "x".repeat(255), "😀".repeat(255)])(
    "takes %j",
    (name) => {
      expect(Name.safeParse(name).success).toBe(true);
    },
  );

  it.each(["", "x".repeat(256), "😀".repeat(256), "a\0b", "\ud800", "x\udc00y", 7, null, ["x"]])(
    "refuses %j",
    (name) => {
      expect(Name.safeParse(name).success).toBe(false);
    },
  );

  it("counts characters, not UTF-16 units", () => {
    expect(codePoints("a😀é")).toBe(3);
  });
});

it("the size of a text is that of its UTF-8, whatever is in it and however long it is", () => {
  const sizeOf = (value: string) => new TextEncoder().encode(value).byteLength;
  const units = fc.array(fc.oneof(fc.nat(0x7f), fc.nat(0xffff), fc.integer({ min: 0xd800, max: 0xdfff })));
  fc.assert(
    fc.property(units, fc.constantFrom(1, 100), (codes, times) => {
      const value = String.fromCharCode(...codes).repeat(times);
      expect(byteLength(value)).toBe(sizeOf(value));
    }),
  );
});

it("a text that is cut to some bytes keeps as many whole characters as fit", () => {
  expect(["abc", "a😀é", "😀", ""].map((text) => cutToBytes(text, 4))).toEqual(["abc", "a", "😀", ""]);
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.nat(20), (text, bytes) => {
      const cut = cutToBytes(text, bytes);
      expect(text.startsWith(cut) && byteLength(cut) <= bytes).toBe(true);
    }),
  );
});

describe("addresses", () => {
  it.each(["https://example.com/a.png", "http://localhost:8000/x?y#z"])("takes %s", (url) => {
    expect(WebUrl.safeParse(url).success).toBe(true);
  });

  it.each([
    "",
    "example.com",
    "javascript:alert(1)",
    "data:text/html,x",
    "ftp://example.com",
    `https://x.test/${"a".repeat(2048)}`,
  ])("refuses %s", (url) => {
    expect(WebUrl.safeParse(url).success).toBe(false);
  });
});

describe("the search fold", () => {
  it.each([
    ["ÄRGER", "ärger"],
    ["ПРИВЕТ", "привет"],
    ["ΟΔΟΣ", "οδος"],
    ["οδοσ", "οδος"],
    ["STRASSE", "straße"],
    ["ẞ", "ß"],
    ["\u212A", "k"],
    ["\u01C5", "\u01C6"],
    ["caf\u00e9", "CAFE\u0301"],
    ["\uac01", "\u1100\u1161\u11a8"],
    ["\u1fb4", "\u03b1\u0345\u0301"],
    ["q\u0323\u0307", "q\u0307\u0323"],
    ["\u212b", "a\u030a"],
  ])("brings %s and %s together", (a, b) => {
    expect(fold(a)).toBe(fold(b));
  });

  it("is equal for every character's upper and lower case", () => {
    fc.assert(
      fc.property(character, (char) => {
        expect(fold(char.toLowerCase())).toBe(fold(char));
        expect(fold(char.toUpperCase())).toBe(fold(char));
        expect(fold(char.normalize("NFD"))).toBe(fold(char.normalize("NFC")));
      }),
    );
  });

  it("folds a part of a text to a part of the folded text", () => {
    const text = fc.string({ unit: "binary", maxLength: 8 });
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(fold(a + b)).toBe(fold(a) + fold(b));
      }),
    );
  });

  it("keeps apart what differs in more than case", () => {
    for (const [a, b] of [
      ["e", "é"],
      ["%", "_"],
      ["a", "а"],
    ] as const)
      expect(fold(a)).not.toBe(fold(b));
  });
});
