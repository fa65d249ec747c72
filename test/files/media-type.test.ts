/** Media types: parsing, filtering, and which types are served inline. */
import { describe, expect, it } from "vitest";
import {
  cleanType,
  isShownInline,
  parseTypeFilter,
  servedType,
} from "../../src/features/files/storage/media-type.ts";

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

describe("a filter", () => {
  it.each<readonly [given: string, meant: string | null]>([
    ["image/png", "image/png"],
    ["Image/PNG; q=1", "image/png"],
    ["image/", "image/"],
    ["image/*", "image/"],
    ...["", "image", "/", "/png", "*/*", "*/png", "a/b/c", "image/png,image/gif"].map(
      (given) => [given, null] as const,
    ),
  ])("%j means %j", (given, meant) => {
    expect(parseTypeFilter(given)).toBe(meant);
  });
});
