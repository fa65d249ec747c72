/** The second factor: setting it up, signing in with it, losing it, and guessing its codes. */

import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { PersonExport } from "@atrium/contract/rest/privacy.ts";
import type { FactorSetUp, FactorStatus, RecoveryCodes } from "@atrium/contract/rest/second-factor.ts";
import { Secret, TOTP } from "otpauth";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { GuessLimitObject } from "../../src/features/people/guess-limit-object.ts";
import { signInLimits } from "../../src/features/people/sign-in-limits.ts";
import { factorSealer, resealFactors } from "../../src/features/second-factor/sealed-secret.ts";
import { jwtSecrets } from "../../src/platform/config.ts";
import { sha256 } from "../../src/platform/crypto/encoding.ts";
import { openDirectory } from "../../src/platform/d1/databases.ts";
import { freshAddress } from "../support/api.ts";
import { expectLogged } from "../support/log-guard.ts";
import {
  answerOf,
  DashboardBrowser,
  invite,
  PASSWORD,
  pageRequest,
  type SignedUp,
  signUp,
  tokenIn,
} from "../support/person.ts";

const NEW_PASSWORD = "another password of the tests";
const PERIOD_MS = 30_000;
const START = Date.UTC(2100, 0);

beforeAll(() => void vi.useFakeTimers({ toFake: ["Date"], now: START }));
afterAll(() => void vi.useRealTimers());

/** The code of the secret so many time steps from now. */
const codeOf = (secret: string, steps = 0): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * PERIOD_MS });

const nextStep = () => vi.setSystemTime(Date.now() + 2 * PERIOD_MS);

async function setUp(person?: SignedUp) {
  const signedUp = person ?? (await signUp());
  const { browser } = signedUp;
  const begun = await browser.post<FactorSetUp>("/second-factor/set-up", { password: PASSWORD });
  const { secret, ticket } = begun.data;
  const made = await browser.post<RecoveryCodes>("/second-factor", { ticket, code: codeOf(secret) });
  expect([begun.status, made.status]).toEqual([200, 201]);
  return { ...signedUp, secret, codes: made.data.recovery_codes };
}

const statusOf = async (browser: DashboardBrowser) =>
  (await browser.get<FactorStatus>("/second-factor")).data.second_factor;

const signIn = (email: string, code?: string, password = PASSWORD, browser = new DashboardBrowser()) =>
  browser.post("/sign-in", { email, password, code });

const outcome = async (answer: ReturnType<typeof signIn>) => {
  const { status, error } = await answer;
  return status < 300 ? status : `${status} ${error?.code} ${error?.message}`;
};
const ASKED = "400 VALIDATION_ERROR code: enter a code of your second factor";
const WRONG = "400 VALIDATION_ERROR code: this code is wrong or was used; enter the next one";

describe("setting up a second factor", () => {
  it("needs the password and a first code, and stores neither secret nor codes in the clear", async () => {
    const { browser, email, id } = await signUp();
    const refused = await browser.post("/second-factor/set-up", { password: "a wrong password" });
    expect(refused.error?.message).toBe("password: this is not your password");
    const { data } = await browser.post<FactorSetUp>("/second-factor/set-up", { password: PASSWORD });
    const url = new URL(data.url);
    expect([url.protocol, url.searchParams.get("issuer"), url.searchParams.get("secret")]).toEqual([
      ...["otpauth:", "Atrium"],
      data.secret,
    ]);
    expect(decodeURIComponent(url.pathname)).toContain(email);
    const confirm = (code: string, ticket = data.ticket) => browser.post("/second-factor", { ticket, code });
    expect(await outcome(confirm(codeOf(data.secret, 5)))).toBe(WRONG);
    expect(await outcome(confirm("éééééé"))).toBe(WRONG);
    expect(await outcome(signIn(email))).toBe(200);
    expect(await statusOf(browser)).toBeNull();
    expect((await confirm(codeOf(data.secret), "forged")).error?.code).toBe("CONFLICT");
    const other = await signUp();
    const foreign = await other.browser.post("/second-factor", {
      ticket: data.ticket,
      code: codeOf(data.secret),
    });
    expect(foreign.error?.code).toBe("CONFLICT");
    const made = await Promise.all([confirm(codeOf(data.secret)), confirm(codeOf(data.secret))]);
    expect(made.map(({ status }) => status).toSorted()).toEqual([201, 409]);
    const codes = made.flatMap((answer) => (answer.data as unknown as RecoveryCodes)?.recovery_codes ?? []);
    expect(new Set(codes).size).toBe(10);
    expect(await statusOf(browser)).toMatchObject({ recovery_codes: 10 });
    const again = await browser.post("/second-factor/set-up", { password: PASSWORD });
    expect([again.status, again.error?.code]).toEqual([409, "CONFLICT"]);
    const rows = await env.DB.batch(
      ["second_factors", "recovery_codes"].map((table) =>
        env.DB.prepare(`SELECT * FROM ${table} WHERE person_id = ?`).bind(id),
      ),
    );
    const exported = await browser.post<PersonExport>("/me/export", { after: null });
    expect(exported.data.records).toContainEqual({
      ...{ type: "second_factor", recovery_codes: 10, created_at: expect.any(String) },
    });
    const stored = JSON.stringify([rows.map(({ results }) => results), exported]).toLowerCase();
    for (const clear of [data.secret, ...codes, ...codes.map((code) => code.replaceAll("-", ""))])
      expect(stored).not.toContain(clear.toLowerCase());
  });

  it("takes half an hour at most", async () => {
    const { browser } = await signUp();
    const { data } = await browser.post<FactorSetUp>("/second-factor/set-up", { password: PASSWORD });
    vi.setSystemTime(Date.now() + 31 * 60_000);
    const late = await browser.post("/second-factor", { ticket: data.ticket, code: codeOf(data.secret) });
    expect([late.status, late.error?.code]).toEqual([409, "CONFLICT"]);
  });
});

