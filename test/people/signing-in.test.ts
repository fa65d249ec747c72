/** Signing up, in and out: the sign-in session, its cookie, and the knowledge of outsiders. */

import { env } from "cloudflare:workers";
import type { Me } from "@atrium/contract/rest/people.ts";
import { describe, expect, it } from "vitest";
import { memberPageEndpoints } from "../../src/features/members/dashboard-routes.ts";
import { passkeyEndpoints } from "../../src/features/passkeys/routes.ts";
import type { DashboardEndpoint } from "../../src/features/people/context.ts";
import type { GuessLimitObject } from "../../src/features/people/guess-limit-object.ts";
import { peopleEndpoints } from "../../src/features/people/routes.ts";
import { signUpPolicy } from "../../src/platform/config.ts";
import type { Stub } from "../../src/platform/objects/rpc.ts";
import type { Settings } from "../../src/platform/settings.ts";
import { refusalOf } from "../support/api.ts";
import { expectLogged } from "../support/log-guard.ts";
import {
  answerOf,
  DashboardBrowser,
  freshEmail,
  PASSWORD,
  pageRequest,
  signUp,
  tokenIn,
} from "../support/person.ts";

const countPeople = (email: string) =>
  env.DB.prepare("SELECT count(*) AS total FROM people WHERE email = ?").bind(email).first("total");

