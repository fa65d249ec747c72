/** The Turnstile challenge: signing in and up ask for it where a deployment has set its keys, and only there. */
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, inject, it } from "vitest";
import { app } from "../../src/app.ts";
import type { Settings } from "../../src/platform/settings.ts";
import { freshAddress } from "../support/api.ts";
import { expectLogged } from "../support/log-guard.ts";
import { answerOf, freshEmail, PASSWORD, pageRequest, signUp } from "../support/person.ts";
import type { Received } from "../support/receiver.ts";

const { port, closedPort } = inject("receiver");
const verifyAt = (name: string): Settings => ({
  ...{ TURNSTILE_SITE_KEY: "site", TURNSTILE_SECRET_KEY: "secret" },
  TURNSTILE_VERIFY_URL: `http://127.0.0.1:${port}/siteverify/${name}`,
});

const ask = (settings: Settings, method: string, path: string, body?: object, address = freshAddress()) =>
  answerOf(settings, pageRequest(method, `/dashboard/api${path}`, body, { "CF-Connecting-IP": address }));

/** Requests that Turnstile's stand-in received. */
async function asked(name: string): Promise<Record<string, string>[]> {
  const response = await fetch(`http://127.0.0.1:${port}/received/${name}`);
  const received = await response.json<Received[]>();
  return received.map(({ body }) => Object.fromEntries(new URLSearchParams(body)));
}

const passed = () => `passed-${crypto.randomUUID()}`;

describe("with Turnstile's keys", () => {
  it("the page learns the site key, and may load the widget and nothing else from elsewhere", async () => {
    const name = crypto.randomUUID();
    expect((await ask(verifyAt(name), "GET", "/challenge")).data).toMatchObject({ site_key: "site" });
    const policyOf = async (settings: Settings) => {
      const page = pageRequest("GET", "/dashboard/sign-in");
      const { headers } = await app.fetch(page, { ...env, ...settings }, createExecutionContext());
      return headers.get("Content-Security-Policy") ?? "";
    };
    const policy = await policyOf(verifyAt(name));
    expect(policy).toContain("script-src 'self' https://challenges.cloudflare.com;");
    expect(policy).toContain("; frame-src https://challenges.cloudflare.com");
    expect(await policyOf({})).not.toContain("cloudflare");
    expect((await ask({}, "GET", "/challenge")).data).toMatchObject({ site_key: null });
  });

  it("strangers who do not pass it, on however many networks, hold up no one who does", async () => {
    const settings = verifyAt(crypto.randomUUID());
    const { email } = await signUp();
    const tries = Array.from({ length: 28 }, () =>
      ask(settings, "POST", "/sign-in", { email: freshEmail(), password: PASSWORD, challenge: "failed" }),
    );
    const refused = await Promise.all(tries);
    expect(new Set(refused.map(({ error }) => error?.code))).toEqual(new Set(["VALIDATION_ERROR"]));
    const person = { email, password: PASSWORD, challenge: passed() };
    expect((await ask(settings, "POST", "/sign-in", person)).status).toBe(200);
  });

  it("signing up and in need a response that passes, each time another", async () => {
    const [name, address, email] = [crypto.randomUUID(), freshAddress(), freshEmail()];
    const settings = verifyAt(name);
    const [first, second] = [passed(), passed()];
    const person = { name: "Ada", email, password: PASSWORD };
    const signUpWith = (challenge?: string) =>
      ask(settings, "POST", "/sign-up", { ...person, challenge }, address);
    const signInWith = (challenge?: string) =>
      ask(settings, "POST", "/sign-in", { email, password: PASSWORD, challenge }, address);
    for (const refusal of [await signUpWith(), await signUpWith(""), await signUpWith("forged")]) {
      expect([refusal.status, refusal.error?.code]).toEqual([400, "VALIDATION_ERROR"]);
      expect(refusal.error?.message).toMatch(/^challenge: .*confirm.* that you are a person/);
    }
    expect((await signUpWith(first)).status).toBe(201);
    expect([(await signInWith()).status, (await signInWith(first)).status]).toEqual([400, 400]);
    expect((await signInWith(second)).status).toBe(200);
    const question = { secret: "secret", remoteip: address };
    expect(await asked(name)).toEqual([
      { ...question, response: "forged" },
      { ...question, response: first },
      { ...question, response: first },
      { ...question, response: second },
    ]);
  });

  it.each([
    [
      "Turnstile is out of reach",
      { TURNSTILE_VERIFY_URL: `http://127.0.0.1:${closedPort}/` },
      "did not answer",
    ],
    ["its answer is none", { TURNSTILE_VERIFY_URL: `http://127.0.0.1:${port}/status/500` }, "did not answer"],
    ["the secret is wrong", { TURNSTILE_SECRET_KEY: "another" }, "TURNSTILE_SECRET_KEY"],
    ["a key is missing", { TURNSTILE_SECRET_KEY: "" }, "belong together"],
  ])("no one signs in when %s, and the log says so", async (_, settings, message) => {
    const body = { email: freshEmail(), password: PASSWORD, challenge: passed() };
    const answer = await ask({ ...verifyAt("failing"), ...settings }, "POST", "/sign-in", body);
    expect(answer.error).toMatchObject({ code: "INTERNAL_ERROR", message: expect.stringContaining(message) });
    expectLogged("A dashboard request failed");
  });
});

it("without the keys, none of this is asked", async () => {
  const stranger = { email: freshEmail(), password: PASSWORD, challenge: "anything" };
  expect((await ask({}, "POST", "/sign-in", stranger)).status).toBe(401);
});
