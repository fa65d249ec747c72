/** Signing in by a company's provider: every way in and every refusal, against a real OpenID Connect provider. */
import { env } from "cloudflare:workers";
import type { Me, OidcOutcome, OwnCredentials, SignInSetup } from "@atrium/contract/rest/people.ts";
import { describe, expect, inject, it } from "vitest";
import type { Env } from "../../src/env.ts";
import { insertPeople, selectPeople } from "../../src/features/backup/store.ts";
import { openFlow, sealFlow } from "../../src/features/oidc/flow.ts";
import { authorize, exchange } from "../../src/features/oidc/provider.ts";
import { createSetupCode, setupCode, setupHashOf } from "../../src/features/people/links.ts";
import { SESSION_COOKIE } from "../../src/http/security.ts";
import { oidcSettings } from "../../src/platform/config.ts";
import { openDirectory } from "../../src/platform/d1/databases.ts";
import type { Settings } from "../../src/platform/settings.ts";
import { freshAddress, ORIGIN } from "../support/api.ts";
import { expectLogged } from "../support/log-guard.ts";
import { answerOf, PASSWORD, pageRequest, signUp, tokenIn } from "../support/person.ts";
import { CLIENT, subjectOf, type TestAccount } from "../support/provider-accounts.ts";

const issuer = inject("issuer");
const { closedPort } = inject("receiver");

/** A closed deployment whose provider speaks for one domain. */
const COMPANY: Settings = {
  ...{ OIDC_ISSUER: issuer, OIDC_CLIENT_ID: CLIENT.id, OIDC_CLIENT_SECRET: CLIENT.secret },
  ...{ OIDC_NAME: "Acme", OIDC_DOMAINS: "acme.example", SIGN_UP: "" },
};

/** A browser at a deployment with these settings, and at the provider. */
class Visitor {
  readonly settings: Partial<Env>;
  readonly address = freshAddress();
  readonly cookies = new Map<string, string>();

  constructor(settings: Partial<Env> = COMPANY) {
    this.settings = settings;
  }

