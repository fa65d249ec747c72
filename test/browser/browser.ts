/** A browser of one test file. */
import type { Browser } from "playwright-core";
import { afterAll } from "vitest";
import { launchChromium } from "./chromium.ts";

/** Launches Chromium until the tests of the file are over. */
export async function openBrowser(): Promise<Browser> {
  const browser = await launchChromium();
  afterAll(() => browser.close());
  return browser;
}
