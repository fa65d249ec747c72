/** Attempts over the network, to servers that misbehave in every way. */

import { parseRetryAfter } from "@atrium/contract/pacing/backoff.ts";
import { Webhook } from "standardwebhooks";
import { describe, expect, inject, it } from "vitest";
import type { Destination } from "../../src/delivery/subscriber/handler.ts";
import { ATTEMPT_TIMEOUT_MS, attempt } from "../../src/features/webhooks/attempt.ts";
import type { Received } from "../support/receiver.ts";

const { port, mumblerPort, closedPort } = inject("receiver");
const SECRETS = ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"];
const IMPATIENT_MS = 300;

interface Options extends Partial<Destination & Parameters<typeof attempt>[2]> {
  readonly body?: string;
  readonly id?: string;
}

/** Sends to a path of the receiver, or to another address. */
const send = (target: string, options: Options = {}) => {
  const { body = "{}", id = crypto.randomUUID() } = options;
  const url = target.startsWith("/") ? `http://127.0.0.1:${port}${target}` : target;
  const destination = {
    url,
    secrets: SECRETS,
    devTargets: ["127.0.0.1"],
    ownHosts: ["localhost:1"],
    ...options,
  };
  const ports = { fetch: globalThis.fetch, now: Date.now, ...options };
  return attempt(destination, { id, body, replayId: null }, ports);
};

it("rejects for a fault of the service, which is no failure of the receiver", async () => {
  await expect(send("/ok/fault", { secrets: [null as never] })).rejects.toThrow();
});

const receivedAt = async (name: string): Promise<readonly Received[]> =>
  (await fetch(`http://127.0.0.1:${port}/received/${name}`)).json();

const DELIVERED = { outcome: "delivered", errorClass: null, error: null, retryAfterMs: null };

describe("an attempt", () => {
  it("posts the body, signed with every secret", async () => {
    const name = crypto.randomUUID();
    const body = '{"event":"user.created","data":{"name":"Bücher ✨"}}';
    const result = await send(`/ok/${name}`, { body, id: "b0d7b1c2" });
    expect(result).toMatchObject({ ...DELIVERED, statusCode: 200, answer: "ok" });
    const [message, ...more] = await receivedAt(name);
    expect(more).toEqual([]);
    expect(message).toMatchObject({
      method: "POST",
      body,
      headers: {
        "content-type": "application/json",
        "user-agent": "Atrium-Webhooks/1",
        "webhook-id": "b0d7b1c2",
      },
    });
    expect(result.requestHeaders).toEqual({
      "content-type": "application/json",
      "user-agent": "Atrium-Webhooks/1",
      "webhook-id": "b0d7b1c2",
      "webhook-timestamp": message?.headers["webhook-timestamp"],
    });
    expect(result.responseHeaders).toMatchObject({ date: expect.any(String) });
    for (const secret of SECRETS) {
      expect(new Webhook(secret).verify(body, message?.headers ?? {})).toEqual(JSON.parse(body));
    }
  });

  it.each([
    ...[200, 201, 202, 204, 299].map((status) => [status, "delivered", null] as const),
    ...[400, 401, 404, 409, 418, 429, 500, 503].map((status) => [status, "failed", "status"] as const),
    ...[301, 302, 303, 307, 308].map((status) => [status, "failed", "redirect"] as const),
    // The last attempt.
    [410, "gone", "status"],
    // Statuses of Cloudflare.
    [521, "failed", "connect"],
    [522, "failed", "timeout"],
    [526, "failed", "tls"],
    [530, "failed", "dns"],
  ] as const)(
    "that is answered %d is %s, with the error class %s",
    async (statusCode, outcome, errorClass) => {
      const result = await send(`/status/${statusCode}`);
      expect(result).toMatchObject({ outcome, errorClass, statusCode, retryAfterMs: null });
      expect(result.answer).toBe(statusCode === 204 ? "" : `answer ${statusCode}`);
      if (statusCode === 521) expect(result.error).toBe("The receiver refused the connection");
      if (errorClass === null || errorClass === "status")
        expect(result.error).toBe(errorClass && `The receiver answered ${statusCode}`);
    },
  );

  it("does not follow a redirect", async () => {
    const name = crypto.randomUUID();
    const location = encodeURIComponent(`http://127.0.0.1:${port}/ok/${name}`);
    expect(await send(`/status/302?location=${location}`)).toMatchObject({ errorClass: "redirect" });
    expect(await receivedAt(name)).toEqual([]);
  });
});

