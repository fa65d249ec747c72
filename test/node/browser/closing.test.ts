/** Tabs that are closed while someone draws, with and without a network: what was drawn last is not lost. */
import type { Page } from "playwright-core";
import { afterAll, beforeEach, expect, it } from "vitest";
import { eventually } from "../cli/processes.ts";
import { sharedService } from "../cli/shared-service.ts";
import { BreakableProxy } from "../sdk/proxy.ts";
import { Customer } from "../stories/client.ts";
import { openBrowser } from "./browser.ts";
import { ClientSite } from "./client-site.ts";

let customer: Customer;
let roomId: string;

const service = await sharedService();
const site = await ClientSite.start();
const proxy = await BreakableProxy.before(service);
const browser = await openBrowser();

afterAll(async () => {
  await proxy.close();
  await site.stop();
});
beforeEach(async () => {
  proxy.open();
  customer = new Customer(service, service);
  roomId = (await customer.createRoom()).id;
});

/** A page whose user has joined through the proxy. */
async function open(): Promise<Page> {
  const { token } = await customer.createUser(roomId, "Ada");
  const context = await browser.newContext();
  await context.newPage(); // without another tab, the end of this one would be the end of the whole profile
  const page = await context.newPage();
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
  await page.context().close();
});

it.each([
  ["shows another page", (page: Page) => page.goto("about:blank")],
  ["is closed", (page: Page) => page.close()],
])("a tab whose connection is stuck sends what is left by a request when it %s", async (_, end) => {
  const page = await open();
  proxy.stall("up");
  await draw(page);
  expect(await page.evaluate(() => window.client.hasUnsyncedChanges)).toBe(true);
  await end(page);
  await expectDrawing();
  await page.context().close();
});

it("what a tab has sent and, when it is closed, sends again in that request is done once", async () => {
  const page = await open();
  const versions = async (): Promise<Record<string, number>> => {
    const { data } = await customer.send<{ entries: Record<string, { version: number }> }>(
      "GET",
      `/rooms/${roomId}/stores/board`,
    );
    return Object.fromEntries(Object.entries(data.entries).map(([key, { version }]) => [key, version]));
  };
  proxy.stall("down");
  // The first batches are sent, and get no answer; so the others wait.
  await page.evaluate(async () => {
    for (let index = 0; index < 20; index += 1) {
      void window.client
        .store("board")
        .set(`${index}`, index)
        .catch(() => {});
      await new Promise(requestAnimationFrame);
    }
  });
  await eventually("the first to be stored", async () => "3" in (await versions()));
  const before = await versions();
  expect(before).not.toHaveProperty("19");
  proxy.stall("up");
  await page.close();
  await eventually("the last to be stored", async () => "19" in (await versions()));
  expect(await versions()).toMatchObject(before);
  await page.context().close();
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
  await page.context().close();
});

/** Opens a client that keeps what it has on the device, and waits for nothing from the network. */
async function openKept(page: Page, authToken: string): Promise<void> {
  await page.goto(site.url);
  await page.evaluate(
    async ({ serverUrl, authToken }) => {
      window.client = new window.Client({ serverUrl, authToken, offline: window.keepOffline() });
      window.client.join().catch(() => {}); // the page may be closed first
      await window.client.store("board").sync();
    },
    { serverUrl: proxy.url, authToken },
  );
}

const write = (page: Page, key: string): Promise<void> =>
  page.evaluate(
    (name) =>
      void window.client
        .store("board")
        .set(name, name)
        .catch(() => {}),
    key,
  );

/** The keys of the writes, or of the entries, that the browser keeps. */
const kept = (page: Page, what: "writes" | "entries"): Promise<string[]> =>
  page.evaluate(
    (name) =>
      new Promise<string[]>((resolve, reject) => {
        const opening = indexedDB.open("atrium");
        opening.onerror = () => reject(opening.error);
        opening.onsuccess = () => {
          const reading = opening.result.transaction(name).objectStore(name).getAll();
          reading.onsuccess = () => {
            opening.result.close();
            resolve(reading.result.map(({ key }: { key: string }) => key).sort());
          };
        };
      }),
    what,
  );

it("tabs of one user that are reloaded or closed without a network keep their work, which is sent once", async () => {
  const { token } = await customer.createUser(roomId, "Ada");
  await customer.send("PUT", `/rooms/${roomId}/stores/board/old`, { value: "old" });
  const context = await browser.newContext();
  const [first, second] = [await context.newPage(), await context.newPage()];
  await openKept(first, token);
  await openKept(second, token);
  await write(first, "online");
  await first.evaluate(() => window.client.flush());
  await eventually("the entry to be kept", async () => (await kept(first, "entries")).includes("online"));
  const shown = (page: Page) => page.evaluate(() => window.client.store("board").getAll());
  await eventually("the other tab to have it", async () => (await shown(second)).online === "online");
  proxy.shut();
  await write(first, "a");
  await write(first, "b");
  await write(second, "c");
  await eventually("all writes to be kept", async () => (await kept(first, "writes")).join() === "a,b,c");

  const all = { old: "old", online: "online", a: "a", b: "b", c: "c" };
  for (const page of [first, second])
    await eventually("each tab to show all writes", async () => Object.keys(await shown(page)).length === 5);

  // The other tab has waited for the end of the page before its reload, and adopts its writes.
  await openKept(first, token);
  expect(await first.evaluate(() => window.client.store("board").state)).toBe("cached");
  expect(await shown(first)).toEqual(all);
  await second.close();
  const hasUnsynced = () => first.evaluate(() => window.client.hasUnsyncedChanges);
  await eventually("the reloaded page to adopt the writes", hasUnsynced);
  expect(await shown(first)).toEqual(all);
  proxy.open();
  await eventually("nothing to be kept", async () => (await kept(first, "writes")).length === 0);
  expect(await shown(first)).toEqual(all);
  const path = `/rooms/${roomId}/stores/board`;
  const { data } = await customer.send<{ entries: Record<string, { version: number }> }>("GET", path);
  const versions = ["a", "b", "c"].map((key) => data.entries[key]?.version ?? 0).sort((a, b) => a - b);
  expect((versions[2] ?? 0) - (versions[0] ?? 0)).toBe(2);
  expect(versions[0]).toBe((data.entries.online?.version ?? 0) + 1);
  await context.close();
});
