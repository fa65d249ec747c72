/** Sign-in sessions: lifetime, ends, and the cost of verifying one. */

import { env } from "cloudflare:workers";
import type { Me, OwnSignIns } from "@atrium/contract/rest/people.ts";
import { describe, expect, it } from "vitest";
import { describeBrowser } from "../../src/features/people/browser.ts";
import { challengeFor } from "../../src/features/people/challenge.ts";
import { cookieSecretOf, SIGN_IN_LIFETIME_MS } from "../../src/features/people/cookies.ts";
import { changePassword } from "../../src/features/people/password-commands.ts";
import { readSignIn, recallSignIn, signedHashOf } from "../../src/features/people/sessions.ts";
import { signInLimits } from "../../src/features/people/sign-in-limits.ts";
import { signIn } from "../../src/features/second-factor/sign-in.ts";
import { SESSION_COOKIE } from "../../src/http/security.ts";
import { jwtSecrets, quotaDefaults, signUpPolicy } from "../../src/platform/config.ts";
import { type Database, openDatabase } from "../../src/platform/d1/d1.ts";
import { openTenant } from "../../src/platform/d1/databases.ts";
import { choosePlace } from "../../src/platform/d1/place.ts";
import { runScheduledTasks } from "../../src/scheduled.ts";
import { account, freshAddress, ORIGIN } from "../support/api.ts";
import { addMember, cookieOf, DashboardBrowser, PASSWORD, signUp } from "../support/person.ts";

const HOUR_MS = 60 * 60 * 1000;
const secret = cookieSecretOf(jwtSecrets(env)[0]);
const expiryOf = (personId: string) =>
  env.DB.prepare("SELECT expires_at FROM sessions WHERE person_id = ?")
    .bind(personId)
    .first<number>("expires_at");
const setExpiry = (personId: string, at: number) =>
  env.DB.prepare("UPDATE sessions SET expires_at = ? WHERE person_id = ?").bind(at, personId).run();

/** Counts the D1 reads of sign-in sessions. */
function counting() {
  const db = openDatabase(env.DB);
  const looks = { count: 0 };
  const run: typeof db.run = (statements) => {
    looks.count += 1;
    return db.run(statements);
  };
  const verify = async (browser: DashboardBrowser, now: number) => {
    const hash = await signedHashOf(browser.cookie.slice(SESSION_COOKIE.length + 1), secret);
    if (hash === null) return null;
    const known = recallSignIn(hash, now);
    return known === undefined ? readSignIn({ run }, hash, now) : known;
  };
  return { looks, verify };
}

