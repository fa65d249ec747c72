/** The network that webhooks and workflows reach under `npm start`: whatever a name resolves to, addresses are public. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, beforeAll, expect, it } from "vitest";
import { PUBLIC_NETWORK } from "../../src/cli/service/development.ts";

/** Fetches a URL by the service's own network and by the public one, and answers who was reached. */
const SCRIPT = `export default {
  async fetch(request, env) {
    const url = await request.text();
    const reaches = (fetch) => fetch(url).then((response) => response.text(), () => "refused");
    return Response.json([await reaches((url) => fetch(url)), await reaches((url) => env.PUBLIC_NETWORK.fetch(url))]);
  },
};`;

const receiver = createServer((_, response) => response.end("reached"));
let miniflare: Miniflare;
beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: SCRIPT,
      compatibilityDate: "2026-01-01",
      serviceBindings: { PUBLIC_NETWORK },
    }),
  );
  await miniflare.ready;
});
afterAll(async () => {
  await miniflare?.dispose();
  receiver.close();
});

it.each(["127.0.0.1", "localhost"])("refuses %s, which the service itself reaches", async (host) => {
  const { port } = receiver.address() as AddressInfo;
  const body = `http://${host}:${port}/`;
  const response = await miniflare.dispatchFetch("http://service/", { method: "POST", body });
  expect(await response.json()).toEqual(["reached", "refused"]);
});
