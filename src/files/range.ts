/** Byte ranges (RFC 9110, section 14): of what is asked for, only a single range is served. */

/** Bytes from a place on, as many as `length` says, or all that there are. */
export interface RangeFrom {
  readonly offset: number;
  readonly length?: number;
}

/** A range as it was asked for, before the file's size is known; `suffix` is how many of the last bytes. */
export type ByteRange = RangeFrom | { readonly suffix: number };

/** A range of a file that has it. */
export type Slice = Required<RangeFrom>;

/** The range asked for; null when there is none, or one that is malformed, of another unit, or several in one. */
export function parseRange(header: string | null): ByteRange | null {
  const [, first = "", last = ""] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? "") ?? [];
  if (first === "") return last === "" ? null : { suffix: exact(last) };
  if (last === "") return { offset: exact(first) };
  const length = exact(last) - exact(first) + 1;
  return length < 1 ? null : { offset: exact(first), length };
}

/** No file is as long as the numbers that this bounds. */
const exact = (digits: string): number => Math.min(Number(digits), Number.MAX_SAFE_INTEGER - 1);

/** What of a file of `size` bytes the range covers; null when it covers none of it. */
export function sliceOf(range: ByteRange, size: number): Slice | null {
  if ("suffix" in range) {
    const length = Math.min(range.suffix, size);
    return length === 0 ? null : { offset: size - length, length };
  }
  if (range.offset >= size) return null;
  return { offset: range.offset, length: Math.min(range.length ?? size, size - range.offset) };
}

/** `Content-Range` of a slice; without one, of a file that has nothing of what was asked for. */
export const contentRange = (slice: Slice | null, size: number): string =>
  slice === null ? `bytes */${size}` : `bytes ${slice.offset}-${slice.offset + slice.length - 1}/${size}`;
