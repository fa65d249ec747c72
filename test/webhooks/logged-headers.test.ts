/** What a delivery's log keeps of headers: some, and never a secret. */
import { expect, it } from "vitest";
import { loggedHeaders } from "../../src/features/webhooks/attempt.ts";

it("keeps no credentials, cookies or signatures, in any case", () => {
  const headers = new Headers({ "Content-Type": "text/plain", "X-Request-Id": "1", Date: "today" });
  const secrets = [
    ...["Authorization", "Set-Cookie", "Proxy-Authenticate", "X-Api-Key", "webhook-signature"],
    ...["X-CSRF-Token", "X-Amz-Security-Token", "Session-Id", "Client-Secret", "X-Password"],
  ];
  for (const name of secrets) headers.set(name, "hidden");
  expect(loggedHeaders(headers)).toEqual({
    "content-type": "text/plain",
    date: "today",
    "x-request-id": "1",
  });
});

it("keeps little, however much there is", () => {
  const many = Array.from({ length: 100 }, (_, index) => [`X-${index}`, `${index}`] as const);
  expect(Object.keys(loggedHeaders(many))).toEqual(many.slice(0, 30).map(([name]) => name.toLowerCase()));
  const long = many.map(([name]) => [name, "x".repeat(10_000)] as const);
  const kept = loggedHeaders(long);
  expect(Object.values(kept)).toEqual(Array(7).fill("x".repeat(256)));
  expect(JSON.stringify(kept).length).toBeLessThan(2_300);
});
