/** Describes a failure to the program's author: what was thrown, and where in their code. */
import { exec, NativeError, push, slice, split } from "./intrinsics.ts";
import { cut, show } from "./text.ts";

const MAX_NAME_LENGTH = 64;
const MAX_MESSAGE_LENGTH = 2 * 1024;
const MAX_FRAMES = 10;
const MAX_TRACE_LENGTH = 8 * 1024;
/** How V8 writes a position in the program. The inserted checks move columns, but lines stay. */
const FRAME = /^\s*at (?:async )?(?:(.*?) \()?[^()]*?workflow\.js:(\d+):\d+\)?$/;

interface Frame {
  readonly name: string;
  readonly line: string;
}

/** Describes what was thrown, followed by the customer's stack frames, one per line. */
export function describeFailure(thrown: unknown): string {
  try {
    if (!(thrown instanceof NativeError))
      return `The workflow threw ${cut(show(thrown), MAX_MESSAGE_LENGTH)}`;
    const frames = framesOf(`${thrown.stack}`);
    const name = cut(`${thrown.name}`, MAX_NAME_LENGTH);
    const message = cut(`${thrown.message}`, MAX_MESSAGE_LENGTH);
    const first = frames[0];
    const place = first === undefined ? "" : ` (line ${first.line})`;
    let trace = "";
    for (let index = 0; index < frames.length; index += 1) {
      const frame = frames[index];
      if (frame !== undefined) trace += `\n    at ${frame.name} (line ${frame.line})`;
    }
    return `${name}${message === "" ? "" : `: ${message}`}${place}${trace}`;
  } catch {
    return "The workflow threw something that cannot be read";
  }
}

function framesOf(stack: string): readonly Frame[] {
  const frames: Frame[] = [];
  // The frames follow the message, however long it is.
  const lines = split(slice(stack, -MAX_TRACE_LENGTH), "\n");
  for (let index = 0; index < lines.length && frames.length < MAX_FRAMES; index += 1) {
    const found = exec(FRAME, lines[index] ?? "");
    const line = found?.[2];
    if (line !== undefined) push(frames, { name: cut(found?.[1] ?? "the workflow", MAX_NAME_LENGTH), line });
  }
  return frames;
}
