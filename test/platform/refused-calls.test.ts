/** Calls of objects that the platform refuses, or that still run the version before and lack a newer Worker's method. */
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { toAppError } from "../../src/http/envelope.ts";

it("an object that lacks a method of a newer Worker is asked again", async () => {
  const { ROOMS, SUBSCRIBERS, EVENT_LOGS, REQUEST_LOGS, REQUEST_RATES, GUESS_LIMITS, INBOXES } = env;
  for (const objects of [
    ROOMS,
    SUBSCRIBERS,
    EVENT_LOGS,
    REQUEST_LOGS,
    REQUEST_RATES,
    GUESS_LIMITS,
    INBOXES,
  ]) {
    const method: unknown = Reflect.get(objects.getByName(crypto.randomUUID()), "ofALaterVersion");
    if (typeof method !== "function") throw new Error("A stub has every method");
    const error: unknown = await method().catch((thrown: unknown) => thrown);
    expect(toAppError(error, "Rooms")).toMatchObject({ code: "RATE_LIMITED", retryAfterSeconds: 5 });
  }
});

it("a platform that refuses objects until its spending cap is raised is named as the reason", () => {
  const error = new Error("Exceeded the account's spending cap for Durable Objects");
  expect(toAppError(error, "Rooms")).toMatchObject({
    code: "RATE_LIMITED",
    message: "The service has reached the spending cap of its account; wait until it is raised",
    retryAfterSeconds: 5,
  });
});
