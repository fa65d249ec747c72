/** Quickstarts in a real browser show their own page beside the code: each of two windows what the other does, and a picture where none comes. */
import type { BrowserContextOptions, Frame, Page } from "playwright-core";
import { afterEach, expect, it } from "vitest";
import { type Service, startService } from "../cli/service.ts";
import { preparedState, sharedService } from "../cli/shared-service.ts";
import { Customer } from "../stories/client.ts";
import { expectAccessible } from "./axe.ts";
import { startBoards } from "./boards.ts";
import { openBrowser } from "./browser.ts";
import { complaintsOf } from "./chromium.ts";
import { FRAMES } from "./quickstarts.ts";
import { newAddress } from "./visitor.ts";

const service = await sharedService();
const browser = await openBrowser();
let page: Page;
let complaints: string[];
/** A service of the test itself. */
let own: Service | undefined;

afterEach(async () => {
  await page.context().close();
  await own?.stop();
  own = undefined;
});

async function open(
  name: string,
  options: BrowserContextOptions = {},
  prepare: (page: Page) => Promise<unknown> = async () => {},
  { url } = service as Pick<Service, "url">,
): Promise<void> {
  const context = await browser.newContext({
    extraHTTPHeaders: { "CF-Connecting-IP": newAddress() },
    viewport: { width: 1440, height: 1100 },
    reducedMotion: "reduce",
    ...options,
  });
  page = await context.newPage();
  complaints = complaintsOf(page);
  await prepare(page);
  await page.goto(`${url}/docs/quickstarts/${name}`);
}

/** The frame of a person, once both show. */
async function frameOf(name: string): Promise<Frame> {
  const iframe = page.locator(`.live iframe[title="The page, as ${name} sees it"]`);
  await iframe.waitFor();
  const frame = await (await iframe.elementHandle())?.contentFrame();
  if (frame == null) throw new Error(`${name} has no frame`);
  return frame;
}

const picture = () => page.getByRole("complementary", { name: "Result" }).getByRole("img");

const SCREENS = [
  { width: 1440, height: 1100 },
  { width: 1024, height: 768 },
  { width: 390, height: 844 },
];
/** Two laptop windows stand above each other here, and have the least room. */
const LOW = { width: 1366, height: 768 };

/** The pixels by which the page in the frame exceeds it: where there are any, a classic scrollbar takes its place. */
const excessOf = (frame: Frame) =>
  frame.evaluate(() => {
    const { scrollWidth, scrollHeight } = document.documentElement;
    return { x: scrollWidth - innerWidth, y: scrollHeight - innerHeight };
  });

it.each(Object.entries(FRAMES))("%s: two windows show what the other does, and fit", async (name, play) => {
  await open(name);
  const frames = [await frameOf("Ada"), await frameOf("Bo")] as const;
  await play(...frames);
  expect(await picture().count()).toBe(0);
  await page.getByText("Live: what you do in one window shows in the other.").waitFor();
  expect(complaints).toEqual([]);
  const y = name === "comments" ? expect.any(Number) : 0; // each further comment makes it longer
  for (const screen of SCREENS) {
    await page.setViewportSize(screen);
    for (const frame of frames) await expect.poll(() => excessOf(frame)).toEqual({ x: 0, y });
  }
});

it("a cursor at the edge of its page makes no page longer", async () => {
  await open("cursors");
  const frames = [await frameOf("Ada"), await frameOf("Bo")] as const;
  const [ada, bo] = frames;
  const [x, y] = await ada.evaluate(() => [innerWidth - 20, innerHeight - 20] as const);
  await ada.locator("html").hover({ position: { x, y } });
  await bo.locator(".cursor", { hasText: "Ada" }).waitFor();
  for (const screen of [LOW, ...SCREENS]) {
    await page.setViewportSize(screen);
    for (const frame of frames) await expect.poll(() => excessOf(frame)).toEqual({ x: 0, y: 0 });
  }
});

it("can be read by everyone, and left by keyboard", async () => {
  await open("list");
  const ada = await frameOf("Ada");
  await expectAccessible(page);
  await ada.getByRole("button", { name: "Add" }).focus();
  const download = page.getByRole("link", { name: "Download the finished folder" });
  const isReached = () => download.evaluate((link) => link === document.activeElement);
  for (let presses = 0; presses < 10 && !(await isReached()); presses += 1) await page.keyboard.press("Tab");
  expect(await isReached()).toBe(true);
});

