/** Starts Debian's Chromium for the tests. */
import { type Browser, chromium } from "playwright-core";

const EXECUTABLE = process.env.CHROMIUM_PATH ?? "/usr/bin/chromium";
const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

export const launchChromium = (): Promise<Browser> =>
  chromium.launch({ executablePath: EXECUTABLE, args: ARGUMENTS });
