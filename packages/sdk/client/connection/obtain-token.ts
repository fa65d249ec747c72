/** Waits for the token of a request over HTTP. */
import { backoffMs } from "@atrium/contract/pacing/backoff.ts";
import { abortable, Deferred } from "../../core/runtime.ts";
import { NULL_BACKOFF } from "./machine.ts";
import type { Tokens } from "./token.ts";

/** The current token; waits while there is none. Throws CONNECTION_FAILED if the function fails. */
export async function obtain(tokens: Tokens, signal: AbortSignal): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const token = await tokens.next(null, tokens.request("connect", signal));
    if (token !== null) return token;
    const { promise, resolve } = new Deferred();
    await abortable(promise, { signal }, tokens.runtime.after(backoffMs(attempt, NULL_BACKOFF), resolve));
  }
}
