/** The dashboard's pages outside an organization, which people see first: to sign in and up, those of links, and none. */

import type { Page, Route } from "playwright-core";
import { expect, it } from "vitest";
import { sharedService } from "../cli/shared-service.ts";
import { expectAccessible } from "./axe.ts";
import { openBrowser } from "./browser.ts";
import { Desk, newAddress, PASSWORD } from "./dashboard.ts";

const service = await sharedService();
const browser = await openBrowser();
const address = newAddress();
const owner = await Desk.signedUp(browser, service.url, { email: address });
const guest = await Desk.open(browser, service.url);

const invite = async (): Promise<string> =>
  (await owner.ask<{ url: string }>("POST", "/invitations", {})).url;

/** A link for a new password of a member who signs up for it. */
async function linkForMember(): Promise<string> {
  const member = await Desk.open(browser, service.url);
  await member.page.goto(await invite());
  await member.field("Your name").fill("Bo");
  await member.field("Email").fill(newAddress());
  await member.field("Password").fill(PASSWORD);
  await member.button("Sign up and join").click();
  await member.heading("Overview").waitFor();
  await member.close();
  const { members } = await owner.ask<{ members: { id: string; name: string }[] }>("GET", "/members");
  const id = members.find(({ name }) => name === "Bo")?.id;
  return (await owner.ask<{ url: string }>("POST", `/members/${id}/password-link`)).url;
}

const at = (path: string) => async () => `${service.url}/dashboard${path}`;

it.each<[string, "guest" | "owner", () => Promise<string>]>([
  ["Sign in", "guest", at("/sign-in")],
  ["Sign up", "guest", at("/sign-up")],
  ["Forgot your password?", "guest", at("/forgot-password")],
  ["Join Boards", "guest", invite],
  ["Join Boards", "owner", invite],
  ["This invitation is no longer valid", "guest", at("/invitations/none")],
  ["Choose a new password", "guest", linkForMember],
  ["This link is no longer valid", "guest", at("/password-links/none")],
  ["New organization", "owner", at("/new")],
  ["Not found", "owner", at("/no-such-organization")],
  ["Not found", "owner", async () => `${service.url}/dashboard/${owner.accountId}/no/such/page`],
])("“%s”, for the %s, passes axe and fits each screen, light and dark", async (title, who, url) => {
  const { page, heading } = who === "owner" ? owner : guest;
  await page.goto(await url());
  await heading(title).waitFor();
  expect(await page.locator("main").count()).toBe(1);
  await expectAccessible(page);
});

it("who forgot their password is sent a link, and does not learn whether the address is known", async () => {
  for (const email of [address, newAddress()]) {
    await guest.go("/sign-in");
    await guest.link("Forgot your password?").click();
    await guest.field("Email").fill(email);
    await guest.button("Send link").click();
    await guest.page.getByText(`If an account has the address ${email}, a link`).waitFor();
  }
});

it.each([
  [(id: string) => `?next=/dashboard/${id}/rooms`, "Rooms"],
  [() => "?next=https://example.com/", "Overview"],
  [() => "", "Overview"],
])("who is signed in goes on at once where the sign-in would lead", async (search, title) => {
  await owner.go(`/sign-in${search(owner.accountId)}`);
  await owner.heading(title).waitFor();
  await owner.page.goBack();
  expect(new URL(owner.page.url()).pathname).not.toContain("/sign-in");
});

it("no browser logs errors or warnings", () => {
  expect([...guest.complaints, ...owner.complaints]).toEqual([]);
});

// Turnstile's widget on the pages for signing in and up, with stand-ins for the widget and for the deployment's keys.

const CHALLENGES = "https://challenges.cloudflare.com";

/** A widget that everyone passes: it numbers its responses, and adds them to the form as the real one does. */
const WIDGET = `
  let count = 0;
  window.turnstile = {
    render(place, { sitekey, "response-field-name": name }) {
      const field = Object.assign(document.createElement("input"), { type: "hidden", name });
      field.value = sitekey + "-" + ++count;
      place.append("Verified", field);
      return String(count);
    },
    remove() { document.querySelector('[name="challenge"]').parentElement.replaceChildren(); },
  };`;

/** As a deployment with keys answers; that the real policy allows this is tested beside it. */
async function withKeys(page: Page): Promise<void> {
  await page.route("**/dashboard/sign-*", async (route: Route) => {
    const response = await route.fetch();
    const policy = response.headers()["content-security-policy"] ?? "";
    const widened = policy.replace("script-src 'self'", `script-src 'self' ${CHALLENGES}`);
    await route.fulfill({
      response,
      headers: { ...response.headers(), "content-security-policy": widened },
    });
  });
  await page.route("**/dashboard/api/challenge", (route) =>
    route.fulfill({ json: { data: { site_key: "site" }, error: null, requestId: "1" } }),
  );
}

it("a form has the widget's response, and another one after each refusal", async () => {
  const desk = await Desk.open(browser, service.url);
  const { page } = desk;
  await withKeys(page);
  await page.route(`${CHALLENGES}/**`, (route) =>
    route.fulfill({ contentType: "text/javascript", body: WIDGET }),
  );
  await desk.go("/sign-in");
  for (const challenge of ["site-1", "site-2"]) {
    await page.locator(`input[value="${challenge}"]`).waitFor({ state: "attached" });
    await page.getByLabel("Email").fill(newAddress());
    await page.getByLabel("Password").fill("a wrong password");
    const sent = page.waitForRequest((request) => request.method() === "POST");
    await desk.button("Sign in").click();
    expect((await sent).postDataJSON()).toMatchObject({ challenge });
  }
  await page.getByText("The email address or the password is wrong").waitFor();
  expect(desk.complaints).toEqual([]);
});

it("a page whose widget is blocked says what to allow", async () => {
  const desk = await Desk.open(browser, service.url);
  await withKeys(desk.page);
  await desk.page.route(`${CHALLENGES}/**`, (route) => route.abort());
  await desk.go("/sign-up");
  await desk.page.getByText("allow scripts of challenges.cloudflare.com").waitFor();
});

it("without keys, a page loads nothing from elsewhere", async () => {
  const desk = await Desk.open(browser, service.url);
  await desk.go("/sign-in");
  await desk.page.getByLabel("Password").waitFor();
  await desk.page.waitForLoadState("networkidle");
  expect(desk.requested.filter((url) => !url.startsWith(service.url))).toEqual([]);
});
