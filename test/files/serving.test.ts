/** Reading a file: the key suffices, no file is executed, and ranges and conditions are honoured. */
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { contentRange, parseRange, sliceOf } from "../../src/features/files/storage/range.ts";
import { Api } from "../support/api.ts";
import { MEBIBYTE, type OwnerWithRoom, ownerWithRoom, store } from "./upload-form.ts";

const CONTENT = "The quick brown fox";

let owner: OwnerWithRoom;
let anyone: Api;
let key: string;
let etag: string;

beforeAll(async () => {
  owner = await ownerWithRoom();
  anyone = new Api(owner.id, null);
  key = await store(owner.api, owner.fields, new File([CONTENT], "fox.png", { type: "image/png" }));
  etag = (await read()).headers.get("ETag") ?? "";
});

const read = (headers: Record<string, string> = {}, method = "GET", name = key) =>
  anyone.raw(method, `/storage/${name}`, { headers });

const textOf = async (response: Response) => new TextDecoder().decode(await response.arrayBuffer());

describe("reading a file", () => {
  it("needs no credential and works from any origin", async () => {
    const response = await read({ Origin: "https://elsewhere.test" });
    expect([response.status, await textOf(response)]).toEqual([200, CONTENT]);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "image/png",
      "content-length": String(CONTENT.length),
      "content-disposition": "inline; filename=fox.png",
      "accept-ranges": "bytes",
      etag: expect.stringMatching(/^"[^"]+"$/),
      "cache-control": "public, max-age=31536000, immutable",
      "x-content-type-options": "nosniff",
      "content-security-policy": "sandbox; default-src 'none'",
      "cross-origin-resource-policy": "cross-origin",
      "access-control-allow-origin": "*",
      "x-request-id": expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(response.headers.has("Access-Control-Allow-Credentials")).toBe(false);
  });

  it.each([
    ["page.html", "text/html", "attachment", "text/html"],
    ["image.svg", "image/svg+xml", "attachment", "image/svg+xml"],
    ["feed.xml", "application/xml", "attachment", "application/xml"],
    ["page.xhtml", "application/xhtml+xml", "attachment", "application/xhtml+xml"],
    ["paper.pdf", "application/pdf", "attachment", "application/pdf"],
    ["notes.txt", "text/plain; charset=utf-8", "attachment", "text/plain; charset=utf-8"],
    ["script.js", "text/javascript", "attachment", "application/octet-stream"],
    ["style.css", "text/css", "attachment", "application/octet-stream"],
    ["bytes", "", "attachment", "application/octet-stream"],
    ["photo.jpg", "image/jpeg", "inline", "image/jpeg"],
    ["song.mp3", "audio/mpeg", "inline", "audio/mpeg"],
    ["film.mp4", "video/mp4", "inline", "video/mp4"],
  ])("%s of type %s is served as %s, as %s", async (name, type, disposition, served) => {
    const response = await read(
      {},
      "GET",
      await store(owner.api, owner.fields, new File(["x"], name, { type })),
    );
    expect(response.headers.get("Content-Disposition")).toBe(`${disposition}; filename=${name}`);
    expect(response.headers.get("Content-Type")).toBe(served);
    expect(response.headers.get("X-Content-Type-Options")).toBe("nosniff");
    expect(response.headers.get("Content-Security-Policy")).toBe("sandbox; default-src 'none'");
    await response.arrayBuffer();
  });

  it("with HEAD returns the same headers without the bytes", async () => {
    for (const name of [key, "nothing"]) {
      const [get, head] = [await read({}, "GET", name), await read({ Range: "bytes=0-1" }, "HEAD", name)];
      const headersOf = ({ headers }: Response) =>
        Object.fromEntries([...headers].filter(([header]) => header !== "x-request-id"));
      expect([head.status, headersOf(head)]).toEqual([get.status, headersOf(get)]);
      expect(await textOf(head)).toBe("");
    }
  });

  it.each([
    "nothing",
    "a/b/uploads/c",
    "00000000-0000-4000-8000-000000000000/0000000000000000000000/uploads/a",
    "00000000-0000-4000-8000-000000000000/0000000000000000000000/uploads/",
    `00000000-0000-4000-8000-000000000000/0000000000000000000000/uploads/${"x".repeat(2000)}`,
  ])("of %s returns NOT_FOUND", async (name) => {
    for (const headers of [{}, { Range: "bytes=0-1" }, { "If-None-Match": "*" }]) {
      const answer = await anyone.send("GET", `/storage/${name}`, { headers });
      expect([answer.status, answer.error?.module, answer.error?.message]).toEqual([
        404,
        "Files",
        "File not found",
      ]);
    }
  });

  it("finds nothing once it is deleted, even with a condition that matches", async () => {
    const gone = await store(owner.api, owner.fields, new File(["x"], "gone"));
    const known = (await read({}, "HEAD", gone)).headers.get("ETag") ?? "";
    await owner.api.deleteFile(gone);
    for (const headers of [{}, { Range: "bytes=0-" }, { "If-None-Match": known }, { "If-Range": known }]) {
      expect((await read(headers, "GET", gone)).status).toBe(404);
    }
    expect((await read({}, "HEAD", gone)).status).toBe(404);
  });
});

