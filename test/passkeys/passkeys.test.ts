/** Passkeys: adding and removing one's own, signing in by one, and all that signs no one in. */

import { env } from "cloudflare:workers";
import type { Passkey } from "@atrium/contract/rest/passkeys.ts";
import type { Me } from "@atrium/contract/rest/people.ts";
import { MAX_PASSKEYS } from "@atrium/contract/sign-in.ts";
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from "@simplewebauthn/server";
import { describe, expect, it } from "vitest";
import { CHALLENGE_LIFETIME_MS, createChallenge } from "../../src/features/passkeys/passkey-challenge.ts";
import { cookieSecretOf } from "../../src/features/people/cookies.ts";
import { jwtSecrets } from "../../src/platform/config.ts";
import { refusalOf } from "../support/api.ts";
import { SoftPasskey } from "../support/authenticator.ts";
import { expectLogged } from "../support/log-guard.ts";
import {
  answerOf,
  DashboardBrowser,
  PASSWORD,
  pageRequest,
  type SignedUp,
  signUp,
} from "../support/person.ts";

interface Creation {
  readonly options: PublicKeyCredentialCreationOptionsJSON;
}
interface SignIn {
  readonly options: PublicKeyCredentialRequestOptionsJSON;
}

const proof = { password: PASSWORD };
const optionsFor = async (browser: DashboardBrowser) =>
  (await browser.post<Creation>("/passkeys/options", proof)).data.options;
const signInOptions = async () => (await new DashboardBrowser().get<SignIn>("/sign-in/passkey")).data.options;
const listOf = async (browser: DashboardBrowser) =>
  (await browser.get<{ passkeys: Passkey[] }>("/passkeys")).data.passkeys;

/** Adds a passkey to a person. */
async function add({ browser }: Pick<SignedUp, "browser">, counter = 0, name = "Laptop") {
  const passkey = await SoftPasskey.create(counter);
  const credential = await passkey.register(await optionsFor(browser));
  const answer = await browser.post<{ passkey: Passkey }>("/passkeys", { name, credential });
  expect([answer.status, answer.error]).toEqual([201, null]);
  return { passkey, id: answer.data.passkey.id };
}

const signIn = async (credential: object, browser = new DashboardBrowser()) => ({
  browser,
  answer: await browser.post("/sign-in/passkey", { credential }),
});

const REFUSED = {
  module: "Auth",
  code: "UNAUTHORIZED",
  message: "This passkey does not sign anyone in; try again, or sign in another way",
};

async function expectRefused(credential: object): Promise<void> {
  const { answer, browser } = await signIn(credential);
  expect([answer.status, answer.error, browser.cookie]).toEqual([401, REFUSED, ""]);
}

