/** The documentation in a real browser: it loads only from the service, and works on any screen and by keyboard. */
import { gzipSync } from "node:zlib";
import type { Locator, Page } from "playwright-core";
import { afterEach, describe, expect, it } from "vitest";
import { sharedService } from "../cli/shared-service.ts";
import { expectAccessible, findingsOf } from "./axe.ts";
import { openBrowser } from "./browser.ts";
import { pressInComposition } from "./chromium.ts";

let page: Page;
let complaints: string[];
let requested: string[];

const service = await sharedService();
const browser = await openBrowser();

afterEach(() => page?.close());

interface Screen {
  readonly width: number;
  readonly height: number;
  readonly colorScheme: "light" | "dark";
}

const WIDE: Screen = { width: 1440, height: 900, colorScheme: "light" };
const PHONE: Screen = { width: 360, height: 740, colorScheme: "light" };

async function open(path: string, { width, height, colorScheme }: Screen = WIDE): Promise<void> {
  page = await browser.newPage({ viewport: { width, height }, colorScheme, reducedMotion: "reduce" });
  complaints = [];
  requested = [];
  // The console also reports violations of the Content-Security-Policy.
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    if (request.frame() === page.mainFrame()) requested.push(request.url());
  });
  await page.goto(`${service.url}${path}`);
}

/** Opens the palette, and types into it; returns the results. */
async function search(words: string): Promise<Locator> {
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByRole("searchbox").fill(words);
  return page.getByRole("region", { name: "Results" });
}

const paths = [
  "/docs",
  "/docs/guides/workflows",
  "/docs/quickstarts/cursors",
  "/docs/quickstarts/cursors-javascript",
  "/docs/reference",
  "/docs/reference/createRoom",
];