  async send<Data = Record<string, unknown>>(method: string, path: string, body?: object) {
    const Cookie = [...this.cookies].map((pair) => pair.join("=")).join("; ");
    const headers = { Cookie, "CF-Connecting-IP": this.address };
    const request = pageRequest(method, `/dashboard/api${path}`, body, headers);
    const answer = await answerOf<Data>(this.settings, request);
    for (const setCookie of answer.headers.getSetCookie()) {
      const [pair = "", ...attributes] = setCookie.split("; ");
      const [name = "", value = ""] = pair.split("=");
      if (attributes.includes("Max-Age=0")) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return answer;
  }

  get isSignedIn(): boolean {
    return this.cookies.has(SESSION_COOKIE);
  }

  /** Begins a sign-in; returns the provider's address. */
  async start(body: object = {}): Promise<string> {
    const { data, error } = await this.send<{ url: string }>("POST", "/oidc/start", body);
    expect(error).toBeNull();
    return data.url;
  }

  finish = (query: string) => this.send<OidcOutcome>("POST", "/oidc/finish", { query });

  /** Signs in from the beginning to the end. */
  async signIn(account: TestAccount, body: object = {}) {
    return this.finish(await queryOf(await this.start(body), account));
  }
}

/** Signs in at the provider, or cancels there; returns the query that it sends the browser back with. */
async function queryOf(url: string, account: TestAccount | null): Promise<string> {
  const cookies = new Map<string, string>();
  const visit = async (address: string, init: RequestInit = {}): Promise<string> => {
    const Cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
    const response = await fetch(address, { ...init, headers: { Cookie }, redirect: "manual" });
    await response.text();
    for (const setCookie of response.headers.getSetCookie()) {
      const [name = "", value = ""] = setCookie.split("; ")[0]?.split("=") ?? [];
      cookies.set(name, value);
    }
    return new URL(response.headers.get("Location") ?? "", address).href;
  };
  const form = await visit(url);
  const answer = account === null ? { do: "cancel" } : { do: "sign-in", account: subjectOf(account) };
  const back = await visit(await visit(form, { method: "POST", body: new URLSearchParams(answer) }));
  expect(back.startsWith(`${ORIGIN}/dashboard/oidc/callback?`)).toBe(true);
  return new URL(back).search.slice(1);
}

const newAccount = (
  domain = "acme.example",
): Required<Pick<TestAccount, "email" | "email_verified" | "name">> => ({
  ...{ email: `ada-${crypto.randomUUID()}@${domain}`, email_verified: true, name: "Ada" },
});

const me = async (visitor: Visitor): Promise<Me | null> =>
  (await visitor.send<{ me: Me | null }>("GET", "/session")).data.me;

const credentials = async (visitor: Visitor) =>
  (await visitor.send<OwnCredentials>("GET", "/me/credentials")).data;

describe("a new person", () => {
  it("with an address of the company gets an account, and comes back to it", async () => {
    const account = newAccount();
    for (const settings of [
      COMPANY,
      { ...COMPANY, OIDC_CLIENT_ID: CLIENT.publicId, OIDC_CLIENT_SECRET: "" },
    ]) {
      const visitor = new Visitor(settings);
      const { data, headers } = await visitor.signIn(account, { next: "/dashboard/new" });
      expect(data).toEqual({ outcome: "signed_in", next: "/dashboard/new" });
      const session = headers.getSetCookie().find((cookie) => cookie.startsWith(SESSION_COOKIE));
      expect(session).toMatch(/; Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Strict$/);
      expect(await me(visitor)).toMatchObject({
        person: { name: "Ada", email: account.email },
        organizations: [],
      });
      expect(await credentials(visitor)).toEqual({
        password: false,
        oidc: { name: "Acme", connected: true },
      });
    }
  });

  it("joins the organization of an invitation, whatever the domain, and in no other way", async () => {
    const owner = await signUp();
    const outsider = newAccount("elsewhere.example");
    const refused = await new Visitor().signIn(outsider);
    expect([refused.status, refused.error?.message]).toEqual([
      403,
      expect.stringContaining("for an invitation"),
    ]);
    const invite = async (body: object) =>
      tokenIn((await owner.api.post<{ url: string }>("/invitations", body)).data.url);
    const foreign = await invite({ email: newAccount().email });
    const other = await new Visitor().signIn(outsider, { invitation: foreign });
    expect([other.status, other.error?.message]).toEqual([403, expect.stringContaining("another address")]);
    const visitor = new Visitor();
    const invitation = await invite({ email: outsider.email });
    expect((await visitor.signIn(outsider, { invitation })).data.outcome).toBe("signed_in");
    expect((await me(visitor))?.organizations).toEqual([{ ...owner.organization, role: "member" }]);
    const again = await new Visitor().signIn(newAccount("elsewhere.example"), { invitation });
    expect([again.status, again.error?.code]).toEqual([404, "NOT_FOUND"]);
    // Someone who has an account decides on the page of the invitation.
    const back = await new Visitor().signIn(outsider, { invitation: await invite({}) });
    expect(back.data.next).toMatch(/^\/dashboard\/invitations\/[\w-]+$/);
  });

  it("may sign up where the deployment is open for the address, if the provider has verified it", async () => {
    const open = { ...COMPANY, SIGN_UP: "domains", SIGN_UP_DOMAINS: "partner.example" };
    const account = newAccount("partner.example");
    expect((await new Visitor(open).signIn(account)).status).toBe(200);
    for (const unverified of [
      { ...newAccount(), email_verified: false },
      { email: newAccount().email },
      {},
    ]) {
      const { status, error } = await new Visitor(open).signIn(unverified);
      expect([status, error?.message]).toEqual([
        403,
        expect.stringMatching(/^Acme (has not verified|did not send)/),
      ]);
    }
  });
});

/** A person who has signed up with a password and this address, and their cookies at a company's deployment. */
const passkeysOf = async (personId: string) =>
  (await env.DB.prepare("SELECT id FROM passkeys WHERE person_id = ?").bind(personId).all()).results;

async function withPassword(email: string) {
  const visitor = new Visitor({ ...COMPANY, SIGN_UP: "open" });
  const signedUp = await visitor.send<Me>("POST", "/sign-up", { name: "Bo", email, password: PASSWORD });
  expect(signedUp.status).toBe(201);
  return { visitor, person: signedUp.data.person };
}

describe("a person who has an account", () => {
  it("takes it over by a verified address, which ends what a stranger may have made it with", async () => {
    const { email, ...rest } = newAccount();
    const stranger = await withPassword(email);
    await env.DB.prepare("INSERT INTO passkeys VALUES (?, ?, 'Laptop', ?, 'a key', 0, '[]', 0, 1, NULL)")
      .bind(crypto.randomUUID(), stranger.person.id, crypto.randomUUID())
      .run();
    const victim = new Visitor();
    const { data } = await victim.signIn({ email, ...rest });
    expect(data).toEqual({ outcome: "taken_over", next: "/dashboard" });
    expect((await me(victim))?.person).toEqual(stranger.person);
    expect(await me(stranger.visitor)).toBeNull();
    expect(await passkeysOf(stranger.person.id)).toEqual([]);
    const byPassword = await new Visitor().send("POST", "/sign-in", { email, password: PASSWORD });
    expect([byPassword.status, byPassword.error?.code]).toEqual([401, "UNAUTHORIZED"]);
    expect((await new Visitor().signIn({ email, ...rest })).data.outcome).toBe("signed_in");
  });

  it("is not given back to a stranger by a restore, nor by an invitation of theirs", async () => {
    const stranger = await signUp();
    const account = { ...newAccount(), email: stranger.email };
    const company = { ...COMPANY, OIDC_DOMAINS: stranger.email.split("@")[1] ?? "" };
    const invited = await stranger.api.post<{ url: string }>("/invitations", { role: "owner" });
    const people = async () =>
      (await openDirectory(env).run([selectPeople("", 10_000)]))[0].filter(({ id }) => id === stranger.id);
    const before = (await people()).map((row) => ({
      ...row,
      ...{ providers: JSON.parse(row.providers), passkeys: JSON.parse(row.passkeys), secondFactor: null },
    }));
    expect((await new Visitor(company).signIn(account)).data.outcome).toBe("taken_over");
    await openDirectory(env).run(insertPeople(before, Date.now()));
    const { email } = account;
    const byPassword = await new Visitor().send("POST", "/sign-in", { email, password: PASSWORD });
    expect(byPassword.status).toBe(401);
    const preview = await new Visitor().send("GET", `/invitations/${tokenIn(invited.data.url)}`);
    expect(preview.status).toBe(404);
  });

  it("belongs to one account at the provider: a later holder of the address does not inherit it", async () => {
    const account = newAccount();
    expect((await new Visitor().signIn(account)).status).toBe(200);
    const { status, error } = await new Visitor().signIn({ ...account, n: 2 });
    expect([status, error?.message]).toEqual([403, expect.stringContaining("another account at Acme")]);
  });

  it("keeps it from everyone whose address the provider does not speak for, or has not verified", async () => {
    const account = newAccount("elsewhere.example");
    const { visitor, person } = await withPassword(account.email);
    const foreign = await new Visitor().signIn(account);
    expect([foreign.status, foreign.error?.message]).toEqual([
      403,
      expect.stringContaining("exists already"),
    ]);
    const own = newAccount();
    await withPassword(own.email);
    const unverified = await new Visitor().signIn({ ...own, email_verified: false });
    expect([unverified.status, unverified.error?.code]).toEqual([403, "FORBIDDEN"]);
    expect((await me(visitor))?.person).toEqual(person);
  });

  it("connects any account when signed in, and disconnects it while there is a password", async () => {
    const { visitor, person } = await withPassword(newAccount("elsewhere.example").email);
    const account = newAccount("private.example");
    const next = "/dashboard/settings/sign-in";
    const wrong = await visitor.send("POST", "/oidc/connect", { next, password: "another password" });
    expect([wrong.status, wrong.error?.message]).toEqual([400, "password: this is not your password"]);
    const connect = async (by: Visitor, to: TestAccount) => {
      const { data } = await by.send<{ url: string }>("POST", "/oidc/connect", { next, password: PASSWORD });
      return by.finish(await queryOf(data.url, to));
    };
    expect((await connect(visitor, account)).data).toEqual({ outcome: "connected", next });
    const other = await withPassword(newAccount("elsewhere.example").email);
    expect((await connect(other.visitor, account)).error?.code).toBe("CONFLICT");
    const again = new Visitor();
    expect((await again.signIn(account)).data.outcome).toBe("signed_in");
    expect((await me(again))?.person).toEqual(person);
    expect((await again.send("POST", "/oidc/disconnect")).status).toBe(200);
    expect(await credentials(visitor)).toEqual({ password: true, oidc: { name: "Acme", connected: false } });
  });

  it("connects nothing for a browser that was signed out or signed in as another person meanwhile", async () => {
    const { visitor } = await withPassword(newAccount().email);
    const body = { next: "/dashboard", password: PASSWORD };
    const { data } = await visitor.send<{ url: string }>("POST", "/oidc/connect", body);
    const query = await queryOf(data.url, newAccount());
    await visitor.send("POST", "/sign-out", {});
    const { status, error } = await visitor.finish(query);
    expect([status, error?.message]).toEqual([403, expect.stringContaining("signed out meanwhile")]);
  });
});

describe("a person without a password", () => {
  /** Lets their sessions have begun eleven minutes ago. */
  const age = (email: string) =>
    env.DB.prepare(
      "UPDATE sessions SET created_at = created_at - 660000 WHERE person_id = (SELECT id FROM people WHERE email = ?)",
    )
      .bind(email)
      .run();

  it("cannot disconnect, sets a password after a new sign-in alone, and then can", async () => {
    const account = newAccount();
    const visitor = new Visitor();
    await visitor.signIn(account);
    const last = await visitor.send("POST", "/oidc/disconnect");
    expect([last.status, last.error?.message]).toEqual([409, expect.stringContaining("last way to sign in")]);
    await age(account.email);
    const next = "a first good password";
    for (const [path, body] of [
      ["/password", { next }],
      ["/me/delete", {}],
      ["/oidc/connect", { next: "/dashboard" }],
    ] as const) {
      const { status, error } = await visitor.send("POST", path, body);
      expect([status, error?.message]).toEqual([403, expect.stringContaining("Sign in again first")]);
    }
    await visitor.signIn(account);
    expect((await visitor.send("POST", "/password", { next })).status).toBe(200);
    const { email } = account;
    expect((await new Visitor().send("POST", "/sign-in", { email, password: next })).status).toBe(200);
    expect((await visitor.send("POST", "/oidc/disconnect")).status).toBe(200);
  });

  it("exports and deletes what is kept of them", async () => {
    const account = newAccount();
    const visitor = new Visitor();
    await visitor.signIn(account);
    const { data } = await visitor.send<{ records: object[] }>("POST", "/me/export", { after: null });
    expect(data.records).toContainEqual({
      ...{ type: "provider", issuer: `${issuer}/`, subject: subjectOf(account) },
      created_at: expect.any(String),
    });
    expect((await visitor.send("POST", "/me/delete", {})).status).toBe(200);
    const left = await env.DB.prepare("SELECT 1 FROM credentials WHERE provider_account_id = ?")
      .bind(subjectOf(account))
      .all();
    expect(left.results).toEqual([]);
  });
});

describe("refuses, and signs no one in", () => {
  const GONE = "This sign-in has expired or was used";

  it("an answer that comes again, in another browser, for another request, or from another issuer", async () => {
    const visitor = new Visitor();
    const url = await visitor.start();
    const cookies = new Map(visitor.cookies);
    const query = await queryOf(url, newAccount());
    const thief = new Visitor();
    expect((await thief.finish(query)).error?.message).toContain(GONE);
    const mixedUp = new URLSearchParams(query);
    mixedUp.set("iss", "https://elsewhere.example");
    expect((await visitor.finish(mixedUp.toString())).error?.message).toContain(GONE);
    const forged = new URLSearchParams(query);
    forged.set("state", "another");
    expect((await visitor.finish(forged.toString())).error?.message).toContain(GONE);
    expect((await visitor.finish("")).error?.message).toContain(GONE);
    expect((await visitor.finish(query)).status).toBe(200);
    expect((await visitor.finish(query)).error?.message).toContain(GONE);
    // Even with the cookie of before, the provider gives nothing for a used code.
    for (const [name, value] of cookies) thief.cookies.set(name, value);
    expect((await thief.finish(query)).error?.message).toContain(GONE);
    await thief.start();
    expect((await thief.finish(query)).error?.message).toContain(GONE);
    expect(thief.isSignedIn).toBe(false);
  });

  it("an ID token for another nonce, and a code for another verifier", async () => {
    const settings = oidcSettings({ ...COMPANY, WEBHOOK_DEV_TARGETS: "127.0.0.1" });
    if (settings === null) throw new Error("No provider");
    const request = { settings, redirectUri: `${ORIGIN}/dashboard/oidc/callback`, now: Date.now() };
    for (const [change, message] of [
      [{ nonce: "another" }, "answered wrongly"],
      [{ verifier: "another-verifier-of-at-least-forty-three-characters" }, GONE],
    ] as const) {
      const { url, secrets } = await authorize(request);
      const query = await queryOf(url, newAccount());
      await expect(exchange(request, query, { ...secrets, ...change })).rejects.toMatchObject({
        ...{ code: "FORBIDDEN", message: expect.stringContaining(message) },
      });
    }
    expectLogged("The sign-in by the OpenID Connect provider failed");
  });

  it("a person who cancels at the provider", async () => {
    const visitor = new Visitor();
    const { status, error } = await visitor.finish(await queryOf(await visitor.start(), null));
    expect([status, error?.message]).toEqual([403, expect.stringContaining("Acme did not sign you in")]);
  });

  it("everyone while the provider is down or the client is wrong, which the log explains", async () => {
    const down = { ...COMPANY, OIDC_ISSUER: `http://127.0.0.1:${closedPort}` };
    const unreachable = await new Visitor(down).send("POST", "/oidc/start", {});
    expect([unreachable.status, unreachable.error?.message]).toEqual([
      403,
      "Acme could not be reached; try again in a minute",
    ]);
    const noIssuer = await new Visitor({ ...COMPANY, OIDC_ISSUER: `${issuer}/nothing` }).send(
      ...(["POST", "/oidc/start", {}] as const),
    );
    expect([noIssuer.status, noIssuer.error?.message]).toEqual([
      403,
      expect.stringContaining("answered wrongly"),
    ]);
    const wrong = await new Visitor({ ...COMPANY, OIDC_CLIENT_SECRET: "another" }).signIn(newAccount());
    expect([wrong.status, wrong.error?.message]).toEqual([
      403,
      expect.stringContaining("refused this service"),
    ]);
    expectLogged("The sign-in by the OpenID Connect provider failed");
  });

  it("pages elsewhere as the next one", async () => {
    for (const next of [
      "https://elsewhere.example",
      "//elsewhere.example",
      "/dashboard/../x",
      "/dashboardx",
      "",
    ]) {
      const { status, error } = await new Visitor().send("POST", "/oidc/start", { next });
      expect([status, error?.code]).toEqual([400, "VALIDATION_ERROR"]);
    }
  });

  it("all of it on a deployment without a provider, and settings that are not complete or not safe", async () => {
    const none = { ...COMPANY, OIDC_ISSUER: "", OIDC_CLIENT_ID: "" };
    expect((await new Visitor(none).send("POST", "/oidc/start", {})).status).toBe(404);
    expect((await new Visitor(none).send<SignInSetup>("GET", "/challenge")).data.oidc).toBeNull();
    expect(() => oidcSettings({ OIDC_ISSUER: issuer })).toThrow("belong together");
    expect(() => oidcSettings({ ...COMPANY, WEBHOOK_DEV_TARGETS: "" })).toThrow("must begin with https://");
    expect(() => oidcSettings({ ...COMPANY, OIDC_ISSUER: "login.acme.example" })).toThrow(
      "OIDC_ISSUER must be",
    );
  });
});

it("OIDC_ONLY refuses passwords, links for them and passkeys, and the page says so", async () => {
  const account = newAccount();
  const { visitor } = await withPassword(account.email);
  const only = { ...COMPANY, OIDC_ONLY: "on", SIGN_UP: "open", MAIL_FROM: "atrium@acme.example" };
  const setup = await new Visitor(only).send<SignInSetup>("GET", "/challenge");
  expect(setup.data).toEqual({ site_key: null, passwords: false, oidc: { name: "Acme" } });
  const { email } = account;
  for (const [path, body] of [
    ["/sign-in", { email, password: PASSWORD }],
    ["/sign-up", { name: "Cy", email: newAccount().email, password: PASSWORD }],
    ["/password-links", { email }],
    ["/password-links/any", { password: PASSWORD }],
    ["/passkeys/options", { password: PASSWORD }],
    ["/password", { current: PASSWORD, next: "another good password" }],
  ] as const) {
    const asking = new Visitor(only);
    for (const [name, value] of visitor.cookies) asking.cookies.set(name, value);
    const { status, error } = await asking.send("POST", path, body);
    expect([path, status, error?.message]).toEqual([path, 403, expect.stringContaining("with Acme alone")]);
  }
  const owner = await signUp();
  const path = `/v1/accounts/${owner.organization.id}/members/${crypto.randomUUID()}/password-link`;
  const link = await answerOf(only, pageRequest("POST", path, undefined, { Cookie: owner.browser.cookie }));
  expect([link.status, link.error?.message]).toEqual([403, expect.stringContaining("with Acme alone")]);
  const signedIn = new Visitor(only);
  expect((await signedIn.signIn(newAccount())).status).toBe(200);
  const disconnected = await signedIn.send("POST", "/oidc/disconnect", {});
  expect([disconnected.status, disconnected.error?.code]).toEqual([409, "CONFLICT"]);
  const without = await new Visitor({ OIDC_ONLY: "on" }).send<SignInSetup>("GET", "/challenge");
  expect(without.data).toMatchObject({ passwords: true, oidc: null });
});

it("the first owner comes by the provider and the code where there are no passwords", async () => {
  const [accountId, code] = [crypto.randomUUID(), createSetupCode()];
  const DB = env.DB_2;
  await DB.batch([
    DB.prepare("DELETE FROM memberships WHERE account_id > ''"),
    DB.prepare("INSERT INTO accounts (id, name, created_at) VALUES (?, 'Boards', 1)").bind(accountId),
    DB.prepare(
      "INSERT INTO invitations (id, account_id, role, token_hash, created_at, expires_at) VALUES (?, ?, 'owner', ?, 1, ?)",
    ).bind(crypto.randomUUID(), accountId, await setupHashOf(code), Date.now() + setupCode.lifetimeMs),
  ]);
  const closed = { ...COMPANY, OIDC_ONLY: "on", DB };
  const account = newAccount("private.example");
  const wrong = await new Visitor(closed).signIn(account, { code: createSetupCode() });
  expect([wrong.status, wrong.error?.message]).toEqual([400, expect.stringContaining("code: ")]);
  const owner = new Visitor(closed);
  expect((await owner.signIn(account, { code })).data).toEqual({ outcome: "signed_in", next: "/dashboard" });
  expect((await me(owner))?.organizations).toEqual([{ id: accountId, name: "Boards", role: "owner" }]);
  const late = await new Visitor(closed).signIn(newAccount("private.example"), { code });
  expect(late.status).toBe(400);
});

it("a flow in a cookie is secret, expires, and is of use to this service alone", async () => {
  const flow = {
    ...{ state: "s", nonce: "n", verifier: "v", next: "/dashboard" },
    ...{ invitation: "an invitation", code: null, personId: null },
  };
  const sealed = await sealFlow(flow, "secret", 1000);
  expect(sealed).not.toContain("invitation");
  expect(await openFlow(sealed, "secret", 1000 + 599_999)).toEqual(flow);
  expect(await openFlow(sealed, "secret", 1000 + 600_000)).toBeNull();
  expect(await openFlow(sealed, "another", 1000)).toBeNull();
  for (const forged of [null, "", "x.y", `${sealed}A`, sealed.toLowerCase()])
    expect(await openFlow(forged, "secret", 1000)).toBeNull();
});
