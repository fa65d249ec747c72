/** The dashboard's pages outside an organization, which people see first: to sign in and up, those of links, and none. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type SharedService, useSharedService } from "../cli/shared-service.ts";
import { findingsOf } from "./axe.ts";
import { launchChromium } from "./chromium.ts";
import { Desk, newAddress, PASSWORD } from "./dashboard.ts";

let service: SharedService;
let browser: Browser;
let guest: Desk;
let owner: Desk;

beforeAll(async () => {
  service = await useSharedService();
  browser = await launchChromium();
  owner = await Desk.signedUp(browser, service.url);
  guest = await Desk.open(browser, service.url);
});
afterAll(async () => {
  await browser?.close();
});

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
  for (const [width, height] of [
    [1280, 800],
    [360, 740],
  ] as const) {
    await page.setViewportSize({ width, height });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      expect([width, colorScheme, await findingsOf(page)]).toEqual([width, colorScheme, []]);
    }
    const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(excess).toBeLessThanOrEqual(0);
  }
});

it("no browser logs errors or warnings", () => {
  expect([...guest.complaints, ...owner.complaints]).toEqual([]);
});
