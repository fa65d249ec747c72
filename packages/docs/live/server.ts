/** Stands in for the server of a quickstart in a frame beside its code: `/token` comes from the demo, for the room that the page has chosen. */

const report = (state: "shown" | "failed"): void => parent.postMessage(state, location.origin);

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

/** The `WebSocket` of the package: the first message says that the room is there. */
export class WebSocket extends globalThis.WebSocket {
  constructor(...given: ConstructorParameters<typeof globalThis.WebSocket>) {
    super(...given);
    this.addEventListener("message", () => report("shown"), { once: true });
  }
}