describe("a sign-in session", () => {
  it("is asked for without an error, whether there is one or not", async () => {
    const { browser, id } = await signUp();
    const asked = await browser.get<{ me: Me | null }>("/session");
    expect([asked.status, asked.data.me?.person.id]).toEqual([200, id]);
    expect((await browser.get<Me>("/me")).data).toEqual(asked.data.me);
    const stranger = new DashboardBrowser();
    for (const cookie of ["", cookieOf(crypto.randomUUID()), `${SESSION_COOKIE}=forged`]) {
      stranger.cookie = cookie;
      const answer = await stranger.get("/session");
      expect([answer.status, answer.data]).toEqual([200, { me: null }]);
    }
    await browser.post("/sign-out");
    expect((await browser.get("/session")).data).toEqual({ me: null });
  });

  it("is extended when it is used an hour later, and keeps its token", async () => {
    const { browser, id } = await signUp();
    const token = browser.cookie;
    await browser.get("/me");
    const untouched = await expiryOf(id);
    await setExpiry(id, Date.now() + SIGN_IN_LIFETIME_MS - HOUR_MS - 1000);
    browser.setCookie = null;
    expect((await browser.get("/me")).status).toBe(200);
    expect(browser.setCookie).toContain("Max-Age=2592000; Path=/; HttpOnly; Secure; SameSite=Strict");
    expect(browser.cookie).toBe(token);
    expect(await expiryOf(id)).toBeGreaterThanOrEqual(untouched ?? 0);
  });

  it("is not extended twice in an hour", async () => {
    const { browser, id } = await signUp();
    await setExpiry(id, Date.now() + SIGN_IN_LIFETIME_MS - HOUR_MS + 60_000);
    const before = await expiryOf(id);
    browser.setCookie = null;
    await browser.get("/me");
    expect([browser.setCookie, await expiryOf(id)]).toEqual([null, before]);
  });

  it("expires when it is not used, and is deleted", async () => {
    const { browser, id } = await signUp();
    await setExpiry(id, Date.now() - 1);
    expect((await browser.get("/me")).status).toBe(401);
    const { id: other } = await signUp();
    await runScheduledTasks(env, Date.now());
    expect(await expiryOf(id)).toBeNull();
    expect(await expiryOf(other)).toBeGreaterThan(Date.now());
  });

  it("is read once in ten seconds, and not at all for a forged cookie", async () => {
    const { browser, id } = await addMember((await account()).id);
    const { looks, verify } = counting();
    const now = Date.now();
    expect(await verify(browser, now)).toMatchObject({ personId: id });
    expect(await verify(browser, now + 9_999)).toMatchObject({ personId: id });
    expect(looks.count).toBe(1);
    await env.DB.prepare("DELETE FROM sessions WHERE person_id = ?").bind(id).run();
    expect(await verify(browser, now + 10_000)).toBeNull();
    expect(looks.count).toBe(2);
    for (const cookie of [cookieOf("x", "another secret"), `${SESSION_COOKIE}=x`, `${browser.cookie}.x`]) {
      expect(await verify(Object.assign(new DashboardBrowser(), { cookie }), now)).toBeNull();
    }
    expect(looks.count).toBe(2);
  });

  it("is read again before access is denied from memory", async () => {
    const { browser } = await signUp();
    const { organization } = (
      await browser.post<{ organization: { id: string } }>("/organizations", { name: "Second" })
    ).data;
    expect((await browser.api(organization.id).get("/rooms")).status).toBe(200);
  });

  it("ends when the secret changes", async () => {
    const { browser } = await addMember((await account()).id);
    const cookie = browser.cookie.slice(SESSION_COOKIE.length + 1);
    expect(await signedHashOf(cookie, cookieSecretOf("another one"))).toBeNull();
    expect(await signedHashOf(cookie, secret)).not.toBeNull();
  });
});