describe("the duration of an attempt", () => {
  it("is 15 seconds at most", () => expect(ATTEMPT_TIMEOUT_MS).toBe(15_000));

  it.each([
    ["a receiver that never answers", "/silent", IMPATIENT_MS, null],
    // The headers arrive before that on a slow machine, too.
    ["an answer that comes byte by byte", "/dribble", 3_000, 200],
    ["headers that come byte by byte", `http://127.0.0.1:${mumblerPort}/`, IMPATIENT_MS, null],
  ])("ends for %s", async (_, target, timeoutMs, statusCode) => {
    const result = await send(target, { timeoutMs });
    expect(result).toMatchObject({ outcome: "failed", errorClass: "timeout", statusCode });
    expect(result.durationMs).toBeGreaterThanOrEqual(timeoutMs - 20);
  });
});

describe("the response", () => {
  it("is kept up to 4 KiB, without partial characters", async () => {
    expect((await send("/sized/2048")).answer).toBe("é".repeat(2048));
    expect((await send("/sized/5000")).answer).toBe("é".repeat(2048));
    expect((await send("/sized/100000")).answer).toHaveLength(2048);
  });

  it("is left unread beyond 64 KiB, even if it has no end", async () => {
    const result = await send("/flood");
    expect(result).toMatchObject({ ...DELIVERED, statusCode: 200 });
    expect(result.answer).toBe("x".repeat(4096));
  });

  it("fails the attempt when it breaks off", async () => {
    expect(await send("/torn")).toMatchObject({
      outcome: "failed",
      errorClass: "body",
      statusCode: 200,
      answer: "half of it",
    });
  });
});

describe("a receiver that cannot be reached", () => {
  const UNANSWERED = { outcome: "failed", statusCode: null, answer: null, retryAfterMs: null };

  it.each([
    ["resets the connection", "/reset"],
    ["does not listen", `http://127.0.0.1:${closedPort}/`],
    ["speaks no TLS", `https://127.0.0.1:${port}/ok/tls`],
  ])("fails when it %s", async (_, target) => {
    const error = "The receiver refused the connection, or ended it without a response";
    expect(await send(target)).toMatchObject({ ...UNANSWERED, errorClass: "connect", error });
  });

  it.each([
    ["getaddrinfo ENOTFOUND hooks.example.com", "dns"],
    ["failed to lookup address information", "dns"],
    ["unable to verify the first certificate", "tls"],
    ["TLS peer's certificate is not trusted", "tls"],
    ["Network connection lost.", "connect"],
    ["internal error; reference = 0", "connect"],
  ])("has an error class that follows from the runtime's message: %s", async (message, errorClass) => {
    const refusing = () => Promise.reject(new TypeError("fetch failed", { cause: new Error(message) }));
    const result = await send("/ok/never", { fetch: refusing });
    expect(result).toMatchObject({ ...UNANSWERED, errorClass });
    expect(result.error).not.toContain(message);
  });
});

describe("the target", () => {
  it.each([
    ["https://10.0.0.1/", "The URL must not be a private or reserved address"],
    ["http://example.com/", "The URL must begin with https://"],
    ["https://localhost:1/", "The URL must not lead back to this service"],
    ["nonsense", "The URL must be a URL of at most 2048 characters"],
  ])("is checked again before anything is sent: %s", async (url, error) => {
    const unused = () => expect.unreachable();
    expect(await send(url, { fetch: unused })).toMatchObject({
      outcome: "failed",
      errorClass: "target",
      statusCode: null,
      error,
    });
  });

  it("may be a local host only in development", async () => {
    const name = crypto.randomUUID();
    expect(await send(`/ok/${name}`, { devTargets: [] })).toMatchObject({ errorClass: "target" });
    expect(await receivedAt(name)).toEqual([]);
  });
});

describe("Retry-After", () => {
  const now = Date.UTC(2026, 0, 1);

  it.each([
    ["0", 0],
    ["7", 7000],
    ["86400", 86_400_000],
    ["9".repeat(400), Number.MAX_SAFE_INTEGER],
    ["Thu, 01 Jan 2026 00:01:30 GMT", 90_000],
    ["Wed, 31 Dec 2025 23:00:00 GMT", 0],
    [null, null],
    ["", null],
    ["-1", null],
    ["1.5", null],
    ["soon", null],
    ["2026-01-01", null],
    ["Thu, 99 Jan 2026 00:00:00 GMT", null],
  ])("%s", (value, expected) => expect(parseRetryAfter(value, now)).toBe(expected));

  it("is part of the result, in seconds and as a date", async () => {
    expect(await send("/status/429?retry-after=7")).toMatchObject({
      errorClass: "status",
      retryAfterMs: 7000,
    });
    const date = encodeURIComponent("Thu, 01 Jan 2026 00:01:30 GMT");
    const dated = await send(`/status/503?retry-after=${date}`, { now: () => now });
    expect(dated).toMatchObject({ statusCode: 503, retryAfterMs: 90_000 });
  });
});
