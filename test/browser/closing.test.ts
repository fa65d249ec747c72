/** Tabs that are closed while someone draws: what was drawn last is not lost. */
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { eventually } from "../node/processes.ts";
import { type SharedService, useSharedService } from "../node/shared-service.ts";
import { BreakableProxy } from "../sdk/proxy.ts";
import { Customer } from "../stories/client.ts";
import { ClientSite } from "./client-site.ts";

const CHROMIUM = process.env.CHROMIUM_PATH ?? "/usr/bin/chromium";
const ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"];

let service: SharedService;
let browser: Browser;
let site: ClientSite;
let proxy: BreakableProxy;
let customer: Customer;
let roomId: string;

beforeAll(async () => {
  service = await useSharedService();
  site = await ClientSite.start();
  proxy = await BreakableProxy.before(service);
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS });
});
afterAll(async () => {
  await browser?.close();
  await proxy?.close();
  await site?.stop();
});
beforeEach(async () => {
  proxy.open();
  customer = new Customer(service, service);
  roomId = (await customer.createRoom()).id;
});

/** A page whose user has joined through the proxy. */
async function open(): Promise<Page> {
  const { token } = await customer.createUser(roomId, "Ada");
  const page = await browser.newPage();
  await page.goto(site.url);
  await page.evaluate(
    async ({ serverUrl, authToken }) => {
      window.client = new window.Client({ serverUrl, authToken, warnBeforeUnload: true });
      await window.client.join();
    },
    { serverUrl: proxy.url, authToken: token },
  );
  return page;
}

/** Draws a stroke of 100 points, one per frame, and a dot in another color. */
const draw = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    const board = window.client.store("board");
    const points: number[] = [];
    for (let point = 0; point < 100; point += 1) {
      points.push(point);
      void board.set("stroke", { points }).catch(() => {});
      await new Promise(requestAnimationFrame);
    }
    void board.set("dot", { color: "red" }).catch(() => {});
  });

async function expectDrawing(): Promise<void> {
  const read = async () => {
    const path = `/rooms/${roomId}/stores/board`;
    return (await customer.send<{ entries: Record<string, { value: unknown }> }>("GET", path)).data.entries;
  };
  await eventually("the drawing to be stored", async () => (await read()).dot !== undefined);
  const { stroke, dot } = await read();
  expect([Object(stroke?.value).points.length, dot?.value]).toEqual([100, { color: "red" }]);
}

it("a tab that is closed right after the last stroke loses nothing", async () => {
  const page = await open();
  await draw(page);
  await page.close();
  await expectDrawing();
});

it("a tab whose connection is stuck sends what is left by a request when it is closed", async () => {
  const page = await open();
  proxy.stall("up");
  await draw(page);
  expect(await page.evaluate(() => window.client.hasUnsyncedChanges)).toBe(true);
  await page.goto("about:blank");
  await expectDrawing();
  await page.close();
});

it("a tab with unsynced changes asks before it is closed, and no longer when they are stored", async () => {
  const page = await open();
  await page.mouse.click(1, 1); // browsers ask only after a gesture
  proxy.shut();
  await draw(page);
  const asked = page.waitForEvent("dialog");
  await page.evaluate(() => void setTimeout(() => location.reload()));
  const dialog = await asked;
  expect(dialog.type()).toBe("beforeunload");
  await dialog.dismiss();
  proxy.open();
  await page.evaluate(() => window.client.flush());
  await page.reload(); // a question would be dismissed, and the page would stay
  await expectDrawing();
  await page.close();
});
