/** The first owner, who signs up by the code of `npm run deploy`, in a directory without members. */
import { env } from "cloudflare:workers";
import type { Me } from "@atrium/contract/rest/people.ts";
import { beforeEach, describe, expect, it } from "vitest";
import { createSetupCode, setupCode, setupHashOf } from "../../src/features/people/links.ts";
import { ORIGIN, refusalOf } from "../support/api.ts";
import { answerOf, DashboardBrowser, freshEmail, PASSWORD, pageRequest } from "../support/person.ts";

/** No test signs anyone up in it. */
const DB = env.DB_2;
const ACCOUNT = "00000000-0000-4000-8000-00000000c0de";

const rowsOf = async (sql: string) => (await DB.prepare(sql).all()).results;

const post = <Data = object>(path: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
  answerOf<Data>({ DB }, pageRequest("POST", `/dashboard/api${path}`, body, headers));

const signUpBy = (code: string, email = freshEmail()) =>
  post<Me>("/sign-up", { name: "Ada", email, password: PASSWORD, code });

/** As the command stores it. */
async function makeCode(expiresAt = Date.now() + setupCode.lifetimeMs): Promise<string> {
  const code = createSetupCode();
  await DB.prepare(
    "INSERT INTO invitations (id, account_id, role, token_hash, created_at, expires_at) VALUES (?, ?, 'owner', ?, 1, ?)",
  )
    .bind(crypto.randomUUID(), ACCOUNT, await setupHashOf(code), expiresAt)
    .run();
  return code;
}

beforeEach(async () => {
  await DB.batch([
    DB.prepare("DELETE FROM accounts WHERE id = ?").bind(ACCOUNT),
    DB.prepare("DELETE FROM memberships WHERE account_id > ''"),
    DB.prepare("INSERT INTO accounts (id, name, created_at) VALUES (?, 'Boards', 1)").bind(ACCOUNT),
  ]);
});

const REFUSAL = [400, "Auth", "VALIDATION_ERROR"];

describe("the first owner's code", () => {
  it("has 60 random bits, without characters that look alike", () => {
    const codes = Array.from({ length: 200 }, createSetupCode);
    for (const code of codes) expect(code).toMatch(/^([A-HJ-NP-Z2-9]{4}-){2}[A-HJ-NP-Z2-9]{4}$/);
    expect(new Set(codes.join("").replaceAll("-", "")).size).toBe(32);
  });

  it("makes one person the owner, in whatever case it is typed, and works once", async () => {
    const code = await makeCode();
    const answer = await signUpBy(` ${code.toLowerCase().replaceAll("-", " ")} `);
    expect(answer.status).toBe(201);
    expect(answer.data.organizations).toEqual([{ id: ACCOUNT, name: "Boards", role: "owner" }]);
    expect(answer.headers.getSetCookie().join()).toContain("HttpOnly");
    expect(refusalOf(await signUpBy(code))).toEqual(REFUSAL);
    expect(await rowsOf("SELECT id FROM invitations")).toEqual([]);
    expect(await rowsOf("SELECT operation, account_id FROM audit_entries ORDER BY at DESC LIMIT 1")).toEqual([
      { operation: "acceptInvitation", account_id: ACCOUNT },
    ]);
  });

  it("makes one of several people who use it at once the owner, and creates none of the others", async () => {
    const code = await makeCode();
    const emails = Array.from({ length: 4 }, freshEmail);
    const answers = await Promise.all(emails.map((email) => signUpBy(code, email)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 400, 400, 400]);
    expect(await rowsOf("SELECT role FROM memberships")).toEqual([{ role: "owner" }]);
    const people = (await rowsOf("SELECT email FROM people")).map(({ email }) => email);
    expect(emails.filter((email) => people.includes(email))).toHaveLength(1);
  });

  it("is refused with one error when it is wrong, has expired, or anyone can sign in", async () => {
    const [expired, first, second] = [await makeCode(Date.now()), await makeCode(), await makeCode()];
    const refusals = [await signUpBy(createSetupCode()), await signUpBy(""), await signUpBy(expired)];
    expect((await signUpBy(first)).status).toBe(201);
    refusals.push(await signUpBy(second));
    for (const answer of refusals) expect(refusalOf(answer)).toEqual(REFUSAL);
    const messages = new Set(refusals.map(({ error }) => error?.message));
    expect([...messages]).toEqual([
      expect.stringMatching(/^code: this code is wrong, was used, or has expired/),
    ]);
  });

  it("opens nothing where invitations do, where no guess is counted", async () => {
    const code = await makeCode();
    const tokens = [code, code.replaceAll("-", ""), await setupHashOf(code)];
    for (const token of tokens) {
      const request = pageRequest("GET", `/dashboard/api/invitations/${encodeURIComponent(token)}`);
      expect((await answerOf({ DB }, request)).status).toBe(404);
      const body = { name: "Ada", email: freshEmail(), password: PASSWORD, invitation: token };
      expect((await post("/sign-up", body)).status).toBe(404);
    }
  });

  it("counts a wrong one as a guess of its network", async () => {
    const network = { "CF-Connecting-IP": new DashboardBrowser().address };
    const unlimited = { limit: async () => ({ success: true }) };
    const guess = () => {
      const body = { name: "Ada", email: freshEmail(), password: PASSWORD, code: createSetupCode() };
      const request = pageRequest("POST", "/dashboard/api/sign-up", body, network);
      return answerOf({ DB, SIGN_IN_ADDRESS_RATE_LIMIT: unlimited }, request);
    };
    // Forgotten within seconds each, so more of them than the rule has free.
    const answers = await Promise.all(Array.from({ length: 80 }, guess));
    expect(answers.at(-1)?.error?.code).toBe("RATE_LIMITED");
  });

  it("makes a person who is signed in the owner of the organization that no one owns", async () => {
    const { headers } = await signUpBy(await makeCode());
    await DB.prepare("DELETE FROM memberships WHERE account_id > ''").run();
    const Cookie = headers
      .getSetCookie()
      .map((each) => each.split(";")[0])
      .join("; ");
    const code = await makeCode();
    const answer = await post("/setup", { code }, { Cookie });
    expect(answer.data).toEqual({ organization: { id: ACCOUNT, name: "Boards", role: "owner" } });
    expect(refusalOf(await post("/setup", { code }, { Cookie }))).toEqual(REFUSAL);
    expect((await post("/setup", { code })).status).toBe(401);
  });

  it("has a page with a short address", async () => {
    const response = await new DashboardBrowser().raw("GET", setupCode.path, { redirect: "manual" });
    expect([response.status, response.headers.get("Location")]).toEqual([302, "/dashboard/setup"]);
    expect(ORIGIN + setupCode.path).toMatch(/\/setup$/);
  });
});
