/** Byte ranges: parsing, and which part of a file they cover. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { contentRange, parseRange, sliceOf } from "../../src/features/files/storage/range.ts";

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
