/** Runs the scheduled tasks of a service on this machine, as Cloudflare's cron trigger does. */

const MINUTE_MS = 60_000;

/** Runs `tasks` now and then every minute. A run that takes longer delays the next one; a failure is reported. */
export function runEveryMinute(tasks: () => Promise<unknown>, report: (error: unknown) => void): void {
  const run = async () => {
    await tasks().catch(report);
    setTimeout(run, MINUTE_MS);
  };
  void run();
}
