/** Cost of an action for this process, which is the application: time, and processor time. */

export interface Spent {
  readonly ms: number;
  readonly processorMs: number;
}

export async function spend(action: () => void | Promise<void>): Promise<Spent> {
  const [startedAt, usage] = [performance.now(), process.cpuUsage()];
  await action();
  const { user, system } = process.cpuUsage(usage);
  return { ms: performance.now() - startedAt, processorMs: (user + system) / 1000 };
}