describe("signing up", () => {
  it("creates a person, their organization and their sign-in session", async () => {
    const browser = new DashboardBrowser();
    const email = freshEmail();
    const body = { name: "Ada", email, password: PASSWORD, organization: "Analytical Engines" };
    const answer = await browser.post<Me>("/sign-up", body);
    expect(answer).toMatchObject({ status: 201, description: "Signed up", error: null });
    expect(answer.data).toEqual({
      person: { id: expect.any(String), name: "Ada", email },
      organizations: [{ id: expect.any(String), name: "Analytical Engines", role: "owner" }],
    });
    expect((await browser.get<Me>("/me")).data).toEqual(answer.data);
  });

  it("names the organization after the person by default", async () => {
    expect((await signUp({ name: "Ada" })).organization.name).toBe("Ada");
  });

  it("is possible once per address, in any spelling", async () => {
    const { email, browser } = await signUp();
    for (const again of [email, email.toUpperCase(), `\t${email} `]) {
      const other = new DashboardBrowser();
      const answer = await other.post("/sign-up", { name: "Bo", email: again, password: "another password" });
      expect([refusalOf(answer), other.cookie]).toEqual([[409, "Auth", "CONFLICT"], ""]);
    }
    expect((await browser.get<Me>("/me")).data.person.name).toBe("Ada");
  });

  it("succeeds for one of several at once, and leaves nothing of the others", async () => {
    const email = freshEmail();
    const before = await env.DB.prepare("SELECT count(*) AS total FROM accounts").first<number>("total");
    const answers = await Promise.all(
      Array.from({ length: 5 }, () =>
        new DashboardBrowser().post("/sign-up", { name: "Ada", email, password: PASSWORD }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409]);
    expect(await countPeople(email)).toBe(1);
    expect(await env.DB.prepare("SELECT count(*) AS total FROM accounts").first("total")).toBe(
      (before ?? 0) + 1,
    );
  });

  it.each([
    ["name", { name: "" }],
    ["name", { name: "x".repeat(256) }],
    ["email", { email: "ada" }],
    ["email", { email: "ada@example.com\u0000" }],
    ["email", { email: `${"x".repeat(250)}@example.com` }],
    ["password", { password: "too short" }],
    ["password", { password: "x".repeat(129) }],
    ["password", { password: 7 }],
    ["organization", { organization: "" }],
    ["invitation", { organization: "Mine", invitation: "theirs" }],
  ])("names what is wrong with the %s: %o", async (field, wrong) => {
    const email = freshEmail();
    const answer = await new DashboardBrowser().post("/sign-up", {
      name: "Ada",
      email,
      password: PASSWORD,
      ...wrong,
    });
    expect(refusalOf(answer)).toEqual([400, "Auth", "VALIDATION_ERROR"]);
    expect(answer.error?.message).toContain(field);
    expect(await countPeople(email)).toBe(0);
  });
});

describe("the sign-in cookie", () => {
  it("is hidden from scripts, other hosts and requests of other sites", async () => {
    const { browser } = await signUp();
    expect(browser.setCookie).toMatch(
      /^__Host-atrium_session=[\w%]+\.[\w%]+; Max-Age=2592000; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
  });

  it("cannot be derived from the database", async () => {
    const { browser, email } = await signUp();
    const tables = ["people", "credentials", "sessions"];
    const rows = await Promise.all(tables.map((table) => env.DB.prepare(`SELECT * FROM ${table}`).all()));
    const text = JSON.stringify(rows.map(({ results }) => results));
    expect(text).toContain(email);
    const [token = ""] = (browser.cookie.split("=")[1] ?? "").split(".");
    expect(token).toHaveLength(32);
    for (const secret of [token, PASSWORD]) expect(text).not.toContain(secret);
  });

  it("comes with responses that are neither cached nor readable by other origins", async () => {
    const { browser } = await signUp();
    const { headers } = await browser.get("/me");
    expect(headers.get("Cache-Control")).toBe("no-store");
    expect(headers.get("Access-Control-Allow-Origin")).toBeNull();
    expect(headers.get("Cross-Origin-Resource-Policy")).toBe("same-origin");
    expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
  });
});

describe("signing in", () => {
  it("begins a sign-in session and keeps those of other browsers", async () => {
    const { browser, email, organization } = await signUp();
    const other = new DashboardBrowser();
    const written = ` ${email.toUpperCase()} `;
    const answer = await other.post<Me>("/sign-in", { email: written, password: PASSWORD });
    expect(answer).toMatchObject({ status: 200, description: "Signed in" });
    expect(answer.data.organizations).toEqual([organization]);
    expect(other.cookie).not.toBe(browser.cookie);
    for (const each of [browser, other]) expect((await each.get("/me")).status).toBe(200);
  });

  it("ends the earlier sign-in session of the same browser", async () => {
    const { browser, email } = await signUp();
    const earlier = browser.cookie;
    await browser.post("/sign-in", { email, password: PASSWORD });
    const copy = new DashboardBrowser();
    copy.cookie = earlier;
    expect((await copy.get("/me")).status).toBe(401);
    expect((await browser.get("/me")).status).toBe(200);
  });

  it("gives the same response for a wrong password and an unknown address", async () => {
    const { email } = await signUp();
    const answers = await Promise.all(
      [
        { email, password: "a wrong password" },
        { email, password: "" },
        { email, password: PASSWORD.toUpperCase() },
        { email: freshEmail(), password: PASSWORD },
      ].map((body) => new DashboardBrowser().post("/sign-in", body)),
    );
    for (const { status, error, headers } of answers) {
      const message = "The email address or the password is wrong";
      expect([status, error]).toEqual([401, { module: "Auth", code: "UNAUTHORIZED", message }]);
      expect(headers.get("Set-Cookie")).toBeNull();
    }
  });

  it("accepts a password in each of its Unicode encodings", async () => {
    const email = freshEmail();
    await new DashboardBrowser().post("/sign-up", {
      name: "Ada",
      email,
      password: "caf\u00e9 cr\u00e8me ﬁx",
    });
    const answer = await new DashboardBrowser().post("/sign-in", {
      email,
      password: "cafe\u0301 cre\u0300me fix",
    });
    expect(answer.status).toBe(200);
  });

  it("measures the length of passwords in characters", async () => {
    for (const password of ["x".repeat(128), "🗝".repeat(128), "🗝".repeat(10)]) {
      const email = freshEmail();
      const answer = await new DashboardBrowser().post("/sign-up", { name: "Ada", email, password });
      expect(answer.status).toBe(201);
      expect((await new DashboardBrowser().post("/sign-in", { email, password })).status).toBe(200);
    }
  });
});

describe("the work of a password", () => {
  /** The calls of objects by a sign-in, in order: kind of object, and method. */
  async function callsOf(body: object, known = ""): Promise<{ status: number; calls: string[] }> {
    const calls: string[] = [];
    const recorded = (object: string) =>
      new Proxy(env.GUESS_LIMITS.getByName(object), {
        get: (stub, method: keyof Stub<GuessLimitObject>) => {
          calls.push(`${object.split(":")[0]} ${method}`);
          return (...args: never[]) => (stub[method] as (...args: never[]) => unknown)(...args);
        },
      });
    const request = pageRequest("POST", "/dashboard/api/sign-in", body, { Cookie: known });
    const { status } = await answerOf({ GUESS_LIMITS: { getByName: recorded } }, request);
    return { status, calls };
  }

  it("is done by the object that counts the guess, in the same calls for a person who does not exist", async () => {
    const { browser, email } = await signUp();
    const right = { email, password: PASSWORD };
    const onNetwork = ["network guess", "person verifyPassword"];
    expect(await callsOf(right)).toEqual({ status: 200, calls: [...onNetwork, "network forgive"] });
    expect(await callsOf(right, browser.known)).toEqual({ status: 200, calls: ["browser verifyPassword"] });
    for (const wrong of [
      { email, password: "a wrong password" },
      { ...right, email: freshEmail() },
    ])
      expect(await callsOf(wrong)).toEqual({ status: 401, calls: onNetwork });
  });
});

describe("signing out", () => {
  it("ends the sign-in session at once and deletes the cookie", async () => {
    const { browser, organization } = await signUp();
    const copy = new DashboardBrowser();
    copy.cookie = browser.cookie;
    expect((await copy.api(organization.id).get("/rooms")).status).toBe(200);
    const answer = await browser.post("/sign-out");
    expect(answer).toMatchObject({ status: 200, data: {} });
    expect(browser.setCookie).toBe(
      "__Host-atrium_session=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Strict",
    );
    // The request that memory may answer goes first: the other one reads the database, and would end the
    // session in memory, too.
    expect((await copy.api(organization.id).get("/rooms")).status).toBe(401);
    expect((await copy.get("/me")).status).toBe(401);
  });

  it("succeeds without a sign-in session", async () => {
    expect((await new DashboardBrowser().post("/sign-out")).status).toBe(200);
  });
});

describe("the dashboard's endpoints", () => {
  const casesOf = (keep: (endpoint: DashboardEndpoint) => boolean) =>
    [...peopleEndpoints, ...passkeyEndpoints, ...memberPageEndpoints]
      .filter(keep)
      .map(({ method, path }) => [method, path.replace(":token", "x")] as const);
  const foreign: Record<string, string>[] = [
    { Origin: "https://elsewhere.test" },
    { Origin: "null" },
    { "Sec-Fetch-Site": "same-site" },
    { "Sec-Fetch-Site": "cross-site" },
  ];

  it.each(casesOf(({ method }) => method !== "GET"))(
    "reject requests from other origins: %s %s",
    async (method, path) => {
      const { browser, email } = await signUp();
      const body = { name: "Bo", email, password: PASSWORD, current: PASSWORD, next: "another password" };
      for (const headers of foreign) {
        const answer = await browser.send(method, path, body, headers);
        expect(refusalOf(answer), JSON.stringify(headers)).toEqual([403, "Auth", "FORBIDDEN"]);
      }
      expect((await browser.get<Me>("/me")).data.person.name).toBe("Ada");
    },
  );

  it.each(casesOf(({ access }) => access === "person"))(
    "require a sign-in session: %s %s",
    async (method, path) => {
      expect(
        refusalOf(await new DashboardBrowser().send(method, path, method === "GET" ? undefined : {})),
      ).toEqual([401, "Auth", "UNAUTHORIZED"]);
    },
  );

  it("accept JSON only", async () => {
    const form = new URLSearchParams({ email: "ada@example.com", password: PASSWORD });
    const response = await new DashboardBrowser().raw("POST", "/dashboard/api/sign-in", {
      method: "POST",
      body: form,
    });
    expect(response.status).toBe(400);
  });

  it("respond in the envelope to an unknown path", async () => {
    const answer = await new DashboardBrowser().get("/nothing");
    expect(refusalOf(answer)).toEqual([404, "Server", "NOT_FOUND"]);
    expect(answer.headers.get("Access-Control-Allow-Origin")).toBeNull();
  });
});

/** A request of the dashboard's page to a deployment with these settings. */
const ask = (settings: Settings, method: string, path: string, body?: object, cookie = "") =>
  answerOf(settings, pageRequest(method, `/dashboard/api${path}`, body, { Cookie: cookie }));

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
  const api = owner.api;
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
