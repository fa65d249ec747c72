/** The documentation page in a real browser: it asks nobody but its own service, and works on any screen. */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type SharedService, useSharedService } from "../node/shared-service.ts";
import { launchChromium } from "./chromium.ts";

let service: SharedService;
let browser: Browser;
let page: Page;
let complaints: string[];
let requested: string[];

beforeAll(async () => {
  service = await useSharedService();
  browser = await launchChromium();
});
afterEach(() => page?.close());
afterAll(async () => {
  await browser?.close();
});

async function open(width: number, height: number, colorScheme: "light" | "dark"): Promise<void> {
  page = await browser.newPage({ viewport: { width, height }, colorScheme, reducedMotion: "reduce" });
  complaints = [];
  requested = [];
  // Violations of the Content-Security-Policy are told on the console, too.
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => requested.push(request.url()));
  await page.goto(`${service.url}/docs`);
}

const screens = [
  [1440, 900, "light"],
  [1440, 900, "dark"],
  [360, 740, "light"],
  [360, 740, "dark"],
] as const;

describe.each(screens)("the documentation on a screen of %i × %i, %s", (width, height, colorScheme) => {
  it("loads without a complaint, and nothing but itself", async () => {
    await open(width, height, colorScheme);
    expect(await page.title()).toBe("Atrium API");
    expect(complaints).toEqual([]);
    const network = requested.filter((url) => !url.startsWith("data:"));
    expect(network).toEqual([`${service.url}/docs`]);
  });

  it("fits its width: what is wider scrolls in a box of its own", async () => {
    await open(width, height, colorScheme);
    const excess = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect(excess).toBeLessThanOrEqual(0);
    const boxes = await page.locator(".scroll, pre").evaluateAll((all) => all.map((one) => one.clientWidth));
    expect(Math.max(...boxes)).toBeLessThan(width);
  });

  it("is styled, and readable: text stands out from its ground", async () => {
    await open(width, height, colorScheme);
    const contrasts = await page.evaluate(contrastsOfPage);
    expect(contrasts.length).toBeGreaterThan(10);
    expect(contrasts.filter(({ ratio }) => ratio < 4.5)).toEqual([]);
  });
});

describe("a reader of the documentation", () => {
  it("gets from the table of contents to an operation", async () => {
    await open(1440, 900, "light");
    await page.getByRole("navigation").getByRole("link", { name: "Create a room" }).click();
    expect(new URL(page.url()).hash).toBe("#operation-createRoom");
    const heading = page.getByRole("heading", { name: "Create a room", exact: true });
    expect((await heading.boundingBox())?.y).toBeLessThan(200);
    const contents = await page.getByRole("navigation").boundingBox();
    expect(contents?.y).toBeGreaterThanOrEqual(0);
  });

  it("gets from an operation to the schema of its answer", async () => {
    await open(360, 740, "light");
    await page.locator("#operation-getRoom").getByRole("link", { name: "Room", exact: true }).first().click();
    expect(new URL(page.url()).hash).toBe("#schema-Room");
  });

  it("can skip the table of contents, and sees where the keyboard is", async () => {
    await open(1440, 900, "light");
    await page.keyboard.press("Tab");
    const focused = page.locator(":focus");
    expect(await focused.textContent()).toBe("Skip to the content");
    expect((await focused.boundingBox())?.x).toBeGreaterThanOrEqual(0);
    expect(await focused.evaluate((one) => getComputedStyle(one).outlineStyle)).toBe("solid");
    await page.keyboard.press("Enter");
    expect(new URL(page.url()).hash).toBe("#content");
  });

  it("hears landmarks, headings that skip no level, and tables whose headers say what they head", async () => {
    await open(1440, 900, "light");
    for (const landmark of ["navigation", "main"] as const) {
      expect(await page.getByRole(landmark).count()).toBe(1);
    }
    const levels = await page
      .locator("h1, h2, h3, h4")
      .evaluateAll((all) => all.map((one) => Number(one.tagName[1])));
    expect(levels[0]).toBe(1);
    levels.forEach((level, index) => {
      expect(level - (levels[index - 1] ?? 0)).toBeLessThanOrEqual(1);
    });
    expect(await page.locator("th").count()).toBe(await page.locator("th[scope]").count());
    expect(await page.locator("table:not(:has(thead th))").count()).toBe(0);
  });
});

/** Runs in the page: how each kind of text stands out from what is behind it, as WCAG counts it. */
function contrastsOfPage(): { what: string; ratio: number }[] {
  const luminance = (color: string): number => {
    const channels = (color.match(/[\d.]+/g) ?? []).slice(0, 3).map((channel) => Number(channel) / 255);
    const [red = 0, green = 0, blue = 0] = channels.map((channel) =>
      channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const groundOf = (element: Element | null): string => {
    if (element === null) return "rgb(255, 255, 255)";
    const color = getComputedStyle(element).backgroundColor;
    return color === "rgba(0, 0, 0, 0)" ? groundOf(element.parentElement) : color;
  };
  const seen = new Map<string, number>();
  for (const element of document.querySelectorAll("body *")) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent?.trim());
    if (!hasText) continue;
    const lights = [luminance(getComputedStyle(element).color), luminance(groundOf(element))];
    const ratio = (Math.max(...lights) + 0.05) / (Math.min(...lights) + 0.05);
    const what = `${element.tagName}.${element.className}`;
    seen.set(what, Math.min(ratio, seen.get(what) ?? ratio));
  }
  return [...seen].map(([what, ratio]) => ({ what, ratio }));
}
