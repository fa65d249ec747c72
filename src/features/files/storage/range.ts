/** Byte ranges (RFC 9110, section 14). Only single ranges are served. */

export interface RangeFrom {
  readonly offset: number;
  readonly length?: number;
}

type ByteRange = RangeFrom | { readonly suffix: number };

export type Slice = Required<RangeFrom>;

/** The requested range; null when there is none, or it is malformed, in another unit, or a list of several. */
export function parseRange(header: string | null): ByteRange | null {
  const [, first = "", last = ""] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? "") ?? [];
  if (first === "") return last === "" ? null : { suffix: exact(last) };
  if (last === "") return { offset: exact(first) };
  const length = exact(last) - exact(first) + 1;
  return length < 1 ? null : { offset: exact(first), length };
}

const exact = (digits: string): number => Math.min(Number(digits), Number.MAX_SAFE_INTEGER - 1);

/** The part of a file of `size` bytes that the range covers; null when it covers none. */
export function sliceOf(range: ByteRange, size: number): Slice | null {
  if ("suffix" in range) {
    const length = Math.min(range.suffix, size);
    return length === 0 ? null : { offset: size - length, length };
  }
  if (range.offset >= size) return null;
  return { offset: range.offset, length: Math.min(range.length ?? size, size - range.offset) };
}

/** `Content-Range` of a slice; with null, of an unsatisfiable range. */
export const contentRange = (slice: Slice | null, size: number): string =>
  slice === null ? `bytes */${size}` : `bytes ${slice.offset}-${slice.offset + slice.length - 1}/${size}`;