describe.each(paths)("%s", (path) => {
  it("loads without errors and only from the service, fits each screen, and can be read by everyone", async () => {
    await open(path);
    await expectAccessible(page, async (width) => {
      const boxes = page.locator(".scroll, pre").evaluateAll((all) => all.map((one) => one.clientWidth));
      expect(Math.max(0, ...(await boxes))).toBeLessThan(width);
      const scrolling = page
        .locator(".scroll:has(.records)")
        .evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).length);
      expect(await scrolling).toBe(0);
      const broken = page
        .locator(":is(th, td) > code")
        .evaluateAll((all) =>
          all
            .filter((one) => one.getClientRects().length > 1 && !/[ -]/.test(one.textContent))
            .map((one) => one.textContent),
        );
      expect([width, await broken]).toEqual([width, []]);
    });
    expect(complaints).toEqual([]);
    const own = ["/docs", "/assets/docs/", "/assets/style/"].map((start) => service.url + start);
    expect(requested.filter((url) => !own.some((start) => url.startsWith(start)))).toEqual([]);
    for (const landmark of ["main", "search"] as const) {
      expect([landmark, await page.getByRole(landmark).count()]).toEqual([landmark, 1]);
    }
    const contents = page.getByRole("navigation", { name: "Contents", includeHidden: true });
    expect(await contents.count()).toBe(1);
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

it("each page that the documentation lists passes axe on a phone", { timeout: 600_000 }, async () => {
  await open("/docs", PHONE);
  const bar = page.getByRole("banner");
  expect(await bar.evaluate((one) => one.clientHeight)).toBeLessThan(60);
  await bar.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("navigation", { name: "Contents" }).waitFor();
  const contents = page.getByRole("navigation", { name: "Contents" });
  expect(await contents.locator("a[href='']").count()).toBe(0);
  const links = contents.locator("a[href^='/docs/']:not([href*='#'])");
  const listed = await links.evaluateAll((all) => all.map((one) => one.getAttribute("href") ?? ""));
  expect(listed.length).toBeGreaterThan(25);
  for (const path of new Set(listed)) {
    await page.goto(`${service.url}${path}`);
    // Around its content, each page is as those above.
    expect([path, await findingsOf(page, { within: "main" })]).toEqual([path, []]);
    expect([path, await page.locator("h1").count()]).toEqual([path, 1]);
  }
  expect(complaints).toEqual([]);
});

describe("a reader of the API reference", () => {
  it("navigates from the contents to an operation, and to the schema of its response", async () => {
    await open("/docs/reference");
    expect(await page.title()).toBe("Atrium API");
    const contents = page.getByRole("navigation", { name: "Contents" });
    await contents.getByText("Rooms", { exact: true }).click();
    await contents.getByRole("link", { name: "Create a room" }).click();
    await page.waitForURL("**/docs/reference/createRoom");
    await page.getByRole("heading", { name: "Create a room", exact: true, level: 1 }).waitFor();
    expect(await contents.getByRole("link", { name: "Create a room" }).getAttribute("aria-current")).toBe(
      "page",
    );
    await page.getByRole("main").getByRole("link", { name: "Room", exact: true }).first().click();
    await page.waitForURL("**/docs/reference/schemas/Room");
    expect(complaints).toEqual([]);
  });

  it("tries an operation with a session and with a key, and confirms what changes something", async () => {
    await open("/docs/reference/createRoom");
    await page.evaluate(async () => {
      const ada = { name: "Ada", email: `${crypto.randomUUID()}@example.com`, password: "a long password" };
      await fetch("/dashboard/api/sign-up", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ ...ada, organization: "Acme" }),
      });
    });
    const sent = () => requested.filter((url) => url.includes("/v1/"));
    await page.getByText("Try it").click();
    await page.getByRole("option", { name: "Acme, as Ada" }).waitFor({ state: "attached" });
    await page.getByLabel("Body, as JSON").fill('{ "name": "Tried" }');
    await page.getByRole("button", { name: "Send POST" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(sent()).toEqual([]);
    const send = async () => {
      await page.getByRole("button", { name: "Send POST" }).focus();
      await page.keyboard.press("Enter");
      await page.getByRole("dialog").getByRole("button", { name: "Send POST" }).click();
    };
    await send();
    await page.getByText(/^Status 201 /).waitFor();
    await page.locator("figure", { hasText: '"name": "Tried"' }).first().waitFor();

    await page.getByLabel("Credential").selectOption("An API key");
    await page.getByLabel("Account ID").fill(service.accountId);
    await page.getByLabel("API key", { exact: true }).fill("none of ours");
    await send();
    await page.getByText(/^Status 401 /).waitFor();
    await page.getByLabel("API key", { exact: true }).fill(service.apiKey);
    await send();
    await page.getByText(/^Status 201 /).waitFor();
    const request = page.locator("figure", { hasText: `POST /v1/accounts/${service.accountId}/rooms` });
    expect(await request.textContent()).toContain("Authorization: Bearer …");
    expect(sent()).toHaveLength(3);
    expect(requested.filter((url) => !url.startsWith(service.url))).toEqual([]);
  });
});

describe("a reader of the guides", () => {
  it("can skip the navigation, and sees the focus", async () => {
    await open("/docs");
    await page.keyboard.press("Tab");
    const skip = page.locator(":focus", { hasText: "Skip to the content" });
    await skip.waitFor();
    await expect.poll(async () => (await skip.boundingBox())?.x).toBeGreaterThanOrEqual(0);
    expect(await skip.evaluate((one) => getComputedStyle(one).outlineStyle)).toBe("solid");
    await page.keyboard.press("Enter");
    await page.waitForURL("**#content");
  });

  it("finds a section through the search, by keyboard", async () => {
    await open("/docs");
    await page.keyboard.press("/");
    await page.getByRole("dialog", { name: "Search" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("searchbox").waitFor({ state: "hidden" });
    await page.keyboard.press("Control+k");
    await page.locator("[type=search]:focus").waitFor();
    await page.keyboard.type("zeppelin");
    await page.getByText("Nothing found").waitFor();
    await page.getByRole("searchbox").fill("overwrites");
    await page.getByRole("link", { name: "Avoiding overwrites" }).waitFor();
    await pressInComposition(page.getByRole("searchbox"), "Enter");
    await page.getByRole("link", { name: "Avoiding overwrites" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/docs");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/docs/guides/stores#avoiding-overwrites");
    expect(complaints).toEqual([]);
  });

  it("sees what the search found by its kind, in a palette that everyone can use", async () => {
    await open("/docs/guides/stores", PHONE);
    const results = await search("rate limited");
    await results
      .getByRole("list", { name: "Errors and settings" })
      .getByRole("link", { name: "RATE_LIMITED" })
      .waitFor();
    await results.getByRole("list", { name: "Guides" }).getByRole("link").first().waitFor();
    await results.getByRole("list", { name: "Decisions" }).getByRole("link").first().waitFor();
    await expectAccessible(page);
  });

  it.each(["/docs", "/docs/guides/stores"])("loads 37 KiB for %s, pictures excepted", async (path) => {
    await open("/docs/reference/createRoom");
    await page.locator("pre .hljs-attr:visible").first().waitFor();
    expect(requested.filter((url) => /highlight-/.test(url))).toHaveLength(1);
    await page.close();
    await open(path);
    await page.waitForLoadState("networkidle");
    const files = requested.filter((url) => !/\.(png|webp)$/.test(url));
    const sizes = files.map(async (url) => {
      const content = Buffer.from(await (await fetch(url)).arrayBuffer());
      return url.endsWith(".woff2") ? content.length : gzipSync(content).length;
    });
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    expect([bytes < 37 * 1024, files]).toEqual([true, files]);
  });

  it("chooses a quickstart on the home by its picture, and its framework on its page", async () => {
    await open("/docs");
    const cards = page.getByRole("main").getByRole("list").first();
    expect(await cards.getByRole("listitem").count()).toBe(6);
    expect(await page.locator("main li:not(:has(> a:first-child))").count()).toBe(0);
    const pictures = cards.locator("img");
    for (const picture of await pictures.all()) {
      await picture.scrollIntoViewIfNeeded();
      await expect.poll(() => picture.evaluate((one: HTMLImageElement) => one.naturalWidth)).toBe(1060);
    }
    await cards.getByRole("link", { name: "Cursors in a React app" }).click();
    await page.getByRole("main").getByRole("link", { name: "Plain JavaScript" }).click();
    await page.waitForURL("**/docs/quickstarts/cursors-javascript");
    const result = page.getByRole("complementary", { name: "Result" });
    await page.mouse.wheel(0, 1500);
    await expect.poll(() => page.evaluate(() => scrollY)).toBeGreaterThan(1000);
    expect((await result.locator(".result").boundingBox())?.y).toBeGreaterThan(0);
    const files = page.getByRole("group", { name: "Files" });
    await files.getByRole("button", { name: "cursors.css" }).click();
    await page.locator("pre", { hasText: "pointer-events: none" }).waitFor();
    await page.locator("pre", { hasText: '"private": true' }).waitFor({ state: "hidden" });
    await page.locator("pre", { hasText: `ATRIUM_URL=${service.url}` }).waitFor();
    const download = page.waitForEvent("download");
    await result.getByRole("link", { name: "Download the finished folder" }).click();
    expect((await download).suggestedFilename()).toBe("cursors-javascript.tgz");
    expect(complaints).toEqual([]);
  });

  it("finds an operation of the API by its path", async () => {
    await open("/docs/guides/files", PHONE);
    const results = await search("delete /upload");
    await results.getByRole("list", { name: "API" }).getByRole("link", { name: "Delete a file" }).click();
    await page.waitForURL("**/docs/reference/deleteFile");
  });

  it("chooses a language once for all samples and pages", async () => {
    await open("/docs/guides/stores");
    const put = page.locator("pre", { hasText: "curl -s -X PUT" });
    const set = page.locator("pre", { hasText: "await atrium.stores.set" });
    await put.waitFor();
    await set.waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "TypeScript" }).click();
    await set.waitFor();
    await put.waitFor({ state: "hidden" });
    await page.goto(`${service.url}/docs/guides/comments`);
    await page.locator("pre", { hasText: "await atrium.comments.create" }).waitFor();
  });

  it("finds a section by the task that it does, and colors its samples", async () => {
    await open("/docs");
    const results = await search("kick a user");
    await results.getByRole("link", { name: "Remove" }).first().waitFor();
    await results.getByRole("link").first().click();
    await page.waitForURL("**/docs/guides/rooms-and-users#remove-a-user");
    await page.locator("pre .hljs-keyword:visible").first().waitFor();
  });

  it("sees the sections of a page, and goes to the next page", async () => {
    await open("/docs/guides/stores");
    const sections = page.getByRole("navigation", { name: "On this page" });
    await sections.getByRole("link", { name: "Undo and redo" }).click();
    await sections.locator("[aria-current]", { hasText: "Undo and redo" }).waitFor();
    await page.getByRole("navigation", { name: "Neighbouring pages" }).getByText("Documents").click();
    await page.waitForURL("**/docs/guides/documents");
  });

  it("reads code, files and tables that end at one edge, up to their last line", async () => {
    for (const path of ["/docs/quickstarts/cursors", "/docs/guides/webhooks"]) {
      await open(path);
      const rights = await page
        .locator("main :is(.choices, .files, .scroll), main figure:visible:not(.files *)")
        .evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().right)));
      expect([path, new Set(rights).size]).toEqual([path, 1]);
      const cut = page
        .locator("main pre:visible")
        .evaluateAll((all) => all.filter((one) => one.scrollHeight > one.clientHeight).length);
      expect(await cut).toBe(0);
    }
  });

  it("finds the other products in the menu of a phone", async () => {
    await open("/docs/reference", PHONE);
    await page.getByRole("button", { name: "Menu" }).click();
    const contents = page.getByRole("navigation", { name: "Contents" });
    await contents.getByRole("link", { name: "Demo", exact: true }).waitFor();
    await contents.getByRole("link", { name: "Dashboard", exact: true }).click();
    await page.waitForURL("**/dashboard/**");
  });

  it("compares numbers that stand at the right of their column", async () => {
    await open("/docs/guides/stores");
    for (const role of ["columnheader", "cell"] as const) {
      const aligned = page
        .getByRole("row", { name: role === "cell" ? "192 KiB" : "Limit" })
        .getByRole(role)
        .evaluateAll((all) => all.map((one) => getComputedStyle(one).textAlign));
      expect([role, await aligned]).toEqual([role, ["start", "start", "end"]]);
    }
  });

  it("shows the page of a missing address, where the search works", async () => {
    await open("/docs/guides/nothing");
    await page.getByRole("heading", { name: "Page not found" }).waitFor();
    await expectAccessible(page);
    await (await search("overwrites")).getByRole("link", { name: "Avoiding overwrites" }).click();
    await page.waitForURL("**/docs/guides/stores#avoiding-overwrites");
    expect(complaints.filter((one) => !one.includes("404"))).toEqual([]);
  });

  it("chooses a theme for all pages", async () => {
    await open("/docs/guides/stores");
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await background();
    await page.getByRole("button", { name: "Theme: system" }).click();
    await page.getByRole("button", { name: "Theme: light" }).click();
    await page.getByRole("button", { name: "Theme: dark" }).waitFor();
    expect(await background()).not.toBe(light);
    await page.goto(`${service.url}/docs/reference`);
    expect(await background()).not.toBe(light);
  });

  it("learns that a link was made for another version", async () => {
    await open("/docs/guides/stores?v=0.9.0#limits");
    await page.getByText("This link was made for Atrium 0.9.0.").waitFor();
    await page.getByRole("heading", { name: "Limits" }).getByRole("link").click();
    await page.waitForURL(({ search }) => search === "?v=1.0.0");
  });

  it("copies a sample", async () => {
    await open("/docs/guides/deploying");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const sample = page.locator("figure", { hasText: "npm run deploy" });
    await sample.getByRole("button", { name: "Copy" }).click();
    await sample.getByRole("button", { name: "Copied" }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain("npm run deploy");
  });
});
