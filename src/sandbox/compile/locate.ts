/** Where in a text something is, as editors count: lines and columns from 1, columns in UTF-16 units. */

export interface Position {
  readonly line: number;
  readonly column: number;
}

/** The ends of lines, as JavaScript knows them. */
const LINE_BREAKS = /\r\n|[\n\r\u2028\u2029]/g;

/** The position of an offset, which may be the end. */
export function locate(text: string, offset: number): Position {
  let line = 1;
  let lineStart = 0;
  for (const { 0: lineBreak, index } of text.matchAll(LINE_BREAKS)) {
    const next = index + lineBreak.length;
    if (next > offset) break;
    line += 1;
    lineStart = next;
  }
  return { line, column: offset - lineStart + 1 };
}
