/** A mark that identifies a message in any frame that a server wraps it in, found without parsing the frame. */

/** `~`. In a binary frame this byte may mean something else, but then no digits follow. */
const SIGN = 0x7e;
const SENDER_DIGITS = 4;
const NUMBER_DIGITS = 8;
const TIME_DIGITS = 11;
/** Times are in hundredths of a millisecond. */
const UNITS_PER_MS = 100;

/** A message's sender, its number among those of its sender or room, and when it was sent (`performance.now()`). */
export function markOf(sender: number, number: number, sentAtMs: number): string {
  const time = String(Math.floor(sentAtMs * UNITS_PER_MS)).padStart(TIME_DIGITS, "0");
  return `~${digits(sender, SENDER_DIGITS)}${digits(number, NUMBER_DIGITS)}${time}`;
}

/** A mark in a text of this many bytes. */
export const padded = (mark: string, bytes: number): string => mark.padEnd(bytes, ".");

const digits = (value: number, length: number): string => String(value).padStart(length, "0");

/** Calls `visit` for each mark in the frame. */
export function readMarks(
  frame: Buffer,
  visit: (sender: number, number: number, sentAtMs: number) => void,
): void {
  for (let at = frame.indexOf(SIGN); at !== -1; at = frame.indexOf(SIGN, at)) {
    const sender = at + 1;
    const number = sender + SENDER_DIGITS;
    const time = number + NUMBER_DIGITS;
    const end = time + TIME_DIGITS;
    const units = numberAt(frame, time, end);
    const isMark = numberAt(frame, sender, time) + units >= 0;
    if (isMark) visit(numberAt(frame, sender, number), numberAt(frame, number, time), units / UNITS_PER_MS);
    at = isMark ? end : sender;
  }
}

/** NaN if there is anything but digits. */
function numberAt(frame: Buffer, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at += 1) {
    const digit = (frame[at] ?? 0) - 48;
    if (digit < 0 || digit > 9) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}
