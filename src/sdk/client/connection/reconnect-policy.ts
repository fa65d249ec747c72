/** Whether, and when, a lost connection is opened again. It decides; nothing is done here. */

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;

/** `later`: the service asked for patience, so that coming back at once would be refused again. */
export type ReconnectDecision = "soon" | "later" | "never";

/** Answers for close codes as PROTOCOL.md's table does; what is not in it broke on the way. */
export function planReconnect(code: number, reason: string): ReconnectDecision {
  switch (code) {
    case 1000:
    case 4400:
    case 4401:
    case 4403:
    case 4404:
      return "never";
    case 4413:
      return reason === "reader too slow" ? "soon" : "never";
    case 4409:
    case 4429:
      return "later";
    default:
      return "soon";
  }
}

/**
 * Milliseconds before attempt 1, 2, …: none before the first, then a random part of a growing bound, so that
 * the members of a room that was restarted do not all come back in the same moment.
 */
export function reconnectDelayMs(attempt: number, comeback: "soon" | "later", random: number): number {
  if (comeback === "later") return LONGEST_PAUSE_MS * (0.5 + random / 2);
  return attempt === 1 ? 0 : random * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 2));
}

const CODES: Readonly<Record<number, string>> = {
  4400: "BAD_REQUEST",
  4401: "UNAUTHORIZED",
  4403: "FORBIDDEN",
  4404: "NOT_FOUND",
  4409: "CONFLICT",
  4413: "VALIDATION_ERROR",
  4429: "RATE_LIMITED",
};

/** What a close comes down to for those who wait for an answer. */
export const faultOf = (code: number, reason: string) => ({
  code: CODES[code] ?? "DISCONNECTED",
  module: "Rooms",
  message: reason || `The connection has ended (${code})`,
});