describe("the list of a person's sign-in sessions", () => {
  const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0";
  const signedIn = async (email: string, userAgent: string) => {
    const browser = new DashboardBrowser();
    const headers = { "User-Agent": userAgent };
    await browser.send("POST", "/sign-in", { email, password: PASSWORD }, headers);
    return browser;
  };
  const listed = async (browser: DashboardBrowser) =>
    (await browser.get<OwnSignIns>("/sessions")).data.sessions;

  it("has the browser in words, the present one first, and when each was last used", async () => {
    const { browser, id, email } = await signUp();
    await signedIn(email, FIREFOX);
    const age = "UPDATE sessions SET updated_at = 0, created_at = 0 WHERE browser IS NULL AND person_id = ?";
    await env.DB.prepare(age).bind(id).run();
    await setExpiry(id, Date.now() + SIGN_IN_LIFETIME_MS - HOUR_MS - 1000);
    await browser.get("/me");
    const [own, other, ...rest] = await listed(browser);
    expect([own, other, rest]).toMatchObject([
      { browser: null, is_current: true, created_at: "1970-01-01T00:00:00.000Z" },
      { browser: "Firefox on Linux", is_current: false },
      [],
    ]);
    expect(Date.now() - Date.parse(own?.last_used_at ?? "")).toBeLessThan(HOUR_MS);
    const rows = await env.DB.prepare("SELECT * FROM sessions WHERE person_id = ?").bind(id).all();
    expect(JSON.stringify(rows.results)).not.toContain("Gecko");
    expect(JSON.stringify(await listed(browser))).not.toContain(String(rows.results[0]?.token_hash));
    await setExpiry(id, Date.now() - 1);
    expect(await listed(await signedIn(email, FIREFOX))).toHaveLength(1);
  });

  it("ends one of them, or all others, at once, and none of another person", async () => {
    const { browser, email, organization } = await signUp();
    const stranger = await signUp();
    const others = [];
    for (const agent of [FIREFOX, "curl/8.5.0", ""]) others.push(await signedIn(email, agent));
    const works = async (each: DashboardBrowser) =>
      (await each.api(organization.id).get("/rooms")).status === 200;
    expect(await Promise.all([browser, ...others].map(works))).toEqual([true, true, true, true]);
    const id = (await listed(browser)).find((session) => session.browser === "curl")?.id;
    const foreign = await stranger.browser.post(`/sessions/${id}/end`);
    expect([foreign.status, foreign.error?.code]).toEqual([404, "NOT_FOUND"]);
    expect((await browser.post(`/sessions/${id}/end`)).status).toBe(200);
    expect(await Promise.all([browser, ...others].map(works))).toEqual([true, true, false, true]);
    expect((await browser.post(`/sessions/${id}/end`)).status).toBe(404);
    expect((await browser.post("/sessions/end-others")).data).toEqual({ ended: 2 });
    expect(await Promise.all([browser, ...others].map(works))).toEqual([true, false, false, false]);
    expect((await stranger.browser.get("/me")).status).toBe(200);
  });

  it.each([
    [
      "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0",
      "Edge on Windows",
    ],
    [
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15",
      "Safari on macOS",
    ],
    [
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/141.0.0.0 Mobile/15E148 Safari/604.1",
      "Chrome on iPhone",
    ],
    [
      "Mozilla/5.0 (Linux; Android 14; SM-S911B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/27.0 Chrome/125.0.0.0 Mobile Safari/537.36",
      "Samsung Internet on Android",
    ],
    [FIREFOX, "Firefox on Linux"],
    ["curl/8.5.0", "curl"],
    ["<script>Firefox</script>", null],
  ])("calls the browser of %s %s", (userAgent, browser) => {
    expect(describeBrowser(userAgent)).toBe(browser);
  });
});

describe("changing the password", () => {
  it("ends all other sign-in sessions and begins a new one in this browser", async () => {
    const { browser, email, organization } = await signUp();
    const [other, stolen] = [new DashboardBrowser(), new DashboardBrowser()];
    await other.post("/sign-in", { email, password: PASSWORD });
    stolen.cookie = browser.cookie;
    for (const each of [other, stolen]) {
      expect((await each.api(organization.id).get("/rooms")).status).toBe(200);
    }
    const next = "another good password";
    expect(await browser.post("/password", { current: PASSWORD, next })).toMatchObject({
      status: 200,
      data: {},
    });
    // The API first: reading the session for `/me` would correct the memory.
    for (const each of [other, stolen]) {
      expect((await each.api(organization.id).get("/rooms")).status).toBe(401);
      expect((await each.get("/me")).status).toBe(401);
    }
    expect((await browser.get("/me")).status).toBe(200);
    expect((await new DashboardBrowser().post("/sign-in", { email, password: PASSWORD })).status).toBe(401);
    expect((await new DashboardBrowser().post("/sign-in", { email, password: next })).status).toBe(200);
  });

  it("requires the current password and a valid new one", async () => {
    const { browser } = await signUp();
    for (const [current, next, field] of [
      ["a wrong password", "another good password", "current"],
      ["", "another good password", "current"],
      [PASSWORD, "too short", "next"],
      [PASSWORD, "x".repeat(129), "next"],
    ]) {
      const answer = await browser.post("/password", { current, next });
      expect([answer.status, answer.error?.code]).toEqual([400, "VALIDATION_ERROR"]);
      expect(answer.error?.message).toContain(field);
    }
    expect((await browser.get("/me")).status).toBe(200);
  });
});

