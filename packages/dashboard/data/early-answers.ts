/** The answers for which `early.ts` has asked before the page's code arrived. */

/** By address. Each is for the first request of its address. */
export type EarlyAnswers = Map<string, Promise<Response>>;

declare global {
  /** Absent where nothing is asked for early. */
  var earlyAnswers: EarlyAnswers | undefined;
}

/** Like `fetch`, but takes the early answer if it is a good one: an error of then may not hold any more. */
export const fetchOrTake: typeof fetch = async (input, init) => {
  const { href } = new URL(String(input), location.origin);
  const early = init?.method === "GET" ? globalThis.earlyAnswers?.get(href) : undefined;
  globalThis.earlyAnswers?.delete(href);
  const answer = await early?.catch(() => undefined);
  return answer?.ok === true ? answer : fetch(input, init);
};
