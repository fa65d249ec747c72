/** Starts Debian's Chromium for the tests: as it is, or as a slow machine with a slow network would run it. */
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from "playwright-core";

export const EXECUTABLE = process.env.CHROMIUM_PATH ?? "/usr/bin/chromium";
/** What Chromium needs wherever tests start it. */
export const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

/** Against hanging, not against being slow: the machine may have other things to do. */
const DEADLINE_MS = 90_000;

/** `SLOW_PAGES=8`: pages compute 8 times slower, and responses take up to 800 ms more, each another time. */
const SLOWNESS = Number(process.env.SLOW_PAGES ?? 1);

export async function launchChromium(): Promise<Browser> {
  const browser = await chromium.launch({ executablePath: EXECUTABLE, args: ARGUMENTS });
  browser.on("context", (context) => {
    context.setDefaultTimeout(DEADLINE_MS);
    if (SLOWNESS > 1) slowDown(context);
  });
  return browser;
}

/** Shows which tests look before the page is ready. */
function slowDown(context: BrowserContext): void {
  const ignore = () => {}; // the page has been closed meanwhile
  context.on("page", (page) => void throttle(page).catch(ignore));
  context
    .route("**/*", async (route) => {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * SLOWNESS * 100));
      await route.continue().catch(ignore);
    })
    .catch(ignore);
}

async function throttle(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: SLOWNESS });
}

/** The errors and warnings of a page from now on, but for those expected; a violated Content-Security-Policy is one. */
export function complaintsOf(page: Page, expected?: RegExp): string[] {
  const complaints: string[] = [];
  page.on("console", (message) => {
    const isGrave = message.type() === "error" || message.type() === "warning";
    if (isGrave && expected?.test(message.text()) !== true) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  return complaints;
}

/** Presses a key that ends a composition: within it, as most browsers do, and behind it with the code 229, as Safari does. */
export const pressInComposition = (field: Locator, key: string): Promise<void> =>
  field.evaluate((element, pressed) => {
    const press = { key: pressed, bubbles: true, cancelable: true };
    element.dispatchEvent(new KeyboardEvent("keydown", { ...press, isComposing: true, keyCode: 229 }));
    element.dispatchEvent(new KeyboardEvent("keydown", { ...press, isComposing: true, keyCode: 13 }));
    element.dispatchEvent(new KeyboardEvent("keydown", { ...press, keyCode: 229 }));
  }, key);