describe("a sign-in or a change of the password that overlaps another change", () => {
  const context = {
    ...{ requestId: "a request", address: "192.0.2.1", userAgent: "" },
    jwtSecrets: () => jwtSecrets(env),
    ...{ cookie: null, browserCookie: null, oidcCookie: null, cookieSecret: secret },
    ...{ origin: ORIGIN, oidc: () => null, hasPasswords: true },
    quotaDefaults: quotaDefaults(env),
    signUpPolicy: () => signUpPolicy(env),
    choosePlace: () => choosePlace(env),
    challenge: () => challengeFor(null, "192.0.2.1"),
    ...{ now: Date.now, newId: () => crypto.randomUUID() },
    ...{ mail: () => null, defer: () => undefined },
    tenantOf: (accountId: string) => openTenant(env, accountId),
  };
  const limits = signInLimits(env, freshAddress());

  /** A database in which the password is changed after the first trip. */
  const changedMeanwhile = (change: () => Promise<unknown>): Database => {
    const db = openDatabase(env.DB);
    let trips = 0;
    return {
      run: async (statements) => {
        trips += 1;
        if (trips === 2) await change();
        return db.run(statements);
      },
    };
  };
  const sessionsOf = (id: string) =>
    env.DB.prepare("SELECT count(*) AS total FROM sessions WHERE person_id = ?").bind(id).first("total");

  it("leaves no session that the old password began", async () => {
    const { browser, id, email } = await signUp();
    const next = "another good password";
    const db = changedMeanwhile(() => browser.post("/password", { current: PASSWORD, next }));
    await expect(signIn({ ...context, limits, db }, { email, password: PASSWORD })).rejects.toMatchObject({
      code: "UNAUTHORIZED",
    });
    expect(await sessionsOf(id)).toBe(1);
    expect((await browser.get("/me")).status).toBe(200);
  });

  it("does not undo the first change", async () => {
    const { browser, id, email } = await signUp();
    const [first, second] = ["the first new password", "the second new password"];
    const hash = await signedHashOf(browser.cookie.slice(SESSION_COOKIE.length + 1), secret);
    const person = await readSignIn(openDatabase(env.DB), hash ?? "", Date.now());
    if (person === null) throw new Error("Not signed in");
    const db = changedMeanwhile(() => browser.post("/password", { current: PASSWORD, next: first }));
    await expect(
      changePassword({ ...context, limits, db, person }, { current: PASSWORD, next: second }),
    ).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    expect(await sessionsOf(id)).toBe(1);
    expect((await browser.get("/me")).status).toBe(200);
    expect((await new DashboardBrowser().post("/sign-in", { email, password: second })).status).toBe(401);
    expect((await new DashboardBrowser().post("/sign-in", { email, password: first })).status).toBe(200);
  });
});

describe("a person", () => {
  it("changes their name", async () => {
    const { browser, id, email, organization } = await signUp();
    const answer = await browser.send("PATCH", "/me", { name: "<b>Ada</b> Ω" });
    expect(answer.data).toEqual({ person: { id, email, name: "<b>Ada</b> Ω" } });
    expect((await browser.get<Me>("/me")).data.person.name).toBe("<b>Ada</b> Ω");
    const { data } = await browser.api(organization.id).get<{ members: { name: string }[] }>("/members");
    expect(data.members.map(({ name }) => name)).toEqual(["<b>Ada</b> Ω"]);
  });

  it("has several separate organizations", async () => {
    const { browser, organization } = await signUp();
    const made = await browser.post<{ organization: { id: string; role: string } }>("/organizations", {
      name: "Second",
    });
    expect(made).toMatchObject({ status: 201, data: { organization: { name: "Second", role: "owner" } } });
    const me = await browser.get<Me>("/me");
    expect(me.data.organizations).toEqual([organization, made.data.organization]);
    await browser.api(organization.id).createRoom();
    const rooms = await browser.api(made.data.organization.id).get<{ total: number }>("/rooms");
    expect(rooms.data.total).toBe(0);
  });
});
