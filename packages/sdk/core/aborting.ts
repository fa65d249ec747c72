/** Work and pauses that signals end. */
import { abortable } from "./runtime.ts";

export type Signals = readonly (AbortSignal | undefined)[];

/** A controller that one of the signals aborts, until `unlink`. The oldest browsers lack `AbortSignal.any`. */
export function linked(signals: Signals): {
  readonly aborting: AbortController;
  readonly unlink: () => void;
} {
  const aborting = new AbortController();
  const stops = signals.map((source) => {
    const abort = () => aborting.abort(source?.reason);
    if (source?.aborted) abort();
    source?.addEventListener("abort", abort);
    return () => source?.removeEventListener("abort", abort);
  });
  const unlink = () => {
    for (const stop of stops) stop();
  };
  return { aborting, unlink };
}

/** Does `work` until one of the signals is aborted, then throws its reason. */
export async function untilAborted<Result>(
  signals: Signals,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const { aborting, unlink } = linked(signals);
  const { signal } = aborting;
  try {
    signal.throwIfAborted();
    return await abortable(work(signal), { signal });
  } finally {
    unlink();
  }
}

/** Resolves after `delayMs`, unless the signal is aborted: then it rejects with its reason. */
export const pause = (delayMs: number, signal: AbortSignal): Promise<void> => {
  let timer: ReturnType<typeof setTimeout>;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, delayMs);
  });
  return abortable(over, { signal }, () => clearTimeout(timer));
};
