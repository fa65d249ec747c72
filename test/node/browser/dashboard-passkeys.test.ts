/** Passkeys in the dashboard, with an authenticator of Chromium's own: adding, signing in, renaming, removing. */

import type { CDPSession } from "playwright-core";
import { expect, it } from "vitest";
import { sharedService } from "../cli/shared-service.ts";
import { expectAccessible } from "./axe.ts";
import { openBrowser } from "./browser.ts";
import { Desk, newAddress, PASSWORD } from "./dashboard.ts";

const service = await sharedService();
const browser = await openBrowser();
const email = newAddress();
const desk = await Desk.signedUp(browser, service.url, { email });

/** The device of the person: it keeps passkeys, and is unlocked by itself until it is locked. */
class Device {
  readonly #session: CDPSession;
  readonly #id: string;

  private constructor(session: CDPSession, id: string) {
    this.#session = session;
    this.#id = id;
  }

  static async of({ page }: Desk): Promise<Device> {
    const session = await page.context().newCDPSession(page);
    await session.send("WebAuthn.enable");
    const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        ...{ protocol: "ctap2", transport: "internal", automaticPresenceSimulation: true },
        ...{ hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
      },
    });
    return new Device(session, authenticatorId);
  }

  /** Locked, it refuses all that is asked: to the page, this is the person's cancel. */
  setLocked = (isLocked: boolean) =>
    this.#session.send("WebAuthn.setUserVerified", {
      authenticatorId: this.#id,
      isUserVerified: !isLocked,
    });

  async countPasskeys(): Promise<number> {
    const keys = await this.#session.send("WebAuthn.getCredentials", { authenticatorId: this.#id });
    return keys.credentials.length;
  }
}

const device = await Device.of(desk);

/** Adds a passkey with the name Laptop. */
async function add(to: Desk): Promise<void> {
  await to.enter("/settings/sign-in");
  await to.page.getByText("No passkeys yet. You can have 20.").waitFor();
  await to.button("Add a passkey").click();
  await to.dialog().getByLabel("Name").fill("Laptop");
  await to.dialog().getByLabel("Your password").fill(PASSWORD);
  await to.dialog().getByRole("button", { name: "Continue" }).click();
  await to.toast("Passkey added").waitFor();
  await to.row("Laptop").getByText("never").waitFor();
}

const signOut = async ({ page }: Desk) => {
  await page.evaluate(() => fetch("/dashboard/api/sign-out", { method: "POST" }));
};

/** The device answers an offer at once, as a person does who chooses it. */
const withoutOffers = ({ page }: Desk) =>
  page.addInitScript(() => {
    PublicKeyCredential.isConditionalMediationAvailable = () => Promise.resolve(false);
  });

it("a person adds a passkey, signs in by it, renames it, and is refused once it is removed", async () => {
  await withoutOffers(desk);
  await add(desk);
  expect(await device.countPasskeys()).toBe(1);

  await signOut(desk);
  await device.setLocked(true);
  await desk.go("/sign-in?next=/dashboard/SOMEWHERE");
  await desk.button("Sign in with a passkey").click();
  await desk.page.locator("button[aria-disabled]", { hasText: "passkey" }).waitFor({ state: "detached" });
  // A cancel is no error.
  expect(await desk.page.getByRole("alert").count()).toBe(0);
  await device.setLocked(false);
  await desk.button("Sign in with a passkey").click();
  await desk.heading("Not found").waitFor();

  await desk.enter("/settings/sign-in");
  await desk.button("Rename Laptop").click();
  await desk.dialog().getByLabel("Name").fill("Old laptop");
  await desk.dialog().getByRole("button", { name: "Rename" }).click();
  await desk.toast("Passkey renamed").waitFor();
  expect(await desk.row("Old laptop").getByText("never").count()).toBe(0);
  await expectAccessible(desk.page);

  await desk.button("Remove Old laptop").click();
  await desk.page.getByRole("alertdialog").getByRole("button", { name: "Remove passkey" }).click();
  await desk.toast("Passkey removed").waitFor();
  await desk.page.getByText("No passkeys yet.").waitFor();
  await signOut(desk);
  await desk.go("/sign-in");
  await desk.button("Sign in with a passkey").click();
  await desk.page.getByText("This passkey does not sign anyone in").first().waitFor();
  expect(desk.complaints).toEqual([]);
});

it("the browser offers a passkey beside the field for the address", async () => {
  const offered = await Desk.signedUp(browser, service.url);
  await Device.of(offered);
  await add(offered);
  await signOut(offered);
  await offered.go("/sign-in");
  await offered.heading("Overview").waitFor();
  expect(offered.complaints).toEqual([]);
});

it("a wrong password is refused beside its field, and a cancel quietly", async () => {
  const other = await Desk.signedUp(browser, service.url);
  const locked = await Device.of(other);
  await locked.setLocked(true);
  await other.enter("/settings/sign-in");
  await other.button("Add a passkey").click();
  const dialog = other.dialog();
  await dialog.getByLabel("Name").fill("Laptop");
  await dialog.getByLabel("Your password").fill("a wrong password");
  await dialog.getByRole("button", { name: "Continue" }).click();
  await dialog.getByText("this is not your password").waitFor();
  await dialog.getByLabel("Your password").fill(PASSWORD);
  await dialog.getByRole("button", { name: "Continue" }).click();
  await dialog.waitFor({ state: "detached" });
  await other.page.getByText("No passkeys yet.").waitFor();
  expect(await other.page.locator(".toast").count()).toBe(0);
  expect(other.complaints).toEqual([]);
});

it("a browser without passkeys says so", async () => {
  const old = await Desk.signedUp(browser, service.url);
  await old.page.addInitScript(() => Reflect.deleteProperty(window, "PublicKeyCredential"));
  await old.enter("/settings/sign-in");
  await old.page.getByText("This browser has no passkeys for this page").waitFor();
  expect(await old.button("Add a passkey").count()).toBe(0);
  await signOut(old);
  await old.go("/sign-in");
  await old.button("Sign in with a passkey").click();
  await old.page.getByText("This browser has no passkeys for this page").waitFor();
});
