/** REST with the tokens of a client, apart from it: most pages send no such request. */
import { backoffMs } from "@atrium/contract/pacing/backoff.ts";
import { Rest } from "../../core/rest.ts";
import { abortable, Deferred } from "../../core/runtime.ts";
import { NULL_BACKOFF } from "./machine.ts";
import type { Tokens } from "./token.ts";

/**
 * REST as the user of these tokens. The user is known when the promise resolves. Throws as the tokens' function
 * does.
 */
export async function restOf(serverUrl: string, tokens: Tokens, signal = neverAborted()): Promise<Rest> {
  await obtain(tokens, signal);
  const accountId = tokens.claims?.accountId ?? "";
  const authorization = async (ends: AbortSignal) => `Bearer ${await obtain(tokens, ends)}`;
  return new Rest({ serverUrl, accountId, authorization });
}

const neverAborted = (): AbortSignal => new AbortController().signal;

/** The current token; waits while there is none. Throws CONNECTION_FAILED if the function fails. */
async function obtain(tokens: Tokens, signal: AbortSignal): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const token = await tokens.next(null, tokens.request("connect", signal));
    if (token !== null) return token;
    const { promise, resolve } = new Deferred();
    await abortable(promise, { signal }, tokens.runtime.after(backoffMs(attempt, NULL_BACKOFF), resolve));
  }
}
