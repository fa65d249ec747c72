/** The browser of a test file, and a person who uses the dashboard in it. */
import type { Browser } from "playwright-core";
import { afterAll, expect } from "vitest";
import { type SharedService, sharedService } from "../cli/shared-service.ts";
import { launchChromium } from "./chromium.ts";
import { Desk, type SignUp } from "./dashboard.ts";

/** Launches Chromium until the tests of the file are over. */
export async function openBrowser(): Promise<Browser> {
  const browser = await launchChromium();
  afterAll(() => browser.close());
  return browser;
}

/** Signs a person up. In the end, their browser must have logged no errors or warnings. */
export async function openDesk(
  signUp?: Partial<SignUp>,
): Promise<{ readonly service: SharedService; readonly browser: Browser; readonly desk: Desk }> {
  const service = await sharedService();
  const browser = await openBrowser();
  const desk = await Desk.signedUp(browser, service.url, signUp);
  afterAll(() => expect(desk.complaints).toEqual([]));
  return { service, browser, desk };
}