describe("signing in with a second factor", () => {
  it("asks for a code of the present time step or one beside it, and accepts each once", async () => {
    const { email, secret } = await setUp();
    expect(await outcome(signIn(email))).toBe(ASKED);
    expect(await outcome(signIn(email, ""))).toBe(ASKED);
    // The code that has confirmed the second factor is used.
    expect(await outcome(signIn(email, codeOf(secret)))).toBe(WRONG);
    expect(await outcome(signIn(email, codeOf(secret, 1)))).toBe(200);
    expect(await outcome(signIn(email, codeOf(secret, -1)))).toBe(WRONG);
    nextStep();
    expect(await outcome(signIn(email, codeOf(secret, 2)))).toBe(WRONG);
    const spaced = codeOf(secret, -1).replace(/^.../, "$& ");
    expect(await outcome(signIn(email, spaced, "a wrong password"))).toMatch(/^401 UNAUTHORIZED/);
    nextStep();
    expect(await outcome(signIn(email, codeOf(secret).replace(/^.../, "$& ")))).toBe(200);
  });

  it("lets one of several requests with one code in, for codes of both kinds", async () => {
    const { email, secret, codes } = await setUp();
    nextStep();
    for (const code of [codeOf(secret), codes[0]]) {
      const attempts = await Promise.all([1, 2, 3].map(() => outcome(signIn(email, code))));
      expect(attempts.toSorted()).toEqual([200, WRONG, WRONG]);
    }
  });

  it("takes each recovery code once, in any spelling, until others replace them", async () => {
    const { browser, email, secret, codes } = await setUp();
    const [first = "", second = "", third = ""] = codes;
    expect(await outcome(signIn(email, first.replaceAll("-", "").toUpperCase()))).toBe(200);
    expect(await outcome(signIn(email, first))).toBe(WRONG);
    expect(await statusOf(browser)).toMatchObject({ recovery_codes: 9 });
    const renew = (code: string) =>
      browser.post<RecoveryCodes>("/second-factor/recovery-codes", { password: PASSWORD, code });
    const renewed = await renew(second);
    expect(renewed.data.recovery_codes).toHaveLength(10);
    expect(await outcome(signIn(email, third))).toBe(WRONG);
    nextStep();
    const newest = (await renew(codeOf(secret))).data.recovery_codes[0] ?? "";
    expect((await renew(codeOf(secret))).status).toBe(400);
    expect(await outcome(signIn(email, renewed.data.recovery_codes[0]))).toBe(WRONG);
    expect(await outcome(signIn(email, newest))).toBe(200);
  });
});

describe("turning a second factor off", () => {
  it("needs the password and a code, as deleting the account does", async () => {
    const { browser, email, codes, id } = await setUp();
    const [first, second] = codes;
    for (const path of ["/second-factor/off", "/second-factor/recovery-codes", "/me/delete"]) {
      const attempt = (body: object) => outcome(browser.post(path, body));
      expect(await attempt({ password: "wrong", code: first })).toContain(
        "password: this is not your password",
      );
      expect(await attempt({ password: PASSWORD })).toBe(ASKED);
      expect(await attempt({ password: PASSWORD, code: "123456" })).toBe(WRONG);
    }
    const off = () => browser.post("/second-factor/off", { password: PASSWORD, code: first });
    const answers = await Promise.all([off(), off()]);
    expect(answers.map(({ status }) => status).toSorted()[0]).toBe(200);
    expect(await statusOf(browser)).toBeNull();
    expect((await off()).status).toBe(404);
    expect(await outcome(signIn(email))).toBe(200);
    const left = env.DB.prepare("SELECT count(*) AS n FROM recovery_codes WHERE person_id = ?").bind(id);
    expect(await left.first("n")).toBe(0);
    expect(await outcome(browser.post("/me/delete", { password: PASSWORD, code: second }))).toContain("409");
  });

  it("goes with the account, whose refused deletion uses no code", async () => {
    const { browser, id, email, codes, organization, api } = await setUp();
    const input = { password: PASSWORD, code: codes[0] };
    expect((await browser.post("/me/delete", input)).error?.code).toBe("CONFLICT");
    await invite({ browser, id, email, organization, api }, "owner");
    const deletions = await Promise.all([1, 2].map(() => browser.post("/me/delete", input)));
    expect(deletions.map(({ status }) => status)).toContain(200);
    const rows = "SELECT count(*) AS n FROM second_factors WHERE person_id = ?";
    expect(await env.DB.prepare(rows).bind(id).first("n")).toBe(0);
  });
});

