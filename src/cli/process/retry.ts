/** Further tries after errors of Cloudflare's API that pass by themselves. */

/** Pauses before the further tries, in milliseconds. */
const PAUSES_MS = [500, 1_000, 2_000];

/** Codes of D1 for a missing permission, which it also returns for a while to requests that have it. */
const OF_D1 = [7_403, 10_000];

/** Runs a task again while its error is transient, at most three times. The task must bear being repeated. */
export type Retry = <T>(task: () => Promise<T>, isTransient: (error: unknown) => boolean) => Promise<T>;

/** Further tries that `report` shows. */
export const retrying =
  (report: (line: string) => void, stop: AbortSignal): Retry =>
  async (task, isTransient) => {
    for (const [index, pauseMs] of PAUSES_MS.entries()) {
      try {
        return await task();
      } catch (error) {
        if (stop.aborted || !isTransient(error)) throw error;
        report(`${describeNetworkError(error)}: try ${index + 2} of ${PAUSES_MS.length + 1} …`);
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
        stop.throwIfAborted();
      }
    }
    return task();
  };

export const isTransientRefusal = (
  path: string,
  { status, code }: { readonly status: number; readonly code: number },
): boolean => status === 429 || status >= 500 || (path.includes("/d1/") && OF_D1.includes(code));

const NETWORK =
  /fetch failed|malformed response|\bE(CONN|PIPE|AI_AGAIN|TIMEDOUT)|socket hang up|other side closed/;
const BUSY = /service unavailable|bad gateway|gateway time-?out|internal (server )?error|unknown error/i;

/** Whether wrangler's reason for a failure is an error that passes by itself. */
export const isTransientReason = (reason: string): boolean =>
  NETWORK.test(reason) ||
  BUSY.test(reason) ||
  (reason.includes("/d1/") && OF_D1.some((code) => reason.includes(`[code: ${code}]`)));

/** The message of an error, or of the system's error in it. */
export const describeNetworkError = (error: unknown): string => {
  const { cause, message } = error as Error;
  return cause instanceof Error && cause.message !== "" ? cause.message : message;
};