describe("a passkey", () => {
  it("signs its person in without an address, a password or anything else", async () => {
    const person = await signUp();
    const { passkey, id } = await add(person);
    expect(await listOf(person.browser)).toEqual([
      { id, name: "Laptop", created_at: expect.any(String), last_used_at: null },
    ]);
    const { browser, answer } = await signIn(await passkey.sign(await signInOptions()));
    expect([answer.status, answer.data]).toEqual([200, {}]);
    expect((await browser.get<Me>("/me")).data.person).toMatchObject({ id: person.id, email: person.email });
    const [used] = await listOf(browser);
    expect(used?.last_used_at).not.toBeNull();
    // The browser is known now: strangers who guess the password do not slow it down.
    expect(browser.known).toContain("atrium_browser=");
  });

  it("asks for an authenticator that knows its passkeys and is unlocked, and names no person to strangers", async () => {
    const person = await signUp();
    const { passkey } = await add(person);
    expect(await optionsFor(person.browser)).toMatchObject({
      rp: { id: "atrium.test", name: "Atrium" },
      user: { name: person.email, displayName: "Ada" },
      excludeCredentials: [{ id: passkey.id, type: "public-key", transports: ["internal"] }],
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
      attestation: "none",
    });
    expect(await signInOptions()).toEqual({
      ...{ rpId: "atrium.test", userVerification: "required" },
      ...{ challenge: expect.any(String), timeout: CHALLENGE_LIFETIME_MS },
    });
  });

  it("needs the password, whose wrong guesses count", async () => {
    const { browser } = await signUp();
    const answers = [];
    for (let guess = 0; guess < 7; guess += 1)
      answers.push(refusalOf(await browser.post("/passkeys/options", { password: "wrong" })));
    expect(answers[0]).toEqual([400, "Auth", "VALIDATION_ERROR"]);
    expect(answers.at(-1)).toEqual([429, "Server", "RATE_LIMITED"]);
  });

  it("is bound to the session that proved itself, its challenge, its origin, its domain and an unlocked authenticator", async () => {
    const [person, other] = [await signUp(), await signUp()];
    const passkey = await SoftPasskey.create();
    const options = await optionsFor(person.browser);
    const again = new DashboardBrowser();
    await again.post("/sign-in", { email: person.email, password: PASSWORD });
    const wrong = [
      { browser: other.browser, credential: await passkey.register(options) },
      { browser: again, credential: await passkey.register(options) },
      ...(await Promise.all(
        [
          passkey.register({ ...options, challenge: (await signInOptions()).challenge }),
          passkey.register({ ...options, challenge: Buffer.from("1.2.3").toString("base64url") }),
          passkey.register(options, { origin: "https://elsewhere.test" }),
          passkey.register(options, { rpId: "elsewhere.test" }),
          passkey.register(options, { isVerified: false }),
          passkey.register(options).then((made) => ({
            ...made,
            response: { ...made.response, attestationObject: "AAAA" },
          })),
        ].map(async (credential) => ({ browser: person.browser, credential: await credential })),
      )),
    ];
    for (const { browser, credential } of wrong) {
      const answer = await browser.post("/passkeys", { name: "Laptop", credential });
      expect(refusalOf(answer)).toEqual([400, "Auth", "VALIDATION_ERROR"]);
      expect(answer.error?.message).toBe(
        "The passkey was not made for this request, or too late; add it again",
      );
    }
    for (const { browser } of [person, other]) expect(await listOf(browser)).toEqual([]);
  });

  it("belongs to one person", async () => {
    const [person, other] = [await signUp(), await signUp()];
    const { passkey } = await add(person);
    const credential = await passkey.register(await optionsFor(other.browser));
    const answer = await other.browser.post("/passkeys", { name: "Mine", credential });
    expect(refusalOf(answer)).toEqual([409, "Auth", "CONFLICT"]);
    // It now has the other's handle, and signs in neither of them.
    await expectRefused(await passkey.sign(await signInOptions()));
  });

  it("is one of a bounded number", async () => {
    const person = await signUp();
    const last = await SoftPasskey.create();
    const credential = await last.register(await optionsFor(person.browser));
    await env.DB.prepare(
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1)
       INSERT INTO passkeys (id, person_id, name, credential_id, public_key, counter, transports, challenged_at, created_at)
       SELECT lower(hex(randomblob(16))), ?2, 'Key ' || n, lower(hex(randomblob(16))), '', 0, '[]', 0, n FROM numbers`,
    )
      .bind(MAX_PASSKEYS, person.id)
      .run();
    for (const answer of [
      await person.browser.post("/passkeys", { name: "One more", credential }),
      await person.browser.post("/passkeys/options", proof),
    ]) {
      expect(refusalOf(answer)).toEqual([403, "Auth", "FORBIDDEN"]);
      expect(answer.error?.message).toContain("You have 20 passkeys");
    }
    expect(await listOf(person.browser)).toHaveLength(MAX_PASSKEYS);
  });

  it("is not made at an IP address, and the message says where it is", async () => {
    const settings = { PUBLIC_ORIGIN: "http://127.0.0.1:8787" };
    const answer = await answerOf(settings, pageRequest("GET", "/dashboard/api/sign-in/passkey"));
    expect(refusalOf(answer)).toEqual([403, "Auth", "FORBIDDEN"]);
    expect(answer.error?.message).toContain("open http://localhost");
  });
});

describe("signing in by a passkey is refused", () => {
  it("twice by one signature, and by an older one", async () => {
    const { passkey } = await add(await signUp());
    const [older, newer] = [await signInOptions(), await signInOptions()];
    const [first, second] = [await passkey.sign(older), await passkey.sign(newer)];
    expect((await signIn(second)).answer.status).toBe(200);
    for (const credential of [second, first]) await expectRefused(credential);
  });

  it("for all but one of several at once with one signature", async () => {
    const { passkey } = await add(await signUp());
    const credential = await passkey.sign(await signInOptions());
    const all = await Promise.all(Array.from({ length: 5 }, () => signIn(credential)));
    expect(all.map(({ answer }) => answer.status).toSorted()).toEqual([200, 401, 401, 401, 401]);
  });

  it("without a challenge of this service for signing in, fresh, at this origin, by an unlocked authenticator", async () => {
    const person = await signUp();
    const { passkey } = await add(person);
    const options = await signInOptions();
    const secret = cookieSecretOf(jwtSecrets(env)[0]);
    const made = (purpose: string, ageMs: number, key = secret) => {
      return { ...options, challenge: createChallenge(purpose, key, Date.now() - ageMs) };
    };
    const good = await passkey.sign(options);
    const credentials = [
      await passkey.sign(made("sign-in", CHALLENGE_LIFETIME_MS + 1000)),
      await passkey.sign(made("sign-in", 0, "another secret")),
      await passkey.sign({ ...options, challenge: (await optionsFor(person.browser)).challenge }),
      await passkey.sign(options, { origin: "https://elsewhere.test" }),
      await passkey.sign(options, { rpId: "elsewhere.test" }),
      await passkey.sign(options, { isVerified: false }),
      {
        ...good,
        response: { ...good.response, signature: good.response.signature.split("").reverse().join("") },
      },
      { ...good, response: { ...good.response, userHandle: Buffer.from("another").toString("base64url") } },
      { ...good, response: { ...good.response, userHandle: null } },
      { ...good, response: { ...good.response, clientDataJSON: "AAAA" } },
      { ...good, response: { ...good.response, clientDataJSON: "bnVsbA" } },
      await (await SoftPasskey.create()).sign(options),
    ];
    for (const credential of credentials) await expectRefused(credential);
    expect((await signIn(good)).answer.status).toBe(200);
  });

  it("when the authenticator's counter goes back, which the log says", async () => {
    const { passkey } = await add(await signUp(), 5);
    const sign = async () => passkey.sign(await signInOptions());
    expect((await signIn(await sign())).answer.status).toBe(200);
    passkey.counter = 4; // a copy, which has not counted the use of the other
    await expectRefused(await sign());
    expectLogged("its counter went back");
    // Others who claim such a count without the key cause no entry.
    passkey.counter = 2;
    const forged = await sign();
    await expectRefused({ ...forged, response: { ...forged.response, signature: "AAAA" } });
    passkey.counter = 10;
    expect((await signIn(await sign())).answer.status).toBe(200);
  });

  it("once it is removed, also while the sign-in is under way", async () => {
    const person = await signUp();
    const { passkey, id } = await add(person);
    const credential = await passkey.sign(await signInOptions());
    const removed = () => person.browser.post(`/passkeys/${id}/delete`, { endSessions: false });
    // The passkey is read in the first batch, and the session begins in the second one.
    let batches = 0;
    const overtaken = new Proxy(env.DB, {
      get: (db, name: keyof D1Database) => {
        if (name !== "batch") return (db[name] as (...args: never[]) => unknown).bind(db);
        return async (statements: D1PreparedStatement[]) => {
          batches += 1;
          if (batches === 2) await removed();
          return db.batch(statements);
        };
      },
    });
    const request = pageRequest("POST", "/dashboard/api/sign-in/passkey", { credential });
    const answer = await answerOf({ DB: overtaken }, request);
    expect([answer.status, answer.error, answer.headers.get("Set-Cookie")]).toEqual([401, REFUSED, null]);
    expect(batches).toBe(2);
    await expectRefused(await passkey.sign(await signInOptions()));
  });

  it("after many wrong ones from one network", async () => {
    const { passkey } = await add(await signUp());
    const stranger = new DashboardBrowser();
    const wrong = await (await SoftPasskey.create()).sign(await signInOptions());
    const statuses = [];
    for (let count = 0; count < 62; count += 1) statuses.push((await signIn(wrong, stranger)).answer.status);
    expect(statuses.at(-1)).toBe(429);
    expect((await signIn(await passkey.sign(await signInOptions()))).answer.status).toBe(200);
  });

  it.each([{}, { credential: {} }, { credential: { id: "not base64url!", rawId: "", type: "public-key" } }])(
    "without a credential: %o",
    async (body) => {
      const answer = await new DashboardBrowser().post("/sign-in/passkey", body);
      expect(refusalOf(answer)).toEqual([400, "Auth", "VALIDATION_ERROR"]);
    },
  );
});

describe("a person's passkeys", () => {
  it("are renamed and removed by the person alone", async () => {
    const [person, other] = [await signUp(), await signUp()];
    const { id } = await add(person);
    const { browser } = person;
    expect((await browser.send("PATCH", `/passkeys/${id}`, { name: "Phone" })).status).toBe(200);
    for (const answer of [
      await other.browser.send("PATCH", `/passkeys/${id}`, { name: "Mine" }),
      await other.browser.post(`/passkeys/${id}/delete`, { endSessions: true }),
      await browser.post("/passkeys/none/delete", { endSessions: true }),
    ])
      expect(refusalOf(answer)).toEqual([404, "Auth", "NOT_FOUND"]);
    expect(await listOf(browser)).toMatchObject([{ id, name: "Phone" }]);
    expect(await listOf(other.browser)).toEqual([]);
  });

  it("end the other sessions only if the person asks for it", async () => {
    const person = await signUp();
    const kept = await add(person);
    const { id } = await add(person, 0, "Phone");
    const { browser } = await signIn(await kept.passkey.sign(await signInOptions()));
    expect((await person.browser.post(`/passkeys/${id}/delete`, { endSessions: false })).status).toBe(200);
    expect((await browser.get("/me")).status).toBe(200);
    expect((await person.browser.post(`/passkeys/${kept.id}/delete`, { endSessions: true })).status).toBe(
      200,
    );
    expect((await browser.get("/me")).status).toBe(401);
    expect((await person.browser.get("/me")).status).toBe(200);
  });

  it("keep the last one without another way to sign in", async () => {
    const person = await signUp();
    const [first, second] = [await add(person), await add(person)];
    await env.DB.prepare("UPDATE credentials SET password = NULL WHERE person_id = ?").bind(person.id).run();
    const remove = (id: string) => person.browser.post(`/passkeys/${id}/delete`, { endSessions: true });
    const other = await signIn(await second.passkey.sign(await signInOptions()));
    const answers = await Promise.all([remove(first.id), remove(second.id)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    expect(await listOf(person.browser)).toHaveLength(1);
    // What is refused ends no session: the one that was removed first has ended it.
    expect((await other.browser.get("/me")).status).toBe(401);
  });

  it("stay with a new password, by which all sessions end", async () => {
    const person = await signUp();
    const { passkey } = await add(person);
    const next = "another good password";
    expect((await person.browser.post("/password", { current: PASSWORD, next })).status).toBe(200);
    expect((await signIn(await passkey.sign(await signInOptions()))).answer.status).toBe(200);
  });
});