describe("a range", () => {
  it.each([
    ["bytes=4-8", "quick", "bytes 4-8/19"],
    ["bytes=16-", "fox", "bytes 16-18/19"],
    ["bytes=-3", "fox", "bytes 16-18/19"],
    ["bytes=-100", CONTENT, "bytes 0-18/19"],
    ["bytes=0-0", "T", "bytes 0-0/19"],
    ["bytes=10-99999999999999999999", "brown fox", "bytes 10-18/19"],
  ])("%s is %j", async (range, content, contentRange) => {
    const response = await read({ Range: range });
    expect([response.status, await textOf(response)]).toEqual([206, content]);
    expect(response.headers.get("Content-Range")).toBe(contentRange);
    expect(response.headers.get("Content-Length")).toBe(String(content.length));
    expect(response.headers.get("ETag")).toBe(etag);
  });

  it.each(["bytes=19-", "bytes=500-600", "bytes=-0"])("%s of 19 bytes is not satisfiable", async (range) => {
    const response = await read({ Range: range });
    expect([response.status, response.headers.get("Content-Range")]).toEqual([416, "bytes */19"]);
    expect(await textOf(response)).toBe("");
  });

  it("that is none is ignored", async () => {
    const response = await read({ Range: "bytes=0-1,4-8" });
    expect([response.status, await textOf(response)]).toEqual([200, CONTENT]);
  });

  it("of a page is as harmless as the whole page", async () => {
    const page = new File(["<script>alert(1)</script>"], "page.html", { type: "text/html" });
    const name = await store(owner.api, owner.fields, page);
    const safe = (response: Response) =>
      ["Content-Disposition", "Content-Security-Policy", "X-Content-Type-Options", "Content-Type"].map(
        (header) => response.headers.get(header),
      );
    const whole = await read({}, "GET", name);
    const parts = await Promise.all(
      ["bytes=0-", "bytes=8-12", "bytes=-9"].map((range) => read({ Range: range }, "GET", name)),
    );
    expect(safe(whole)).toEqual([
      "attachment; filename=page.html",
      "sandbox; default-src 'none'",
      "nosniff",
      "text/html",
    ]);
    for (const part of parts) expect([part.status, safe(part)]).toEqual([206, safe(whole)]);
    await Promise.all([whole, ...parts].map((response) => response.arrayBuffer()));
  });

  it("returns the right bytes across the parts of a multipart file", async () => {
    const bytes = new Uint8Array(17 * MEBIBYTE).map((_, index) => (index * 7 + (index >> 12)) & 255);
    const large = await store(owner.api, owner.fields, new File([bytes], "large"));
    const place = fc.nat({ max: bytes.byteLength - 1 });
    await fc.assert(
      fc.asyncProperty(place, fc.nat({ max: 100_000 }), async (first, length) => {
        const response = await read({ Range: `bytes=${first}-${first + length}` }, "GET", large);
        const last = Math.min(first + length, bytes.byteLength - 1);
        expect(response.headers.get("Content-Range")).toBe(`bytes ${first}-${last}/${bytes.byteLength}`);
        const got = new Uint8Array(await response.arrayBuffer());
        expect(got.byteLength).toBe(last - first + 1);
        expect(got.findIndex((byte, index) => byte !== bytes[first + index])).toBe(-1);
      }),
      { numRuns: 20, examples: [[8 * MEBIBYTE - 10, 20]] },
    );
  });
});

