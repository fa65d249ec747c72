/** Cleaned file names are safe everywhere and survive a round trip through a header. */
import { create, parse } from "content-disposition";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cleanName } from "../../src/features/files/file-name.ts";
import {
  cleanType,
  isShownInline,
  parseTypeFilter,
  servedType,
} from "../../src/features/files/storage/media-type.ts";

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
        expect(bytesOf(name)).toBeLessThanOrEqual(255);
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

describe("a media type", () => {
  it.each<readonly [given: string | undefined, kept: string]>([
    ["image/png", "image/png"],
    ["IMAGE/PNG", "image/png"],
    [" Text/Plain; charset=UTF-8 ", "text/plain; charset=UTF-8"],
    ['text/plain;charset="utf-8"', 'text/plain;charset="utf-8"'],
    ["application/vnd.example+json", "application/vnd.example+json"],
    ...[
      undefined,
      "",
      "png",
      "/",
      "image/",
      "image/png/x",
      "text/html; charset=utf-7\tx",
      "text/html;",
      "text/html; charset",
      "text/plain\r\nX: y",
      "тип/текст",
      `text/${"x".repeat(300)}`,
    ].map((given) => [given, "application/octet-stream"] as const),
  ])("%j is kept as %j", (given, kept) => {
    expect(cleanType(given)).toBe(kept);
  });

  it.each(["image/png", "image/jpeg", "image/gif; x=y", "image/webp", "audio/mpeg", "video/mp4"])(
    "%s is shown inline",
    (type) => {
      expect(isShownInline(type)).toBe(true);
    },
  );

  it.each([
    "text/html",
    "image/svg+xml",
    "text/xml",
    "application/xhtml+xml",
    "application/pdf",
    "text/plain",
  ])("%s is an attachment under its own type", (type) => {
    expect([isShownInline(type), servedType(type)]).toEqual([false, type]);
  });

  it.each([
    "text/javascript",
    "application/javascript; charset=utf-8",
    "application/x-javascript",
    "text/ecmascript",
    "text/javascript1.5",
    "text/jscript",
    "text/livescript",
    "text/css",
  ])("%s is served as application/octet-stream", (type) => {
    expect([isShownInline(type), servedType(type)]).toEqual([false, "application/octet-stream"]);
  });
});

it.each<readonly [given: string, meant: string | null]>([
  ["image/png", "image/png"],
  ["Image/PNG; q=1", "image/png"],
  ["image/", "image/"],
  ["image/*", "image/"],
  ...["", "image", "/", "/png", "*/*", "*/png", "a/b/c", "image/png,image/gif"].map(
    (given) => [given, null] as const,
  ),
])("a filter %j means %j", (given, meant) => {
  expect(parseTypeFilter(given)).toBe(meant);
});