it("has the theme that the reader has chosen", async () => {
  await open("list");
  const ada = await frameOf("Ada");
  const ground = () => ada.evaluate(() => getComputedStyle(document.documentElement).colorScheme);
  expect(await ground()).toBe("light dark");
  await page.getByRole("button", { name: "Theme: system" }).click();
  await page.getByRole("button", { name: "Theme: light" }).click();
  await expect.poll(ground).toBe("dark");
  await ada.goto(ada.url());
  await expect.poll(ground).toBe("dark");
});

it("comes only when it is near", async () => {
  await open("list#3-see-it", { viewport: { width: 360, height: 740 } });
  await page.waitForLoadState("networkidle");
  expect(await page.locator("iframe").count()).toBe(0);
  await page.locator(".result").scrollIntoViewIfNeeded();
  await frameOf("Ada");
});

it("moves no text when it comes, and gives each visit a room of its own", async () => {
  const rooms = new Set<string | null>();
  for (const viewport of [
    { width: 1440, height: 900 },
    { width: 360, height: 740 },
  ]) {
    let show = () => {};
    const held = new Promise<void>((resolve) => {
      show = resolve;
    });
    await open("list", { viewport }, (to) =>
      to.route("**/docs/live/**", async (route) => {
        await held;
        await route.continue();
      }),
    );
    const heading = page.getByRole("heading", { name: "What you need" });
    await page.locator("iframe").waitFor({ state: "attached" });
    const before = await heading.boundingBox();
    show();
    const ada = await frameOf("Ada");
    expect(await heading.boundingBox()).toEqual(before);
    expect(await ada.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
    expect(await ada.getByRole("listitem").count()).toBe(0);
    await ada.getByLabel("New item").fill("Tea");
    await ada.getByRole("button", { name: "Add" }).click();
    await (await frameOf("Bo")).getByText("Tea").waitFor();
    rooms.add(new URL(ada.url()).searchParams.get("room"));
    await page.context().close();
  }
  expect(rooms.size).toBe(2);
});

it("opens other windows when the room of these has ended", async () => {
  own = await startBoards();
  await open("list", {}, undefined, own);
  const room = new URL((await frameOf("Ada")).url()).searchParams.get("room");
  const customer = new Customer(own, own);
  const found = await customer.send<{ room: { id: string } }>("GET", `/rooms/custom/demo:quickstart:${room}`);
  await customer.send("DELETE", `/rooms/${found.data.room.id}`);
  await page.locator(`iframe[src*="${room}"]`).first().waitFor({ state: "detached" });
  const [ada, bo] = [await frameOf("Ada"), await frameOf("Bo")];
  await ada.getByLabel("New item").fill("Tea");
  await ada.getByRole("button", { name: "Add" }).click();
  await bo.getByText("Tea").waitFor();
});

it("keeps the picture where no one is let in, and without a script", async () => {
  await open("cursors", {}, (to) =>
    to.route("**/demo/readers*", (route) => route.fulfill({ status: 429, json: { data: null } })),
  );
  await page.locator(".result:not([data-live])").waitFor();
  await picture().waitFor();
  expect(await page.locator("iframe").count()).toBe(0);
  await page.context().close();
  await open("cursors", { javaScriptEnabled: false });
  const heights = [picture(), page.locator(".result")].map(async (one) => (await one.boundingBox())?.height);
  const [own, room] = await Promise.all(heights);
  expect(room).toBe(own);
});

it("keeps the picture where a window says nothing", async () => {
  await open("cursors", {}, async (to) => {
    await to.clock.install();
    await to.route("**/docs/live/**", (route) => route.fulfill({ contentType: "text/html", body: "" }));
  });
  await page.clock.runFor(1_000);
  await page.locator("iframe").waitFor({ state: "attached" });
  await page.clock.runFor(20_000);
  await page.locator(".result:not([data-live])").waitFor();
  expect(await page.locator("iframe").count()).toBe(0);
});

it("keeps the picture where the service has no demo", async () => {
  own = await startService({
    preparedState: await preparedState(),
    settings: { ATRIUM_DEMO_ACCOUNT_ID: "" },
  });
  const requested: string[] = [];
  const note = async (to: Page) => void to.on("request", (request) => requested.push(request.url()));
  await open("cursors", {}, note, own);
  await page.waitForLoadState("networkidle");
  await picture().waitFor();
  expect(requested.filter((url) => /live|demo/.test(url))).toEqual([]);
  expect(complaints).toEqual([]);
});
