/** Cleaned file names are safe everywhere and survive a round trip through a header. */
import { create, parse } from "content-disposition";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cleanName, MAX_NAME_BYTES } from "../../src/features/files/file-name.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text).byteLength;

describe("a cleaned name", () => {
  it.each<readonly [given: string, cleaned: string]>([
    ["plan.png", "plan.png"],
    ["../../etc/passwd", "passwd"],
    ["C:\\Users\\Ada\\plan.png", "plan.png"],
    ["/absolute", "absolute"],
    ["a\r\nSet-Cookie: x=1.txt", "aSet-Cookie: x=1.txt"],
    ["nul\u0000.txt", "nul.txt"],
    ["gp\u202egpj.exe", "gpgpj.exe"],
    ["e\u0301.txt", "\u00e9.txt"],
    ["  spaced.txt  ", "spaced.txt"],
    [".htaccess", ".htaccess"],
    ['quo"te;%41.txt', 'quo"te;%41.txt'],
    ["👩‍👩‍👧.png", "👩‍👩‍👧.png"],
    ["\ud800.txt", "\ufffd.txt"],
    [`${"x".repeat(300)}.png`, `${"x".repeat(251)}.png`],
    ["😀".repeat(300), "😀".repeat(63)],
    [`${"x".repeat(300)}.${"y".repeat(20)}`, "x".repeat(255)],
    ...["", ".", "..", "...", " . ", "folder/", "\\", "\u0001", "\u202e"].map((name) => [name, ""] as const),
  ])("of %j is %j", (given, cleaned) => {
    expect(cleanName(given)).toBe(cleaned);
  });

  const anyName = fc.oneof(
    fc.string({ unit: "binary", maxLength: 400 }),
    fc.string({ unit: "grapheme", maxLength: 400 }),
  );

  it("is short and safe for any input, and cleaning it again changes nothing", () => {
    fc.assert(
      fc.property(anyName, (given) => {
        const name = cleanName(given);
        expect(bytesOf(name)).toBeLessThanOrEqual(MAX_NAME_BYTES);
        expect(name).toMatch(/^[^/\\\p{Cc}\u202a-\u202e\u2066-\u2069]*$/u);
        expect(name.isWellFormed()).toBe(true);
        expect(name).not.toMatch(/^\.+$/);
        expect(cleanName(name)).toBe(name);
      }),
    );
  });

  it("survives a round trip through Content-Disposition", () => {
    fc.assert(
      fc.property(anyName, (given) => {
        const name = cleanName(given);
        const header = create(name);
        expect(header).toMatch(/^[\x20-\x7e]*$/);
        expect(parse(header).parameters.filename).toBe(name);
      }),
    );
  });
});
