/** Writes that must be answered: bursts from one socket, as long as a flood limit lets one be. */
import { FULL_BUCKET } from "../../../src/realtime/transport/connection.ts";
import { type Frame, Line, type Voice } from "./line.ts";
import { markOf, readMarks } from "./mark.ts";

/** A member and how it writes; the answer, and no other frame that it gets, holds the mark. */
export interface Writer {
  readonly voice: Voice;
  readonly write: (number: number, mark: string) => Frame;
}

const IN_FLIGHT = 64;
/** A socket's first messages, joining included, may come as fast as they like up to its allowance. */
const BURST = FULL_BUCKET * 0.9;

/** Acknowledged writes a second, in bursts of one socket after the other, which together take `seconds`. */
export async function countWrites(writer: Writer, seconds: number, stop: AbortSignal): Promise<number> {
  let spentMs = 0;
  let written = 0;
  for (; spentMs < seconds * 1000; written += BURST) {
    stop.throwIfAborted();
    const line = await Line.open(writer.voice);
    spentMs += await burst(line, writer, written);
    line.drop();
  }
  return (written * 1000) / spentMs;
}

/** Milliseconds of one burst. */
async function burst(line: Line, { write }: Writer, first: number): Promise<number> {
  const begunAt = performance.now();
  let sent = 0;
  let answered = 0;
  const send = () => {
    sent += 1;
    line.send(write(first + sent, markOf(0, first + sent, performance.now())));
  };
  const isLast = (frame: Buffer): boolean => {
    readMarks(frame, () => {
      answered += 1;
      if (sent < BURST) send();
    });
    return answered >= BURST;
  };
  await line.converse(() => {
    for (let message = 0; message < IN_FLIGHT; message += 1) send();
  }, isLast);
  return performance.now() - begunAt;
}