describe("a condition", () => {
  it("If-None-Match that matches saves the bytes", async () => {
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      for (const [method, range] of [
        ["GET", {}],
        ["HEAD", {}],
        ["GET", { Range: "bytes=0-1" }],
      ] as const) {
        const response = await read({ "If-None-Match": known, ...range }, method);
        expect([response.status, await textOf(response), response.headers.get("ETag")]).toEqual([
          304,
          "",
          etag,
        ]);
        expect(response.headers.get("Cache-Control")).toContain("immutable");
      }
    }
    for (const other of ['"other"', etag.slice(1, -1), ""]) {
      expect((await read({ "If-None-Match": other })).status).toBe(200);
    }
  });

  it("If-Match that names another file is false: 412, before any other condition or range", async () => {
    for (const other of ['"other"', `W/${etag}`, `"other", W/${etag}`])
      for (const [method, headers] of [
        ["GET", {}],
        ["HEAD", {}],
        ["GET", { "If-None-Match": etag }],
        ["GET", { Range: "bytes=0-1" }],
        ["GET", { Range: "bytes=19-" }],
      ] as const) {
        const response = await read({ "If-Match": other, ...headers }, method);
        expect([response.status, await textOf(response), response.headers.get("ETag")]).toEqual([
          412,
          "",
          etag,
        ]);
        expect(response.headers.get("Cache-Control")).toBe("no-store");
        expect(response.headers.get("Access-Control-Allow-Origin")).toBe("*");
      }
    for (const same of [etag, `"other", ${etag}`, "*"]) {
      const [response, ranged] = await Promise.all([
        read({ "If-Match": same }),
        read({ "If-Match": same, Range: "bytes=0-2" }),
      ]);
      expect([response.status, await textOf(response)]).toEqual([200, CONTENT]);
      expect([ranged.status, await textOf(ranged)]).toEqual([206, "The"]);
      expect((await read({ "If-Match": same, "If-None-Match": etag })).status).toBe(304);
    }
    const missing = await read({ "If-Match": "*" }, "GET", key.replace("fox", "dog"));
    expect([missing.status, await missing.json()]).toMatchObject([404, { error: { code: "NOT_FOUND" } }]);
  });

  it("by date is that of Last-Modified, ignored beside one by tag and when it is no date", async () => {
    const modified = (await read()).headers.get("Last-Modified") ?? "";
    const [earlier, later] = [-60_000, 60_000].map((ms) => new Date(Date.parse(modified) + ms).toUTCString());
    const statusOf = async (headers: Record<string, string>) => (await read(headers)).status;
    expect(await statusOf({ "If-Unmodified-Since": modified })).toBe(200);
    expect(await statusOf({ "If-Unmodified-Since": earlier ?? "" })).toBe(412);
    expect(await statusOf({ "If-Unmodified-Since": earlier ?? "", "If-Match": etag })).toBe(200);
    expect(await statusOf({ "If-Unmodified-Since": "yesterday" })).toBe(200);
    for (const known of [modified, later ?? ""]) {
      expect(await statusOf({ "If-Modified-Since": known })).toBe(304);
      expect(await statusOf({ "If-Modified-Since": known, "If-None-Match": '"other"' })).toBe(200);
    }
    expect(await statusOf({ "If-Modified-Since": earlier ?? "" })).toBe(200);
    expect(await statusOf({ "If-Range": modified, Range: "bytes=0-1" })).toBe(206);
    expect(await statusOf({ "If-Range": later ?? "", Range: "bytes=0-1" })).toBe(200);
  });

  it("If-Range that matches returns the rest of the file, and one that does not, the whole file", async () => {
    const status = async (condition: string) => {
      const response = await read({ Range: "bytes=4-", "If-Range": condition });
      return [response.status, await textOf(response)];
    };
    expect(await status(etag)).toEqual([206, CONTENT.slice(4)]);
    for (const other of ['"other"', `W/${etag}`, "Sat, 31 Jan 2026 09:30:00 GMT"]) {
      expect(await status(other)).toEqual([200, CONTENT]);
    }
  });
});

const size = fc.nat({ max: 50 });
const place = fc.nat({ max: 60 });
const numbers = Array.from({ length: 50 }, (_, index) => index);

describe("a range", () => {
  it("with a start covers what an array's slice does", () => {
    fc.assert(
      fc.property(size, place, fc.option(place), (bytes, first, last) => {
        fc.pre(last === null || last >= first);
        const range = parseRange(`bytes=${first}-${last ?? ""}`);
        const slice = range && sliceOf(range, bytes);
        const file = numbers.slice(0, bytes);
        const expected = file.slice(first, last === null ? undefined : last + 1);
        expect(slice && file.slice(slice.offset, slice.offset + slice.length)).toEqual(
          expected.length === 0 ? null : expected,
        );
        if (slice) {
          expect(contentRange(slice, bytes)).toBe(`bytes ${expected[0]}-${expected.at(-1)}/${bytes}`);
        }
      }),
    );
  });

  it("of the last bytes covers at most the file", () => {
    fc.assert(
      fc.property(size, place, (bytes, suffix) => {
        const range = parseRange(`bytes=-${suffix}`);
        const slice = range && sliceOf(range, bytes);
        const length = Math.min(suffix, bytes);
        expect(slice).toEqual(length === 0 ? null : { offset: bytes - length, length });
      }),
    );
  });

  it.each([
    null,
    "",
    "bytes",
    "bytes=",
    "bytes=-",
    "bytes=a-b",
    "bytes=5-4",
    "bytes=-1-2",
    "bytes=1.5-2",
    "bytes=0x1-2",
    "bytes=0-1,3-4",
    "bytes=0-1, -1",
    "bytes 0-1",
    "items=0-1",
    "seconds=1-2",
    "bytes=٠-١",
  ])("is none when it is %j", (header) => {
    expect(parseRange(header)).toBeNull();
  });

  it("may have numbers of any length", () => {
    const long = "9".repeat(400);
    expect(sliceOf(parseRange(`bytes=1-${long}`) ?? { suffix: 0 }, 10)).toEqual({ offset: 1, length: 9 });
    expect(sliceOf(parseRange(`bytes=-${long}`) ?? { suffix: 0 }, 10)).toEqual({ offset: 0, length: 10 });
    expect(sliceOf(parseRange(`bytes=${long}-`) ?? { suffix: 1 }, 10)).toBeNull();
    expect(sliceOf(parseRange(`BYTES= 0-${long} `) ?? { suffix: 0 }, 10)).toEqual({ offset: 0, length: 10 });
  });
});
