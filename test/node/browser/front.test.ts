/** The front page in a real browser: what is dragged in one window moves in the other, and a picture stays where no board comes. */
import { PERSON_COLORS } from "@atrium/contract/person-colors.ts";
import type { BrowserContextOptions, Frame, Page } from "playwright-core";
import { afterEach, expect, it } from "vitest";
import { eventually } from "../cli/processes.ts";
import { sharedService } from "../cli/shared-service.ts";
import { expectAccessible } from "./axe.ts";
import { openBrowser } from "./browser.ts";
import { complaintsOf } from "./chromium.ts";
import { newAddress } from "./visitor.ts";

const service = await sharedService();
const browser = await openBrowser();
let page: Page;
let complaints: string[];

afterEach(() => page.context().close());

async function open(options: BrowserContextOptions = {}, prepare = async (_: Page) => {}): Promise<void> {
  const context = await browser.newContext({
    extraHTTPHeaders: { "CF-Connecting-IP": newAddress() },
    viewport: { width: 1280, height: 800 },
    ...options,
  });
  page = await context.newPage();
  complaints = complaintsOf(page);
  await prepare(page);
  await page.goto(service.url);
}

/** The frame of a window, once it shows the board. */
async function windowOf(name: string): Promise<Frame> {
  const iframe = page.locator(`section.live[aria-label="${name}'s window"] iframe`);
  await iframe.waitFor();
  const frame = await (await iframe.elementHandle())?.contentFrame();
  if (frame == null) throw new Error(`${name}'s window has no frame`);
  return frame;
}

const welcome = (frame: Frame) => frame.locator('article[aria-label^="Note: Welcome!"]');
const placeOf = (frame: Frame) => welcome(frame).evaluate((note) => note.style.transform);

const zoomOf = (frame: Frame) =>
  frame.locator("main").evaluate((main) => Number(main.style.getPropertyValue("--zoom")));

it("shows one board to two visitors: a note that one drags moves for the other, and a reload keeps it all", async () => {
  await open({ reducedMotion: "reduce" });
  const [ada, bo] = [await windowOf("Ada"), await windowOf("Bo")];
  const before = await placeOf(bo);
  const { x = 0, y = 0 } = (await welcome(ada).locator(".paper").boundingBox()) ?? {};
  await page.mouse.move(x + 5, y + 5);
  await ada.locator("main").hover({ position: { x: 20, y: 20 } });
  await bo.locator(".atrium-cursor", { hasText: "Ada" }).waitFor();
  await page.mouse.move(x + 5, y + 5);
  await page.mouse.down();
  await page.mouse.move(x - 40, y + 60, { steps: 8 });
  await page.mouse.up();
  await eventually("the note has moved for Bo", async () => (await placeOf(bo)) !== before);
  const after = await placeOf(ada);
  await eventually("the note is where Ada put it", async () => (await placeOf(bo)) === after);
  await page.reload();
  expect(await placeOf(await windowOf("Bo"))).toBe(after);
  const link = await page.getByRole("link", { name: "Open the board" }).getAttribute("href");
  await page.goto(service.url + link);
  await eventually(
    "the board is the same in a window of its own",
    async () => (await placeOf(page.mainFrame())) === after,
  );
  expect(complaints).toEqual([]);
});

it("has helpers in one window, whom both show, and can be read by everyone", async () => {
  await open();
  for (const name of ["Ada", "Bo"])
    await (await windowOf(name)).locator(".atrium-cursor", { hasText: "Helper" }).nth(1).waitFor();
  const ada = await windowOf("Ada");
  expect(await zoomOf(ada)).toBeGreaterThanOrEqual(0.75); // below, its text is hard to read
  await eventually("a helper who writes is named once", () =>
    ada.evaluate(() => {
      const [flag] = document.querySelectorAll(".flag");
      const labels = [...document.querySelectorAll<HTMLElement>(".atrium-cursor span")];
      const own = labels.find((label) => flag?.textContent?.startsWith(label.textContent ?? ""));
      return own?.hidden === true;
    }),
  );
  await expectAccessible(page);
  expect(complaints).toEqual([]);
});

it("gives each window the color of its title, whichever comes first", async () => {
  await open({ reducedMotion: "reduce" }, async (to) => {
    await to.route(`${service.url}/`, async (route) => {
      const response = await route.fetch();
      const seats: Record<string, string> = { first: "second", second: "first" };
      const body = (await response.text()).replace(
        /data-seat="(\w+)"/g,
        (_, seat) => `data-seat="${seats[seat]}"`,
      );
      await route.fulfill({ response, body });
    });
  });
  for (const [index, name] of ["Bo", "Ada"].entries()) {
    const main = (await windowOf(name)).locator("main");
    const color = () => main.evaluate((board) => board.style.getPropertyValue("--own"));
    await expect.poll(color).toBe(PERSON_COLORS[index]);
  }
});

it("keeps the picture, and forgets the board, where a window fails", async () => {
  await open({ reducedMotion: "reduce" }, async (to) => {
    await to.route("**/assets/demo/framed-*.js", (route) => route.abort());
  });
  const iframe = page.locator("iframe").first();
  await iframe.contentFrame().getByText("This board could not be shown.").waitFor({ state: "attached" });
  await expect.poll(() => page.evaluate(() => sessionStorage.getItem("front-board"))).toBe(null);
  expect(await page.locator(".live").count()).toBe(0);
});

it("has one window on a phone", async () => {
  await open({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  expect(await zoomOf(await windowOf("Ada"))).toBeGreaterThanOrEqual(0.75);
  await page.getByRole("link", { name: "Dashboard" }).last().waitFor();
  expect(await page.locator("iframe").count()).toBe(1);
});

it("keeps the picture of the board where no visitor is let in, and without a script", async () => {
  await open({}, async (to) => {
    await to.route("**/demo/visitors*", (route) => route.fulfill({ status: 429, json: REFUSED }));
  });
  await page.locator("iframe").waitFor({ state: "attached" });
  await page.locator(".view").first().getByText("Welcome!").waitFor();
  expect(await page.locator(".live").count()).toBe(0);
  await page.context().close();
  await open({ javaScriptEnabled: false });
  await page.locator(".view").first().getByText("Welcome!").waitFor();
  await page.getByRole("link", { name: "Open the board" }).click();
  await page.waitForURL(`${service.url}/demo`);
});

it("gives the people of its windows the colors of their titles, whatever one has chosen on a board", async () => {
  await open({ reducedMotion: "reduce" });
  await page.goto(`${service.url}/demo?name=Cleo`);
  await page.getByRole("button", { name: "Cleo (you)" }).click();
  await page.getByRole("radio", { name: "Color 3" }).check();
  await page.goto(service.url);
  for (const name of ["Ada", "Bo"]) {
    const title = page.locator(`section[aria-label="${name}'s window"] circle`);
    const main = (await windowOf(name)).locator("main");
    const own = () => main.evaluate((board) => board.style.getPropertyValue("--own"));
    await expect.poll(own).toBe(await title.getAttribute("fill"));
  }
});

const REFUSED = {
  data: null,
  error: { code: "RATE_LIMITED", module: "Server", message: "Too many new visitors" },
  requestId: "request",
};
