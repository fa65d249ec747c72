/** What the room's object tells whoever runs the service: one short line, no token, nothing that users wrote. */
import { innermostCause } from "./errors.ts";

/** Writes one line. */
export function logFailure(what: string, error: unknown): void {
  console.error(`realtime: ${what}: ${String(innermostCause(error))}`);
}
