/** Captures this process's console, for tests of clients that should write nothing. */

const METHODS = ["debug", "info", "log", "warn", "error", "trace"] as const;

/** Runs `action`, and returns the console's output and Node's warnings meanwhile. */
export async function writtenDuring(action: () => Promise<void>): Promise<readonly string[]> {
  const written: string[] = [];
  const originals = METHODS.map((method) => [method, console[method]] as const);
  const warned = ({ message }: Error) => written.push(message);
  for (const method of METHODS)
    console[method] = (...values: unknown[]) => written.push(`${method}: ${values.join(" ")}`);
  process.on("warning", warned);
  try {
    await action();
  } finally {
    process.off("warning", warned);
    for (const [method, original] of originals) console[method] = original;
  }
  return written;
}
