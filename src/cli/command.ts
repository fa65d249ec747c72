/** What every command shares: one line and an exit code instead of a stack trace, and a clean end on Ctrl-C. */

const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** An end that the person at the terminal should read about, in one line. */
export class CommandError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The command was called in a way it does not understand; the message is its usage line. */
export class UsageError extends CommandError {
  constructor(message: string) {
    super(message, 2);
  }
}

/**
 * Runs a command to its end and sets the exit code. A stop signal only aborts the signal that `main` is
 * given, so that it can end its children first; repeats are ignored, because npm may pass on a second one.
 */
export async function runCommand(
  main: (stop: AbortSignal) => Promise<void>,
  { interruptedExitCode }: { readonly interruptedExitCode: number },
): Promise<void> {
  const stopping = new AbortController();
  for (const name of STOP_SIGNALS) process.on(name, () => stopping.abort());
  try {
    await main(stopping.signal);
  } catch (error) {
    if (stopping.signal.aborted) process.exitCode = interruptedExitCode;
    else if (error instanceof CommandError) {
      console.error(error.message);
      process.exitCode = error.exitCode;
    } else throw error;
  }
}
