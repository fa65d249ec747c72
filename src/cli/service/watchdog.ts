/** Ends the process of a service that answers nothing any more, because some code keeps its thread: wrangler starts it anew. */
import { setTimeout as pause } from "node:timers/promises";
import { listGroup, type ProcessState } from "./process-group.ts";

/** How long the service may owe an answer that takes it a millisecond. */
export const SILENCE_LIMIT_MS = 10_000;
/** Silence is waited for in so many steps, each of which shows whether this process gets to run in time itself. */
const STEPS = 10;
/** Of one core: who uses less does not work but wait, for a build that fails or at a breakpoint. */
const WORKING_SHARE = 0.25;

export interface WatchedService {
  /** Where it answers. */
  readonly url: string;
  /** Of the group of which one process may be stuck, and the name of its program. */
  readonly groupId: number;
  readonly program: string;
}

/**
 * Watches until `stop`, and calls `onEnd` whenever it has ended a process. It does when the service owes an answer
 * for `limitMs` in which that process works all the time, or is stopped. A machine that is slow or asleep delays
 * this process as well: then it counts anew. Rejects when it is to stop, and where the system has no `ps`.
 */
export async function watch(
  watched: WatchedService,
  onEnd: () => void,
  stop: AbortSignal,
  limitMs = SILENCE_LIMIT_MS,
): Promise<void> {
  while (!stop.aborted) {
    const question = new Question(watched.url, stop);
    await pause(limitMs / STEPS, undefined, { signal: stop });
    while (!question.isAnswered) {
      const before = await listGroup(watched.groupId, watched.program);
      if (!(await isSilent(question, limitMs, stop))) continue;
      const after = await listGroup(watched.groupId, watched.program);
      const stuck = after.filter((now) => isStuck(now, before, limitMs));
      if (question.isAnswered || stuck.length === 0) continue;
      for (const { pid } of stuck) kill(pid);
      onEnd();
      break;
    }
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

/** Asks the service for what needs nothing but its thread. That it refuses is a sign of life, too. */
class Question {
  isAnswered = false;

  constructor(url: string, stop: AbortSignal) {
    const settle = () => {
      this.isAnswered = true;
    };
    const answered = fetch(`${url}/v1/`, { method: "OPTIONS", signal: stop });
    answered.then(({ body }) => body?.cancel()).then(settle, settle);
  }
}

/** True when no answer came for so long; false as soon as there is one, or when this process was held up itself. */
async function isSilent(question: Question, limitMs: number, stop: AbortSignal): Promise<boolean> {
  const stepMs = limitMs / STEPS;
  for (let step = 0; step < STEPS; step += 1) {
    const startedAt = performance.now();
    await pause(stepMs, undefined, { signal: stop });
    if (question.isAnswered || performance.now() - startedAt > 2 * stepMs) return false;
  }
  return true;
}

/** True for a process that was there before, and has worked ever since or is stopped. */
function isStuck({ pid, isStopped, cpuMs }: ProcessState, before: readonly ProcessState[], spanMs: number) {
  const earlier = before.find((process) => process.pid === pid);
  return earlier !== undefined && (isStopped || cpuMs - earlier.cpuMs >= spanMs * WORKING_SHARE);
}