describe("a link for a new password", () => {
  it("leaves the second factor, and signs no one in without its code", async () => {
    const owner = await signUp();
    const { secret, ...member } = await setUp(await invite(owner));
    const made = await owner.api.post<{ url: string }>(`/members/${member.id}/password-link`);
    const thief = new DashboardBrowser();
    const changed = await thief.post(`/password-links/${tokenIn(made.data.url)}`, { password: NEW_PASSWORD });
    expect([changed.status, changed.data, thief.cookie]).toEqual([200, { signed_in: false }, ""]);
    expect((await member.browser.get("/me")).status).toBe(401);
    expect(await outcome(signIn(member.email, undefined, NEW_PASSWORD))).toBe(ASKED);
    nextStep();
    expect(await outcome(signIn(member.email, codeOf(secret), NEW_PASSWORD))).toBe(200);
  });
});

describe("guessing codes", () => {
  const personObject = async (email: string) => `person:${await sha256(new TextEncoder().encode(email))}`;
  const codesCounted = async (email: string) =>
    runInDurableObject(env.GUESS_LIMITS.getByName(await personObject(email)), (_, state) =>
      state.storage.sql.exec("SELECT count FROM guesses WHERE key = 'codes'").toArray(),
    );

  it("counts wrong ones of all networks and browsers together, and needs the password", async () => {
    const { browser, email, secret, codes } = await setUp();
    await runInDurableObject(
      env.GUESS_LIMITS.getByName(await personObject(email)),
      (object: GuessLimitObject) => {
        const now = Date.now();
        object.clock = () => now;
      },
    );
    // A stranger without the password, and the first half of signing in, count nothing.
    await signIn(email, "123456", "a wrong password");
    await signIn(email);
    expect(await codesCounted(email)).toEqual([]);
    nextStep();
    expect(await outcome(signIn(email, codeOf(secret)))).toBe(200);
    expect(await codesCounted(email)).toEqual([{ count: 0 }]);
    for (const guesser of [undefined, undefined, browser, browser]) {
      expect(await outcome(signIn(email, "123456", PASSWORD, guesser))).toBe(WRONG);
    }
    expect(await outcome(signIn(email, "aaaa-aaaa-aaaa-aaaa"))).toBe(WRONG);
    for (const [code, guesser] of [
      ["123456", undefined],
      [codeOf(secret, 1), browser],
      [codes[0], undefined],
    ] as const)
      expect(await outcome(signIn(email, code, PASSWORD, guesser))).toBe(
        "429 RATE_LIMITED Too many attempts; wait 30 seconds and try again",
      );
    // Changing the password needs no code, so that the person shuts a guesser out.
    const limits = signInLimits(env, freshAddress());
    await expect(limits.countCode(email)).rejects.toMatchObject({ code: "RATE_LIMITED" });
    const change = await browser.post("/password", { current: PASSWORD, next: NEW_PASSWORD });
    expect(change.status).toBe(200);
  });
});

describe("while the signing secret is replaced", () => {
  const [former] = jwtSecrets(env);
  const alone = { JWT_SECRET: "a new secret of the tests that is long enough" };
  const both = { ...alone, JWT_SECRET_PREVIOUS: former };
  const signInAt = (settings: object, email: string, code = "") =>
    outcome(
      answerOf(settings, pageRequest("POST", "/dashboard/api/sign-in", { email, password: PASSWORD, code })),
    );

  it("codes are accepted, and the stored secrets move to the new one", async () => {
    const { id, email, secret, codes } = await setUp();
    const logged: string[] = [];
    const log = (message: string) => logged.push(message);
    nextStep();
    expect(await signInAt(both, email, codeOf(secret))).toBe(200);
    nextStep();
    expect(await signInAt(alone, email, codeOf(secret))).toContain(
      "can no longer be checked; enter a recovery",
    );
    expectLogged("A second factor can no longer be decrypted");
    expect(await signInAt(alone, email, codes[0])).toBe(200);
    await resealFactors(openDirectory(env), factorSealer([both.JWT_SECRET, former]), log);
    expect(await signInAt(alone, email, codeOf(secret))).toBe(200);
    expect(logged).toEqual([]);
    // A text that its key does not open is marked, and not tried again.
    await env.DB.prepare("UPDATE second_factors SET sealed = 'AAAA' WHERE person_id = ?").bind(id).run();
    const newest = factorSealer(["a third secret of the tests, also long", alone.JWT_SECRET]);
    for (let run = 0; run < 2; run += 1) await resealFactors(openDirectory(env), newest, log);
    expect(logged.filter((message) => message.includes(id))).toHaveLength(1);
  });
});
