/** Invokes a guest for one run, whichever runner started it: validates its answer, and bounds the wait for it. */

import { byteLength, parseJson } from "@atrium/contract/text.ts";
import * as z from "zod";
import { TIMED_OUT, withTimeLimit } from "../../platform/flow/concurrency.ts";
import type { HostBindings, RunInput, RunLimits, RunReport } from "./runner.ts";

export interface Guest {
  /** Returns a {@link GuestAnswer} as JSON, unless the program has tampered with the harness. */
  run(input: RunInput, bindings: HostBindings, limits: RunLimits): Promise<unknown>;
}

const GuestLogLine = z.object({
  level: z.enum(["debug", "log", "info", "warn", "error"]),
  message: z.string(),
  timestamp: z.iso.datetime({ precision: 3 }),
});

const GuestAnswer = z.object({
  status: z.enum(["success", "failed"]),
  result: z.string(),
  logs: z.array(GuestLogLine),
  /** Whether the next run needs a fresh isolate. */
  isSpent: z.boolean(),
});
export type GuestAnswer = z.infer<typeof GuestAnswer>;

interface GuestCall {
  readonly input: RunInput;
  readonly bindings: HostBindings;
  readonly limits: RunLimits;
}

/** An answer, or its replacement. */
interface Answer extends GuestAnswer {
  readonly isLost: boolean;
  readonly isKilled: boolean;
}

/** The time beyond its wall time in which the guest, which ends the run itself, may answer. */
const GRACE_MS = 500;
const MAX_FAILURE_LENGTH = 16 * 1024;
/** An answer may be this many times as long as its contents: for field names, times and JSON escapes. */
const ANSWER_OVERHEAD = 8;

const TAMPERED = "The workflow tampered with what runs it";

/**
 * Calls the guest, turns every outcome into a report, and revokes the bindings. Rejects only with an error that
 * `isUnstarted` recognizes as raised before any of the program ran.
 */
export async function invoke(
  guest: Guest,
  call: GuestCall,
  isUnstarted: (error: unknown) => boolean,
): Promise<{ readonly report: RunReport; readonly isSpent: boolean; readonly isLost: boolean }> {
  const { bindings, limits } = call;
  const startedAt = Date.now();
  const { isSpent, isLost, ...answer } = await ask(guest, call, isUnstarted);
  bindings.revoke();
  const report = { ...answer, ranMs: 0, durationMs: Date.now() - startedAt };
  if (answer.status === "failed" || !bindings.isOverdrawn()) return { report, isSpent, isLost };
  const result = `The workflow made more than ${limits.calls} calls of its bindings`;
  return { report: { ...report, status: "failed", result }, isSpent, isLost };
}

const broken = (
  result: string,
  { isLost = false, isKilled = isLost }: { isLost?: boolean; isKilled?: boolean } = {},
): Answer => ({
  status: "failed",
  result,
  logs: [],
  isSpent: true,
  isLost,
  isKilled,
});

async function ask(
  guest: Guest,
  { input, bindings, limits }: GuestCall,
  isUnstarted: (error: unknown) => boolean,
): Promise<Answer> {
  const answered = guest.run(input, bindings, limits).then(
    (answer) => parseAnswer(answer, limits),
    (error: unknown) => {
      if (isUnstarted(error)) throw error;
      return answerTo(error, limits);
    },
  );
  const answer = await withTimeLimit(answered, limits.wallMs + GRACE_MS);
  return answer === TIMED_OUT ? broken(limitMessage("wall", limits), { isLost: true }) : answer;
}

type RunEnd = "wall" | "cpu" | "memory" | "crash";

export function limitMessage(end: RunEnd, { wallMs, cpuMs, processCpuMs, memoryMb }: LimitsShown): string {
  switch (end) {
    case "wall":
      return `The workflow took longer than ${wallMs / 1000} s`;
    case "cpu":
      return `The workflow used more than ${processCpuMs ?? cpuMs} ms of processor time`;
    case "memory":
      return `The workflow used more than ${memoryMb} MB of memory`;
    case "crash":
      return "The workflow crashed the process that ran it";
  }
}

type LimitsShown = Pick<RunLimits, "wallMs" | "cpuMs" | "memoryMb"> & { readonly processCpuMs?: number };

/** The platform's error in words for the program's author, with nothing about the service. */
function answerTo(error: unknown, { wallMs, cpuMs, memoryMb }: RunLimits): Answer {
  const said = error instanceof Error ? error.message : "";
  const platformLimits = { wallMs, cpuMs, memoryMb };
  if (/CPU time limit/i.test(said)) return broken(limitMessage("cpu", platformLimits), { isKilled: true });
  if (/memory limit/i.test(said)) return broken(limitMessage("memory", platformLimits), { isKilled: true });
  if (/hung|never (complete|generate)/i.test(said)) {
    return broken("The workflow waits for a promise that never settles");
  }
  // The runtime may refuse code that the compiler lets pass.
  const syntax = /SyntaxError: (.{1,200})\n\s+at workflow\.js:(\d+)/.exec(said);
  if (syntax !== null) return broken(`SyntaxError: ${syntax[1]} (line ${syntax[2]})`);
  return broken("The workflow was interrupted", { isLost: true });
}

function parseAnswer(answer: unknown, limits: RunLimits): Answer {
  const maxLength = ANSWER_OVERHEAD * (limits.resultBytes + limits.logBytes + MAX_FAILURE_LENGTH);
  if (typeof answer !== "string" || answer.length > maxLength) {
    discard(answer);
    return broken(TAMPERED);
  }
  const parsed = GuestAnswer.safeParse(parseJson(answer));
  return parsed.success && isWithin(parsed.data, limits)
    ? { ...parsed.data, isLost: false, isKilled: false }
    : broken(TAMPERED);
}

function isWithin({ status, result, logs }: GuestAnswer, limits: RunLimits): boolean {
  if (logs.length > 0 && byteLength(JSON.stringify(logs)) > ANSWER_OVERHEAD * limits.logBytes) return false;
  if (status === "failed") return result.length <= MAX_FAILURE_LENGTH;
  return byteLength(result) <= limits.resultBytes && parseJson(result) !== undefined;
}

/** Disposes of an answer that is an RPC stub, which would keep the guest alive. */
function discard(answer: unknown): void {
  if (typeof answer !== "object" && typeof answer !== "function") return;
  const dispose: unknown = answer === null ? undefined : Reflect.get(answer, Symbol.dispose);
  if (typeof dispose === "function") dispose.call(answer);
}
