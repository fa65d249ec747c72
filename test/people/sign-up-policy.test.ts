/** Who may sign up: anyone, invited people, or people with an address of some domains. */
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { app } from "../../src/app.ts";
import type { Settings } from "../../src/platform/config/settings.ts";
import { signUpPolicy } from "../../src/platform/config/sign-up.ts";
import { type Answer, freshAddress, ORIGIN } from "../support/api.ts";
import { expectLogged } from "../support/log-guard.ts";
import { freshEmail, PASSWORD, signUp, tokenIn } from "../support/person.ts";

/** A request of the dashboard's page to a deployment with these settings. */
async function ask(settings: Settings, method: string, path: string, body?: object, cookie = "") {
  const headers = {
    ...{ Origin: ORIGIN, "Sec-Fetch-Site": "same-origin", "CF-Connecting-IP": freshAddress() },
    ...{ "Content-Type": "application/json", Cookie: cookie },
  };
  const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
  const request = new Request(`${ORIGIN}/dashboard/api${path}`, init);
  const response = await app.fetch(request, { ...env, ...settings }, createExecutionContext());
  return { status: response.status, ...(await response.json<Omit<Answer, "status">>()) };
}

const newPerson = (email = freshEmail()) => ({ name: "Ada", email, password: PASSWORD });
const CLOSED: Settings = { SIGN_UP: "" };
const DOMAINS: Settings = { SIGN_UP: "domains", SIGN_UP_DOMAINS: "acme.example, @Corp.example" };

it("a deployment is closed until it is opened, and the page and the API say so", async () => {
  expect(signUpPolicy({})).toEqual({ type: "invite" });
  expect((await ask(CLOSED, "GET", "/sign-up")).data).toEqual({ type: "invite" });
  const answer = await ask(CLOSED, "POST", "/sign-up", newPerson());
  expect([answer.status, answer.error]).toEqual([
    403,
    {
      ...{ module: "Auth", code: "FORBIDDEN" },
      message: "Sign-up is by invitation only; ask a member of your organization for an invitation",
    },
  ]);
});

it("`npm start` is open", async () => {
  expect(signUpPolicy(env)).toEqual({ type: "open" });
});

it("an invitation opens a closed deployment for one person, who cannot create an organization there", async () => {
  const owner = await signUp();
  const api = owner.browser.api(owner.organization.id);
  const { data } = await api.post<{ url: string }>("/invitations", {});
  const invited = { ...newPerson(), invitation: tokenIn(data.url) };
  expect((await ask(CLOSED, "POST", "/sign-up", invited)).status).toBe(201);
  const { cookie } = owner.browser;
  const refused = await ask(CLOSED, "POST", "/organizations", { name: "Another" }, cookie);
  expect([refused.status, refused.error?.code]).toEqual([403, "FORBIDDEN"]);
  expect((await ask({ SIGN_UP: "open" }, "POST", "/organizations", { name: "Another" }, cookie)).status).toBe(
    201,
  );
});

it("an allow-list lets addresses of its domains sign up, in any case, and no look-alikes", async () => {
  expect((await ask(DOMAINS, "GET", "/sign-up")).data).toEqual({
    type: "domains",
    domains: ["acme.example", "corp.example"],
  });
  const id = crypto.randomUUID();
  for (const domain of ["evilacme.example", "acme.example.org", "sub.acme.example", "example"]) {
    const answer = await ask(DOMAINS, "POST", "/sign-up", newPerson(`ada-${id}@${domain}`));
    // "example" alone is no domain of an email address.
    expect([answer.status, answer.error?.code]).toEqual(
      domain === "example" ? [400, "VALIDATION_ERROR"] : [403, "FORBIDDEN"],
    );
    expect(answer.error?.message).toMatch(/^email: /);
  }
  expect((await ask(DOMAINS, "POST", "/sign-up", newPerson(`Ada-${id}@CORP.example`))).status).toBe(201);
});

it("names a setting that is wrong, and opens nothing", async () => {
  for (const settings of [{ SIGN_UP: "everyone" }, { SIGN_UP: "domains", SIGN_UP_DOMAINS: " ," }]) {
    const answer = await ask(settings, "POST", "/sign-up", newPerson());
    expect(answer.error).toMatchObject({
      code: "INTERNAL_ERROR",
      message: expect.stringContaining("SIGN_UP"),
    });
    expectLogged("A dashboard request failed: The setting SIGN_UP");
  }
});
