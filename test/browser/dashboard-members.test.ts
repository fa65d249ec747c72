/** Those who belong to an organization: demoting an owner, leaving, a forgotten password, and the organization's end. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type SharedService, useSharedService } from "../cli/shared-service.ts";
import { launchChromium } from "./chromium.ts";
import { Desk, newAddress } from "./dashboard.ts";

let service: SharedService;
let browser: Browser;
let ada: Desk;
let bo: Desk;
const address = newAddress();

beforeAll(async () => {
  service = await useSharedService();
  browser = await launchChromium();
  const [own, other] = [
    { organization: "Ada's Boards", email: address },
    { name: "Bo", organization: "Bo's" },
  ];
  ada = await Desk.signedUp(browser, service.url, own);
  bo = await Desk.signedUp(browser, service.url, other);
  const { url } = await ada.ask<{ url: string }>("POST", "/invitations", { role: "owner" });
  await bo.page.goto(url);
  await bo.button("Join as Bo").click();
  await bo.page.getByRole("button", { name: /^Organization: / }).waitFor();
});
afterAll(async () => {
  await browser?.close();
});

it("an owner makes another one a member, who then manages no one", async () => {
  await ada.enter("/settings/members");
  await expect.poll(() => ada.field("Role of Bo").inputValue()).toBe("owner");
  await ada.field("Role of Bo").selectOption("member");
  await ada.notice("Bo is a member now").waitFor();
  await bo.go(`/${ada.accountId}/settings/members`);
  await bo.page.getByText("Only owners can invite members.").waitFor();
  expect(await bo.button("Invite member").count()).toBe(0);
  expect(await bo.page.getByLabel(/^Role of /).count()).toBe(0);
  await bo.go(`/${ada.accountId}/settings/organization`);
  await bo.page.getByText("Only owners can rename or delete the organization.").waitFor();
});

it("the only owner cannot leave, and reads why; a member can", async () => {
  await ada.button("Leave organization").click();
  await ada.dialog().getByRole("button", { name: "Leave organization" }).click();
  await ada.dialog().getByRole("alert").getByText(/owner/).waitFor();
  await ada.button("Cancel").click();
  await bo.go(`/${ada.accountId}/settings/members`);
  await bo.button("Leave organization").click();
  await bo.dialog().getByRole("button", { name: "Leave organization" }).click();
  await bo.button("Organization: Bo's").waitFor();
  await ada.page.reload();
  await ada.row("Ada").waitFor();
  expect(await ada.row("Bo").count()).toBe(0);
});

it("an organization is deleted once its name is typed, and the person can create another one", async () => {
  await bo.go("");
  await bo.button("Organization: Bo's").waitFor();
  await bo.enter("/settings/organization");
  await bo.button("Delete organization").click();
  await bo.field("Type “Bo's” to confirm").fill("Bo's");
  await bo.dialog().getByRole("button", { name: "Delete organization" }).click();
  await bo.heading("New organization").waitFor();
  await bo.field("Name").fill("Bo's second");
  await bo.button("Create organization").click();
  await bo.button("Organization: Bo's second").waitFor();
});

it("who forgot their password is sent a link, and does not learn whether the address is known", async () => {
  await ada.button("Account: Ada").click();
  await ada.page.getByRole("menuitem", { name: "Sign out" }).click();
  await ada.link("Forgot your password?").waitFor();
  for (const email of [address, newAddress()]) {
    await ada.go("/sign-in");
    await ada.link("Forgot your password?").click();
    await ada.field("Email").fill(email);
    await ada.button("Send link").click();
    await ada.page.getByText(`If an account has the address ${email}, a link`).waitFor();
  }
});

it("the browser logs no errors or warnings", () => {
  expect([...ada.complaints, ...bo.complaints]).toEqual([]);
});
