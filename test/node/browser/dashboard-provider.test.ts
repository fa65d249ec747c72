/** Signing in by a company's provider, in a real browser at a real OpenID Connect provider. */
import path from "node:path";
import { afterAll, expect, it } from "vitest";
import { startProvider } from "../../support/provider.ts";
import { CLIENT, subjectOf, type TestAccount } from "../../support/provider-accounts.ts";
import { findFreePort, ROOT } from "../cli/processes.ts";
import { startService } from "../cli/service.ts";
import { preparedState } from "../cli/shared-service.ts";
import { expectAccessible } from "./axe.ts";
import { openBrowser } from "./browser.ts";
import { Desk, newAddress, PASSWORD } from "./dashboard.ts";

const port = await findFreePort();
const provider = await startProvider(`http://localhost:${port}`);
afterAll(() => provider.stop());
const settings = {
  ATRIUM_OIDC_ISSUER: provider.issuer,
  ATRIUM_OIDC_CLIENT_ID: CLIENT.id,
  ATRIUM_OIDC_CLIENT_SECRET: CLIENT.secret,
  ATRIUM_OIDC_NAME: "Acme",
  ATRIUM_OIDC_DOMAINS: "example.com",
};
const service = await startService({
  port,
  preparedState: await preparedState(),
  command: (options) => [
    "env",
    ...Object.entries(settings).map((pair) => pair.join("=")),
    ...[process.execPath, path.join(ROOT, "src/cli/start.ts"), ...options],
  ],
});
afterAll(() => service.kill());
const browser = await openBrowser();
const desk = await Desk.signedUp(browser, service.url);
afterAll(() => expect(desk.complaints).toEqual([]));

/** Signs in at the provider's form, or cancels there. */
async function answer({ page }: Desk, account: TestAccount | null): Promise<void> {
  await page.getByLabel("Who are you?").fill(account === null ? "" : subjectOf(account));
  await page.getByRole("button", { name: account === null ? "Cancel" : "Sign in" }).click();
}

const newAccount = (email = newAddress()) => ({ email, email_verified: true, name: "Bo" });

it("an invited person joins by the provider, and signs in again by it", async () => {
  const { url } = await desk.ask<{ url: string }>("POST", "/invitations", {});
  const invited = await Desk.open(browser, service.url);
  await invited.page.goto(url);
  const account = newAccount();
  await invited.button("Sign in with Acme").click();
  await answer(invited, account);
  await invited.page.waitForURL(`**/dashboard/${desk.accountId}`);
  await invited.page.evaluate(() => fetch("/dashboard/api/sign-out", { method: "POST" }));
  await invited.go(`/sign-in?next=/dashboard/${desk.accountId}/settings/sign-in`);
  await invited.button("Sign in with Acme").waitFor();
  await expectAccessible(invited.page);
  // The provider has a session of its own, and asks for nothing.
  await invited.button("Sign in with Acme").click();
  await invited.heading("Account at Acme").waitFor();
  await invited.page.getByText("A second factor protects a password, and you have none").waitFor();
  expect(await invited.button("Set up").count()).toBe(0);
  await expectAccessible(invited.page);
  await invited.link("Profile").click();
  await invited.button("Delete account").click();
  await invited.field(`Type “${account.email}” to confirm`).waitFor();
  await invited.button("Cancel").click();
  await invited.link("Sign-in").click();
  await invited.field("New password").fill(PASSWORD);
  await invited.button("Set password").click();
  await invited.toast("Password set").waitFor();
  await invited.button("Set up").waitFor();
  await invited.button("Disconnect").click();
  await invited.dialog().getByRole("button", { name: "Disconnect" }).click();
  await invited.toast("Acme disconnected").waitFor();
  await invited.button("Connect Acme").waitFor();
  expect(invited.complaints).toEqual([]);
  await invited.close();
});

it("a stranger's account with the address begins anew, and a new person without an organization waits", async () => {
  const email = newAddress();
  const stranger = await Desk.signedUp(browser, service.url, { email });
  const owner = await Desk.open(browser, service.url);
  await owner.go("/sign-in");
  await owner.button("Sign in with Acme").click();
  await answer(owner, newAccount(email));
  await owner.heading("Your account begins anew").waitFor();
  await expectAccessible(owner.page);
  await owner.button("Continue").click();
  await owner.page.waitForURL(`**/dashboard/${stranger.accountId}`);
  await stranger.go("");
  await stranger.heading("Sign in").waitFor();
  await stranger.button("Sign in with Acme").click();
  await answer(stranger, newAccount());
  await stranger.heading("New organization").waitFor();
  expect([...owner.complaints, ...stranger.complaints]).toEqual([]);
  await owner.close();
  await stranger.close();
});

it("the page says why no one is signed in, and a person connects their account in the settings", async () => {
  const visitor = await Desk.open(browser, service.url);
  await visitor.go("/sign-in");
  await visitor.button("Sign in with Acme").click();
  await answer(visitor, null);
  await visitor.page.getByText("Acme did not sign you in").waitFor();
  await visitor.link("Back to sign in").click();
  await visitor.button("Sign in with Acme").waitFor();
  expect(visitor.complaints).toEqual([]);
  await visitor.close();
  await desk.enter("/settings/sign-in");
  await desk.button("Connect Acme").click();
  await expectAccessible(desk.page);
  await desk.field("Your password").fill(PASSWORD);
  await desk.button("Continue").click();
  await answer(desk, null);
  await desk.heading("Account not connected").waitFor();
  expect(await desk.page.getByRole("alert").count()).toBe(0);
  await expectAccessible(desk.page);
  await desk.link("Back to Settings, Sign-in").click();
  await desk.page.waitForURL(`**/dashboard/${desk.accountId}/settings/sign-in`);
  await desk.button("Connect Acme").click();
  await desk.field("Your password").fill(PASSWORD);
  await desk.button("Continue").click();
  await answer(desk, newAccount());
  await desk.button("Disconnect").waitFor();
});
