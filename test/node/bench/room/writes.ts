/** Acknowledged writes: bursts from one socket, as long as the rate limit permits. */
import { RATES } from "../../../../src/room/protocol/costs.ts";
import { type ClientProtocol, ClientSocket, type Frame } from "./client-socket.ts";
import { markOf, readMarks } from "./mark.ts";
import { watchUsage } from "./usage.ts";

/** A participant and how it writes; only the response to a write contains its mark. */
export interface Writer {
  readonly protocol: ClientProtocol;
  readonly write: (number: number, mark: string) => Frame;
}

const IN_FLIGHT = 64;
/** A socket may send this many messages, including the join, without a delay. */
const BURST = RATES.framesOfSocket.burst * 0.9;

export interface Writes {
  /** Acknowledged, per second. */
  readonly perSecond: number;
  /** Processor time of the server per write, in microseconds; null if unknown. */
  readonly processorUs: number | null;
}

/** Acknowledged writes to the process `pid`, in bursts of one writer after another that take `seconds` in all. */
export async function countWrites(
  pid: number,
  writers: readonly Writer[],
  seconds: number,
  stop: AbortSignal,
): Promise<Writes> {
  let spentMs = 0;
  let written = 0;
  let processorS: number | null = 0;
  for (; spentMs < seconds * 1000; written += BURST) {
    stop.throwIfAborted();
    const writer = writers[(written / BURST) % writers.length];
    if (writer === undefined) throw new Error("Expected a writer");
    const socket = await ClientSocket.open(writer.protocol);
    const stopWatching = watchUsage(pid);
    spentMs += await burst(socket, writer, written);
    const { cores, elapsedS } = stopWatching();
    processorS = processorS === null || cores === null ? null : processorS + cores * elapsedS;
    socket.terminate();
  }
  return {
    perSecond: (written * 1000) / spentMs,
    processorUs: processorS === null ? null : (processorS * 1e6) / written,
  };
}

/** The duration of one burst in milliseconds. */
async function burst(socket: ClientSocket, { write }: Writer, first: number): Promise<number> {
  const startedAt = performance.now();
  let sent = 0;
  let answered = 0;
  const send = () => {
    sent += 1;
    socket.send(write(first + sent, markOf(0, first + sent, performance.now())));
  };
  const isLast = (frame: Buffer): boolean => {
    readMarks(frame, () => {
      answered += 1;
      if (sent < BURST) send();
    });
    return answered >= BURST;
  };
  await socket.exchange(() => {
    for (let message = 0; message < IN_FLIGHT; message += 1) send();
  }, isLast);
  return performance.now() - startedAt;
}
