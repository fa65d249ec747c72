/** Requests that break off while their body is read: the client's failure, and logged as such. */
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import { app } from "../../src/app.ts";
import { account } from "../support/api.ts";

const encoder = new TextEncoder();

/** A body that loses its connection after these bytes. */
function brokenAfter(text: string): ReadableStream<Uint8Array> {
  let isSent = false;
  return new ReadableStream({
    type: "bytes",
    pull(controller) {
      if (isSent) controller.error(new Error("Network connection lost."));
      else controller.enqueue(encoder.encode(text));
      isSent = true;
    },
  });
}

it.each([
  [
    "/upload",
    "multipart/form-data; boundary=x",
    '--x\r\nContent-Disposition: form-data; name="roomId"\r\n\r\na',
  ],
  ["/rooms", "application/json", '{"name":"A'],
])("a POST to %s that breaks off is a warning, and no error", async (path, type, start) => {
  const { api } = await account();
  const warned = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const context = createExecutionContext();
  const request = api.request("POST", path, {
    headers: { "Content-Type": type },
    body: brokenAfter(start),
  });
  const response = await app.fetch(request, env, context);
  await waitOnExecutionContext(context);
  const entries = warned.mock.calls.map(([entry]) => JSON.parse(String(entry)));
  warned.mockRestore();
  expect(await response.json()).toMatchObject({ error: { code: "BAD_REQUEST" } });
  expect(entries).toMatchObject([{ message: "A request broke off", error: "Network connection lost." }]);
});

it.each(["/nothing", "/docs/nothing", "/demo/nothing", "/dashboard/api/nothing"])(
  "a 404 outside the API, at %s, cannot be read by other origins",
  async (path) => {
    const response = await app.fetch(
      new Request(`https://atrium.test${path}`),
      env,
      createExecutionContext(),
    );
    expect(response.status).toBe(404);
    expect(response.headers.has("Access-Control-Allow-Origin")).toBe(false);
  },
);
