/** Errors of routes that are loaded at their first request, as a client and the log see them. */
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import type { Env } from "../../src/env.ts";
import { Failure } from "../../src/http/envelope.ts";
import worker from "../../src/index.ts";
import { type Answer, account, ORIGIN } from "../support/api.ts";
import { whileTableFails } from "../support/database-failure.ts";

/** The envelope of the Worker's response, and the lines that it logs as errors meanwhile. */
async function ask(request: Request, bindings: Partial<Env> = {}) {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const execution = createExecutionContext();
  const response = await worker.fetch(request, { ...env, ...bindings }, execution);
  await waitOnExecutionContext(execution);
  const lines = log.mock.calls.map(([line]) => String(line));
  log.mockRestore();
  return {
    status: response.status,
    headers: response.headers,
    lines,
    envelope: await response.json<Answer>(),
  };
}

/** A failure in the usual envelope, whose request ID is in its header and in the log, with the cause. */
function expectFailure({ status, headers, lines, envelope }: Awaited<ReturnType<typeof ask>>, cause: RegExp) {
  expect(status).toBe(500);
  expect(Failure.strict().parse(envelope).error.code).toBe("INTERNAL_ERROR");
  expect(headers.get("X-Request-Id")).toBe(envelope.requestId);
  const entries = lines.map((line) => JSON.parse(line));
  expect(entries.filter(({ request }) => request === envelope.requestId)).toMatchObject([
    { level: "error", message: "A request failed", error: expect.stringMatching(cause) },
  ]);
}

it("an endpoint whose table fails responds in the envelope, and its request is in the log", async () => {
  const { api } = await account();
  await whileTableFails("webhooks", async () =>
    expectFailure(await ask(api.request("GET", "/webhooks")), /no such table: webhooks/),
  );
  expect((await api.get("/webhooks")).status).toBe(200);
});

it("a route beside the endpoints that fails responds in the envelope, and its request is in the log", async () => {
  const bindings = { JWT_SECRET: undefined } as unknown as Partial<Env>;
  const failed = await ask(new Request(`${ORIGIN}/unsubscribe?token=a.b`), bindings);
  expectFailure(failed, /JWT_SECRET/);
  expect(failed.headers.get("Access-Control-Allow-Origin")).toBe(null);
});
