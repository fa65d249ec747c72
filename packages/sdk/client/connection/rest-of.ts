/** REST with the tokens of a client, apart from it: most pages send no such request. */
import { Rest } from "../../core/rest.ts";
import { obtain } from "./obtain-token.ts";
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
