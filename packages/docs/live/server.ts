/** Stands in for the server of a quickstart in a frame beside its code: `/token` comes from the demo, for the room that the page has chosen. */

import { CLOSE_CODES } from "@atrium/contract/close-codes.ts";

/** The page has joined its room, it cannot, or the room has ended. */
export type LiveState = "shown" | "failed" | "ended";

const report = (state: LiveState): void => parent.postMessage(state, location.origin);

/** The codes with which a room ends that is deleted, or whose time is over. */
const ENDS: readonly number[] = [CLOSE_CODES.NOT_FOUND, CLOSE_CODES.GONE];

/** The `fetch` of the quickstart's code. */
export const fetch: typeof globalThis.fetch = async (input, init) => {
  if (input !== "/token") return globalThis.fetch(input, init);
  const response = await globalThis
    .fetch(`/demo/readers${location.search}`, { method: "POST" })
    .catch(() => null);
  if (!response?.ok) {
    report("failed");
    return new Response("The demo lets no one in at the moment; reload the page to try again", {
      status: 503,
    });
  }
  const { data }: { data: { token: string } } = await response.json();
  return Response.json({ serverUrl: location.origin, token: data.token });
};

/** The `WebSocket` of the package: the first message says whether the room lets its user in. */
export class WebSocket extends globalThis.WebSocket {
  constructor(...given: ConstructorParameters<typeof globalThis.WebSocket>) {
    super(...given);
    this.addEventListener(
      "message",
      ({ data }) => report(/"success":false|"authFailed"/.test(data) ? "failed" : "shown"),
      { once: true },
    );
    this.addEventListener("close", ({ code }) => ENDS.includes(code) && report("ended"));
  }
}
