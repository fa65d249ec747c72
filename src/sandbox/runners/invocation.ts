/** One run from our side, whichever runner started it: what the guest answers is checked, and never waited for in vain. */
import * as z from "zod";
import type { RunKit } from "../../workflows/run-bindings.ts";
import { LogLine } from "../../workflows/schema.ts";
import type { RunLimits, RunReport } from "./runner.ts";

/** The guest's entrypoint as RPC shows it. */
export interface Guest {
  /** Answers a {@link GuestAnswer} as JSON, unless the program has tampered with what runs it. */
  run(event: string, kit: RunKit, limits: RunLimits): Promise<unknown>;
}

/** What a guest answers, written as JSON. */
export const GuestAnswer = z.object({
  status: z.enum(["success", "failed"]),
  result: z.string(),
  logs: z.array(LogLine.extend({ timestamp: z.iso.datetime({ precision: 3 }) })),
  /** How long the program ran without waiting, as far as its clock tells. */
  ranMs: z.number().min(0),
  /** Whether the isolate has done enough: the next run should have a fresh one. */
  isSpent: z.boolean(),
});
export type GuestAnswer = z.infer<typeof GuestAnswer>;

export interface Invocation {
  readonly report: RunReport;
  readonly isSpent: boolean;
}

/** How long the guest, whose own clock ends the run, may take to say so. */
const GRACE_MS = 500;
/** Of what a failure is told in. */
const MAX_FAILURE_LENGTH = 16 * 1024;
/** An answer may be so many times as long as what it tells: for fields, times, and what JSON escapes. */
const ANSWER_OVERHEAD = 8;

const TAMPERED = "The workflow tampered with what runs it";

/**
 * Calls the guest and turns whatever comes of it into a report; the kit is void afterwards. It rejects only
 * with what `isUnstarted` finds to be an error that came before any of the program ran.
 */
export async function invoke(
  guest: Guest,
  { event, kit, limits }: { readonly event: string; readonly kit: RunKit; readonly limits: RunLimits },
  isUnstarted: (error: unknown) => boolean,
): Promise<Invocation> {
  const startedAt = Date.now();
  const answer = await ask(guest, event, kit, limits, isUnstarted);
  kit.revoke();
  const durationMs = Date.now() - startedAt;
  if (answer.status === "success" && kit.isOverdrawn()) {
    const result = `The workflow made more than ${limits.calls} calls of its bindings`;
    return { report: { ...shown(answer), status: "failed", result, durationMs }, isSpent: answer.isSpent };
  }
  return { report: { ...shown(answer), durationMs }, isSpent: answer.isSpent };
}

const shown = ({ status, result, logs, ranMs }: GuestAnswer) => ({ status, result, logs, ranMs });

const broken = (result: string): GuestAnswer => ({
  status: "failed",
  result,
  logs: [],
  ranMs: 0,
  isSpent: true,
});

async function ask(
  guest: Guest,
  event: string,
  kit: RunKit,
  limits: RunLimits,
  isUnstarted: (error: unknown) => boolean,
): Promise<GuestAnswer> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<GuestAnswer>((resolve) => {
    timer = setTimeout(() => resolve(broken(sentences.wall(limits))), limits.wallMs + GRACE_MS);
  });
  const answered = guest.run(event, kit, limits).then(
    (answer) => parseAnswer(answer, limits),
    (error: unknown) => {
      if (isUnstarted(error)) throw error;
      return broken(sentenceOf(error, limits));
    },
  );
  answered.catch(() => {}); // whoever waits for it hears of it
  try {
    return await Promise.race([answered, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** What is told of a run that its platform has ended. */
export const sentences = {
  wall: ({ wallMs }: RunLimits) => `The workflow took longer than ${wallMs / 1000} s`,
  cpu: ({ cpuMs }: RunLimits) => `The workflow used more than ${cpuMs} ms of processor time`,
  memory: ({ memoryMb }: RunLimits) => `The workflow used more than ${memoryMb} MB of memory`,
} as const;

/** What the platform's errors mean for whoever wrote the program; they say nothing else of ours. */
function sentenceOf(error: unknown, limits: RunLimits): string {
  const said = error instanceof Error ? error.message : "";
  if (/CPU time limit/i.test(said)) return sentences.cpu(limits);
  if (/memory limit/i.test(said)) return sentences.memory(limits);
  if (/hung|never (complete|generate)/i.test(said)) {
    return "The workflow waits for something that will never happen";
  }
  // What the compiler lets pass, the runtime may still refuse.
  const syntax = /SyntaxError: (.{1,200})\n\s+at workflow\.js:(\d+)/.exec(said);
  if (syntax !== null) return `SyntaxError: ${syntax[1]} (line ${syntax[2]})`;
  return "The workflow was broken off";
}

function parseAnswer(answer: unknown, limits: RunLimits): GuestAnswer {
  const maxLength = ANSWER_OVERHEAD * (limits.resultBytes + limits.logBytes + MAX_FAILURE_LENGTH);
  if (typeof answer !== "string" || answer.length > maxLength) {
    discard(answer);
    return broken(TAMPERED);
  }
  const parsed = GuestAnswer.safeParse(parseJson(answer));
  return parsed.success && isWithin(parsed.data, limits) ? parsed.data : broken(TAMPERED);
}

function isWithin({ status, result, logs }: GuestAnswer, limits: RunLimits): boolean {
  if (byteLength(JSON.stringify(logs)) > ANSWER_OVERHEAD * limits.logBytes) return false;
  if (status === "failed") return result.length <= MAX_FAILURE_LENGTH;
  return byteLength(result) <= limits.resultBytes && parseJson(result) !== undefined;
}

/** Undefined when it is none, which JSON itself never is. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Lets go of what an answer holds of the guest: stubs keep it alive. */
function discard(answer: unknown): void {
  if (typeof answer !== "object" && typeof answer !== "function") return;
  const dispose: unknown = answer === null ? undefined : Reflect.get(answer, Symbol.dispose);
  if (typeof dispose === "function") dispose.call(answer);
}

const encoder = new TextEncoder();
const byteLength = (text: string): number => encoder.encode(text).byteLength;
