/** Signing up, in and out: who gets a session, what its cookie is like, and what strangers learn. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { DashboardEndpoint } from "../../src/dashboard/api.ts";
import { peopleEndpoints } from "../../src/people/routes.ts";
import type { Me } from "../../src/people/schema.ts";
import { Browser, freshEmail, PASSWORD, signUp } from "../support/person.ts";

const refusal = ({ status, error }: { status: number; error: { module: string; code: string } | null }) => [
  status,
  error?.module,
  error?.code,
];

const countPeople = (email: string) =>
  env.DB.prepare("SELECT count(*) AS total FROM people WHERE email = ?").bind(email).first("total");

describe("signing up", () => {
  it("makes a person, its organization and its session", async () => {
    const browser = new Browser();
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

  it("names the organization after the person, unless told otherwise", async () => {
    expect((await signUp({ name: "Ada" })).organization.name).toBe("Ada");
  });

  it("is once for each address, however it is written", async () => {
    const { email, browser } = await signUp();
    for (const again of [email, email.toUpperCase(), `\t${email} `]) {
      const other = new Browser();
      const answer = await other.post("/sign-up", { name: "Bo", email: again, password: "another password" });
      expect([refusal(answer), other.cookie]).toEqual([[409, "Auth", "CONFLICT"], ""]);
    }
    expect((await browser.get<Me>("/me")).data.person.name).toBe("Ada");
  });

  it("gives one of several at once the address, and leaves nothing of the others", async () => {
    const email = freshEmail();
    const before = await env.DB.prepare("SELECT count(*) AS total FROM accounts").first<number>("total");
    const answers = await Promise.all(
      Array.from({ length: 5 }, () =>
        new Browser().post("/sign-up", { name: "Ada", email, password: PASSWORD }),
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
    ["not both", { organization: "Mine", invitation: "theirs" }],
  ])("names what is wrong with the %s: %o", async (field, wrong) => {
    const email = freshEmail();
    const answer = await new Browser().post("/sign-up", { name: "Ada", email, password: PASSWORD, ...wrong });
    expect(refusal(answer)).toEqual([400, "Auth", "VALIDATION_ERROR"]);
    expect(answer.error?.message).toContain(field);
    expect(await countPeople(email)).toBe(0);
  });
});

describe("the session's cookie", () => {
  it("is out of reach for scripts, for other hosts, and for requests of other sites", async () => {
    const { browser } = await signUp();
    expect(browser.setCookie).toMatch(
      /^__Host-atrium_session=[\w%]+\.[\w%]+; Max-Age=2592000; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
  });

  it("cannot be made from anything that the database holds", async () => {
    const { browser, email } = await signUp();
    const tables = ["people", "credentials", "sessions"];
    const rows = await Promise.all(tables.map((table) => env.DB.prepare(`SELECT * FROM ${table}`).all()));
    const text = JSON.stringify(rows.map(({ results }) => results));
    expect(text).toContain(email);
    const [token = ""] = (browser.cookie.split("=")[1] ?? "").split(".");
    expect(token).toHaveLength(32);
    for (const secret of [token, PASSWORD]) expect(text).not.toContain(secret);
  });

  it("goes with private answers that nobody keeps, and that no other origin may read", async () => {
    const { browser } = await signUp();
    const { headers } = await browser.get("/me");
    expect(headers.get("Cache-Control")).toBe("no-store");
    expect(headers.get("Access-Control-Allow-Origin")).toBeNull();
    expect(headers.get("Cross-Origin-Resource-Policy")).toBe("same-origin");
    expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
  });
});

describe("signing in", () => {
  it("opens another session, and leaves those of other browsers alone", async () => {
    const { browser, email, organization } = await signUp();
    const other = new Browser();
    const written = ` ${email.toUpperCase()} `;
    const answer = await other.post<Me>("/sign-in", { email: written, password: PASSWORD });
    expect(answer).toMatchObject({ status: 200, description: "Signed in" });
    expect(answer.data.organizations).toEqual([organization]);
    expect(other.cookie).not.toBe(browser.cookie);
    for (const each of [browser, other]) expect((await each.get("/me")).status).toBe(200);
  });

  it("ends the session that the same browser has had", async () => {
    const { browser, email } = await signUp();
    const earlier = browser.cookie;
    await browser.post("/sign-in", { email, password: PASSWORD });
    const copy = new Browser();
    copy.cookie = earlier;
    expect((await copy.get("/me")).status).toBe(401);
    expect((await browser.get("/me")).status).toBe(200);
  });

  it("says the same of a wrong password and of an address that is nobody's", async () => {
    const { email } = await signUp();
    const answers = await Promise.all(
      [
        { email, password: "a wrong password" },
        { email, password: "" },
        { email, password: PASSWORD.toUpperCase() },
        { email: freshEmail(), password: PASSWORD },
      ].map((body) => new Browser().post("/sign-in", body)),
    );
    for (const { status, error, headers } of answers) {
      const message = "The e-mail address or the password is wrong";
      expect([status, error]).toEqual([401, { module: "Auth", code: "UNAUTHORIZED", message }]);
      expect(headers.get("Set-Cookie")).toBeNull();
    }
  });

  it("knows a password in each of its spellings in Unicode", async () => {
    const email = freshEmail();
    await new Browser().post("/sign-up", { name: "Ada", email, password: "caf\u00e9 cr\u00e8me ﬁx" });
    const answer = await new Browser().post("/sign-in", { email, password: "cafe\u0301 cre\u0300me fix" });
    expect(answer.status).toBe(200);
  });

  it("takes passwords as long as they may be, in characters", async () => {
    for (const password of ["x".repeat(128), "🗝".repeat(128), "🗝".repeat(10)]) {
      const email = freshEmail();
      const answer = await new Browser().post("/sign-up", { name: "Ada", email, password });
      expect(answer.status).toBe(201);
      expect((await new Browser().post("/sign-in", { email, password })).status).toBe(200);
    }
  });

  it("has few tries for each person, wherever they come from", async () => {
    const { email } = await signUp();
    let [tries, last] = [0, await new Browser().post("/sign-in", { email, password: "wrong" })];
    // The first window of a minute may end while we try; the second one cannot end before it is full.
    for (; last.status === 401 && tries < 25; tries += 1) {
      last = await new Browser().post("/sign-in", { email, password: "wrong" });
    }
    expect([refusal(last), last.headers.get("Retry-After")]).toEqual([[429, "Server", "RATE_LIMITED"], "60"]);
    const { email: neighbour } = await signUp();
    expect((await new Browser().post("/sign-in", { email: neighbour, password: PASSWORD })).status).toBe(200);
  });

  it("has an allowance for each address, whoever is tried", async () => {
    const browser = new Browser();
    // What is refused before a password is looked at counts as well: a look costs a tenth of a second.
    const tryOne = () =>
      browser.post("/sign-up", { name: "Ada", email: freshEmail(), password: PASSWORD, invitation: "x" });
    let [tries, last] = [0, await tryOne()];
    for (; last.status === 404 && tries < 125; tries += 1) last = await tryOne();
    expect(tries).toBeGreaterThanOrEqual(59);
    expect(refusal(last)).toEqual([429, "Server", "RATE_LIMITED"]);
  });
});

describe("signing out", () => {
  it("ends the session here and at once, and has the browser forget its cookie", async () => {
    const { browser, organization } = await signUp();
    const copy = new Browser();
    copy.cookie = browser.cookie;
    expect((await copy.api(organization.id).get("/rooms")).status).toBe(200);
    const answer = await browser.post("/sign-out");
    expect(answer).toMatchObject({ status: 200, data: {} });
    expect(browser.setCookie).toBe(
      "__Host-atrium_session=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Strict",
    );
    expect((await copy.get("/me")).status).toBe(401);
    expect((await copy.api(organization.id).get("/rooms")).status).toBe(401);
  });

  it("does no harm without a session", async () => {
    expect((await new Browser().post("/sign-out")).status).toBe(200);
  });
});

describe("the doors", () => {
  const casesOf = (keep: (door: DashboardEndpoint) => boolean) =>
    peopleEndpoints.filter(keep).map(({ method, path }) => [method, path.replace(":token", "x")] as const);
  const foreign: Record<string, string>[] = [
    { Origin: "https://elsewhere.test" },
    { Origin: "null" },
    { "Sec-Fetch-Site": "same-site" },
    { "Sec-Fetch-Site": "cross-site" },
  ];

  it.each(casesOf(({ method }) => method !== "GET"))(
    "take nothing from a page that is not ours: %s %s",
    async (method, path) => {
      const { browser, email } = await signUp();
      const body = { name: "Bo", email, password: PASSWORD, current: PASSWORD, next: "another password" };
      for (const headers of foreign) {
        const answer = await browser.send(method, path, body, headers);
        expect(refusal(answer), JSON.stringify(headers)).toEqual([403, "Auth", "FORBIDDEN"]);
      }
      expect((await browser.get<Me>("/me")).data.person.name).toBe("Ada");
    },
  );

  it.each(casesOf(({ access }) => access === "person"))("ask who is there: %s %s", async (method, path) => {
    expect(refusal(await new Browser().send(method, path, method === "GET" ? undefined : {}))).toEqual([
      401,
      "Auth",
      "UNAUTHORIZED",
    ]);
  });

  it("take JSON and nothing else", async () => {
    const form = new URLSearchParams({ email: "ada@example.com", password: PASSWORD });
    const response = await new Browser().raw("POST", "/dashboard/api/sign-in", {
      method: "POST",
      body: form,
    });
    expect(response.status).toBe(400);
  });

  it("answer in the envelope where there is none", async () => {
    const answer = await new Browser().get("/nothing");
    expect(refusal(answer)).toEqual([404, "Server", "NOT_FOUND"]);
    expect(answer.headers.get("Access-Control-Allow-Origin")).toBeNull();
  });
});
