/** The links and the files of a comment's text. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  fileResolver,
  lineOf,
  partsOf,
  withFiles,
  withoutFiles,
} from "../../../packages/sdk/react-ui/text-parts.ts";

const linksOf = (text: string) =>
  partsOf(text, [], () => null).flatMap((part) => (part.type === "link" ? part.text : []));

describe("a link", () => {
  it.each([
    ["https://example.com", "https://example.com"],
    ["See https://example.com/a.", "https://example.com/a"],
    ["HTTP://example.com/A?b=c&d=e#f!", "HTTP://example.com/A?b=c&d=e#f"],
    ["(https://en.wikipedia.org/wiki/Tea_(meal))", "https://en.wikipedia.org/wiki/Tea_(meal)"],
    ["https://en.wikipedia.org/wiki/Tea_(meal)", "https://en.wikipedia.org/wiki/Tea_(meal)"],
    ["(see https://example.com/a)", "https://example.com/a"],
    ["https://example.com/a))).", "https://example.com/a"],
    ["https://example.com/((a)", "https://example.com/((a)"],
    ["[https://example.com]", "https://example.com"],
    ["http://[::1]:8787/a", "http://[::1]:8787/a"],
    ["https://example.com/search?q=(tea)&hl=en", "https://example.com/search?q=(tea)&hl=en"],
    ["https://example.com/search?q=tea&hl;", "https://example.com/search?q=tea"],
    ["https://example.com/a;", "https://example.com/a"],
    ["**https://example.com/a**", "https://example.com/a"],
    ["_https://example.com/a_", "https://example.com/a"],
    ["~https://example.com/a_b~", "https://example.com/a_b"],
    ["<https://example.com/a>", "https://example.com/a"],
    ["“https://example.com/a”", "https://example.com/a"],
    ["www.example.com/a?b.", "www.example.com/a?b"],
    ["https://www.example.com/a", "https://www.example.com/a"],
    ["詳細はhttps://example.com/a。次に", "https://example.com/a"],
    ["https://example.com/a、https", "https://example.com/a"],
    ["（https://example.com/a）", "https://example.com/a"],
    ["「https://example.com/a」を見る", "https://example.com/a"],
    ["https://example.com/a！？", "https://example.com/a"],
    ["https://example.com/a　次", "https://example.com/a"],
    ["【www.example.com】", "www.example.com"],
    ["https://ja.wikipedia.org/wiki/東京都。", "https://ja.wikipedia.org/wiki/東京都"],
    ["https://例え.jp/々〆", "https://例え.jp/々〆"],
  ])("in %s is %s", (text, link) => {
    expect(linksOf(text)).toEqual([link]);
  });

  it.each([
    "https://",
    "http:// x",
    "xhttps://example.com",
    "www.",
    "awww.example.com",
    "javascript://example.com",
  ])("is not in %s", (text) => {
    expect(linksOf(text)).toEqual([]);
  });

  it("has a scheme also where its text has none", () => {
    expect(partsOf("www.example.com", [], () => null)).toEqual([
      { type: "link", text: "www.example.com", url: "http://www.example.com" },
    ]);
  });

  it("leaves all of the text in its place, in time that grows with it", () => {
    const piece = fc.constantFrom(
      ...[
        "https://",
        "www.",
        "a",
        "(",
        ")",
        "[",
        "]",
        "](",
        ".",
        ";",
        "&a;",
        "。",
        "（",
        " ",
        "\n",
        "@",
        "@Ann",
        "さん",
        "'",
      ],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const text = pieces.join("");
        const parts = partsOf(text, ["Ann"], () => null);
        expect(parts.map((part) => part.text).join("")).toBe(text);
      }),
      { numRuns: 2_000 },
    );
    for (const one of [")", "[", ";", "&a;", "https://a)", "[a](", "@Ann", "(", "\u0301"])
      partsOf(`https://a${one.repeat(10_000 / one.length)}`, ["Ann"], () => null);
  });
});

const ROOM = "5f0c2a4e-8f4e-4a39-9e0d-4f3b8f7f6a11";
const SECRET = "abcdefghijklmnopqrstu_";
const keyOf = (name: string) => `${ROOM}/${SECRET}/uploads/${name}`;
/** Same form as that of `client.storage.getUrl()`. */
const urlAt = (host: string, key: string, account = "acme") =>
  `${host}/v1/accounts/${account}/storage/${key.split("/").map(encodeURIComponent).join("/")}`;
const reader = fileResolver((key) => urlAt("https://reader.example", key));

describe("an attached file", () => {
  it("has its own name, and the address of its reader, whatever its name and the host of its writer are", () => {
    const names = fc.string({ unit: "binary", minLength: 1, maxLength: 30 }).filter((name) => {
      // The service cleans names in the same way.
      const clean = name.toWellFormed().replace(/[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\ufeff/\\]/gu, "");
      return clean === name && name.trim() === name && !/^\.*$/.test(name);
    });
    const hosts = fc.constantFrom(
      "https://writer.example",
      "http://localhost:8787",
      "https://x.example/base",
    );
    const known = fc.constantFrom(
      "photo (1).png",
      "a[1].png",
      "100%.pdf",
      "((",
      ")",
      "](",
      "写真（１）.png",
      "a b",
      "%2e",
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.oneof(names, known), hosts), { maxLength: 3 }),
        fc.string(),
        (files, text) => {
          const lines = files.map(([name, host]) => lineOf(name, urlAt(host, keyOf(name))));
          const read = withoutFiles(withFiles(text, lines), reader);
          expect(read.text).toBe(text.trim());
          expect(read.files.map(({ line }) => line)).toEqual(lines);
          expect(read.files.map(({ name, url }) => [name, url])).toEqual(
            files.map(([name]) => [name, urlAt("https://reader.example", keyOf(name))]),
          );
        },
      ),
    );
  });

  it("is found in lines that earlier versions have written", () => {
    const url = urlAt("https://writer.example", keyOf("photo (1).png"));
    expect(url).toContain("(1)");
    const { text, files } = withoutFiles(`Look\n[photo (1).png](${url})`, reader);
    expect([text, files[0]?.name]).toEqual(["Look", "photo (1).png"]);
  });

  it("is not what only looks like one", () => {
    const lines = [
      `[a.png](${urlAt("https://writer.example", keyOf("a.png"), "another")})`,
      `[a.png](https://evil.example/a.png)`,
      `[a.png](https://writer.example/v1/accounts/acme/storage/${ROOM}/${SECRET}/../../a.png)`,
      `[a.png](https://writer.example/v1/accounts/acme/storage/${keyOf("a.png")}?x=1)`,
      `[a.png](https://writer.example/v1/accounts/acme/storage/${keyOf("%ff")})`,
    ];
    for (const line of lines) expect(withoutFiles(line, reader)).toEqual({ text: line, files: [] });
  });

  it("has a name before its reader has a token, as on a server", () => {
    const line = lineOf("a.png", urlAt("https://writer.example", keyOf("a.png")));
    expect(
      withoutFiles(
        line,
        fileResolver(() => null),
      ).files,
    ).toEqual([{ name: "a.png", url: "", line }]);
  });

  it("is a link within a text as well", () => {
    const line = lineOf("photo (1).png", urlAt("https://writer.example", keyOf("photo (1).png")));
    expect(partsOf(`See ${line}!`, [], reader)).toEqual([
      { type: "text", text: "See " },
      { type: "link", text: "photo (1).png", url: urlAt("https://reader.example", keyOf("photo (1).png")) },
      { type: "text", text: "!" },
    ]);
  });
});
