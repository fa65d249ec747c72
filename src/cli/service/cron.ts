/** Runs the scheduled tasks of a service on this machine, as Cloudflare's cron trigger does. */
import { MINUTE_MS } from "../../platform/time.ts";

/**
 * Runs `tasks` now and then every minute, until `stop`. A run that takes longer delays the next one. A failure is
 * reported, unless it comes after `stop`: then the service has ended under the run.
 */
export function runEveryMinute(
  tasks: () => Promise<unknown>,
  report: (error: unknown) => void,
  stop: AbortSignal,
): void {
  const run = async () => {
    await tasks().catch((error: unknown) => {
      if (!stop.aborted) report(error);
    });
    if (!stop.aborted) timer = setTimeout(run, MINUTE_MS);
  };
  let timer: NodeJS.Timeout | undefined;
  stop.addEventListener("abort", () => clearTimeout(timer), { once: true });
  void run();
}
