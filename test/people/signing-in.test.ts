/** Signing up, in and out. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { Me } from "../../src/people/schema.ts";
import { Browser, freshEmail, PASSWORD, signUp } from "../support/person.ts";

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

  it("sets a cookie that scripts cannot read and other sites cannot send", async () => {
    const { browser } = await signUp();
    expect(browser.setCookie).toMatch(
      /^__Host-atrium_session=[\w%]+\.[\w%]+; Max-Age=2592000; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
  });
  it("signs in", async () => {
    const { browser, email, organization } = await signUp();
    const other = new Browser();
    const answer = await other.post<Me>("/sign-in", {
      email: ` ${email.toUpperCase()} `,
      password: PASSWORD,
    });
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.data.organizations).toEqual([organization]);
    expect(await env.DB.prepare("SELECT count(*) n FROM sessions").first("n")).toBeGreaterThan(1);
    const wrong = await other.post("/sign-in", { email, password: "x" });
    expect(wrong.status).toBe(401);
    expect((await browser.api(organization.id).get("/rooms")).status).toBe(200);
    expect(await browser.post("/password", { current: PASSWORD, next: "another password" })).toMatchObject({
      status: 200,
    });
    expect(await browser.post("/password", { current: PASSWORD, next: "another password" })).toMatchObject({
      status: 400,
    });
    expect((await browser.get("/me")).status).toBe(200);
    expect((await other.get("/me")).status).toBe(401);
    expect((await browser.post("/sign-out")).status).toBe(200);
    expect((await browser.get("/me")).status).toBe(401);
  });
});
