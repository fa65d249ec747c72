/** A person protects their account by a second factor, signs in with it, and ends their sessions elsewhere. */

import { readFile } from "node:fs/promises";
import { Secret, TOTP } from "otpauth";
import { expect, it } from "vitest";
import { sharedService } from "../cli/shared-service.ts";
import { expectAccessible } from "./axe.ts";
import { openBrowser } from "./browser.ts";
import { Desk, newAddress, PASSWORD } from "./dashboard.ts";

const service = await sharedService();
const browser = await openBrowser();
const email = newAddress();
const owner = await Desk.signedUp(browser, service.url);
const desk = await Desk.open(browser, service.url);
const phone = await Desk.open(browser, service.url);
desk.accountId = owner.accountId;

await desk.page.goto((await owner.ask<{ url: string }>("POST", "/invitations", {})).url);
await desk.field("Your name").fill("Bo");
await desk.field("Email").fill(email);
await desk.field("Password").fill(PASSWORD);
await desk.button("Sign up and join").click();
await desk.heading("Overview").waitFor();

const NEW_PASSWORD = "another horse battery";
const PERIOD_MS = 30_000;
let secret = "";
let codes: string[] = [];
/** The code of the present time step, or of the next one: the service takes both, but each once. */
const codeOf = (steps: 0 | 1): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * PERIOD_MS });

async function enterPassword(password: string): Promise<void> {
  await phone.go("/sign-in");
  await phone.field("Email").fill(email);
  await phone.field("Password").fill(password);
  await phone.button("Sign in").click();
}

/** Signs in on the phone up to the question for a code. */
async function signInOnPhone(password = PASSWORD): Promise<void> {
  await enterPassword(password);
  await phone.page.getByRole("status").getByText("Enter a code of your second factor").waitFor();
}

it("sets up a second factor by the secret of the QR code, and is shown ten recovery codes", async () => {
  await desk.enter("/settings/sign-in");
  await desk.button("Set up").click();
  await desk.field("Your password").fill(PASSWORD);
  await desk.button("Continue").click();
  await desk.page.getByRole("img", { name: "QR code of the secret" }).waitFor();
  secret = await desk.copy("the secret");
  expect(secret).toMatch(/^[A-Z2-7]{32}$/);
  await expectAccessible(desk.page);
  await desk.field("First code").fill("000000");
  await desk.button("Activate").click();
  await desk.page.getByText("This code is wrong or was used; enter the next one").waitFor();
  await desk.field("First code").fill(codeOf(0));
  await desk.button("Activate").click();
  await desk.heading("Your recovery codes").waitFor();
  codes = (await desk.copy("the recovery codes")).split("\n");
  expect(codes).toHaveLength(10);
  const saved = desk.page.waitForEvent("download");
  await desk.button("Save as file").click();
  expect(await readFile(await (await saved).path(), "utf8")).toBe(`${codes.join("\n")}\n`);
  await desk.button("Done").click();
  await desk.page.getByText(/^Active since \w+ \d+, \d+\. 10 recovery codes are left\.$/).waitFor();
  await expectAccessible(desk.page);
});

it("is asked for a code after the password, of the app or a recovery code", async () => {
  await signInOnPhone();
  await phone.field("Code").and(phone.page.locator(":focus")).waitFor();
  // The question is no mistake yet.
  const mistakes = phone.page.locator("[aria-invalid], .field-error, [role=alert]");
  expect(await mistakes.count()).toBe(0);
  await expectAccessible(phone.page);
  await phone.button("Sign in").click();
  await mistakes.first().waitFor();
  await phone.field("Code").fill("000000");
  await phone.button("Sign in").click();
  await phone.page.getByText("This code is wrong or was used; enter the next one").waitFor();
  await phone.field("Code").fill(codeOf(1));
  await phone.button("Sign in").click();
  await phone.heading("Overview").waitFor();
  await phone.page.context().clearCookies();
  await signInOnPhone();
  await phone.field("Code").fill(codes[0] ?? "");
  await phone.button("Sign in").click();
  await phone.heading("Overview").waitFor();
});

it("sees both sessions of the phone, signs one out, then all others", async () => {
  await desk.enter("/settings/sign-in");
  const rows = desk.row("Chrome on Linux");
  await rows.nth(2).waitFor();
  expect(await rows.filter({ hasText: "this one" }).count()).toBe(1);
  expect(await rows.filter({ hasText: "within the last hour" }).count()).toBe(3);
  await rows.nth(2).getByRole("button", { name: "Sign out Chrome on Linux" }).click();
  await desk.toast("Chrome on Linux is signed out").waitFor();
  await rows.nth(2).waitFor({ state: "detached" });
  await desk.button("Sign out everywhere else").click();
  await desk.button("Sign out").click();
  await desk.toast("One other session ended").waitFor();
  await rows.nth(1).waitFor({ state: "detached" });
  await phone.go("");
  await phone.heading("Sign in").waitFor();
});

it("is asked for a code after a link for a new password, too", async () => {
  const { members } = await owner.ask<{ members: { id: string; name: string }[] }>("GET", "/members");
  const id = members.find(({ name }) => name === "Bo")?.id;
  await phone.page.goto((await owner.ask<{ url: string }>("POST", `/members/${id}/password-link`)).url);
  await phone.field("New password").fill(NEW_PASSWORD);
  await phone.button("Save and sign in").click();
  await phone.heading("Your password is changed").waitFor();
  await expectAccessible(phone.page);
  await phone.link("Sign in").click();
  await phone.heading("Sign in").waitFor();
  await signInOnPhone(NEW_PASSWORD);
  await phone.field("Code").fill(codes[1] ?? "");
  await phone.button("Sign in").click();
  await phone.heading("Overview").waitFor();
});

it("turns it off by the password and a recovery code, and signs in without one", async () => {
  await phone.go(`/${owner.accountId}/settings/sign-in`);
  await phone.page.getByText("8 recovery codes are left.").waitFor();
  await phone.button("Turn off").click();
  await phone.field("Your password").fill(NEW_PASSWORD);
  await phone.field("Code").fill(codes[2] ?? "");
  await phone.dialog().getByRole("button", { name: "Turn off" }).click();
  await phone.toast("Second factor turned off").waitFor();
  await phone.button("Set up").waitFor();
  await phone.page.context().clearCookies();
  await enterPassword(NEW_PASSWORD);
  await phone.heading("Overview").waitFor();
  expect([...desk.complaints, ...phone.complaints]).toEqual([]);
});
