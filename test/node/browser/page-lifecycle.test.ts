/** A page that is closed, reloaded, kept for a return, frozen, taken offline and opened twice: then it shows what the service has. */

import type { UserWithToken } from "@atrium/contract/rest/users.ts";
import type { AtriumClient } from "atrium/client";
import { type DocumentProvider, openDocument } from "atrium/documents";
import { chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeEach, expect, it } from "vitest";
import { eventually } from "../cli/processes.ts";
import { sharedService } from "../cli/shared-service.ts";
import { join, type Meeting, meet } from "../sdk/clients.ts";
import { BreakableProxy } from "../sdk/proxy.ts";
import { BrowserWindow } from "./browser-window.ts";
import { complaintsOf } from "./chromium.ts";
import { ClientSite } from "./client-site.ts";
import { bundleYjs, LIFECYCLE_PAGE, type Shown } from "./lifecycle-page.ts";
import { AWAY } from "./visitor.ts";

/** The browser's own log entries about a failing network, or a page that it freezes. */
const BY_BROWSER = new RegExp(`${AWAY.source}|net::ERR_`);

const service = await sharedService();
const site = await ClientSite.start(LIFECYCLE_PAGE);
await site.add("yjs.js", await bundleYjs());
const proxy = await BreakableProxy.before(service);
const chromiumWindow = await BrowserWindow.open("about:blank", ["--headless"]);
// Without its defaults: pages that Playwright drives are otherwise never hidden, and so never frozen.
const browser = await chromium.connectOverCDP(`http://${chromiumWindow.control}`, { noDefaults: true });
const [context = await browser.newContext()] = browser.contexts();
context.setDefaultTimeout(90_000);

let meeting: Meeting;
let ada: UserWithToken;
let bo: AtriumClient;
let atBo: DocumentProvider;
let opened: { page: Page; complaints: string[] }[] = [];

afterAll(async () => {
  await browser.close();
  await chromiumWindow.close();
  await proxy.close();
  await site.stop();
});

beforeEach(async () => {
  proxy.open();
  opened = [];
  meeting = await meet(service);
  ada = await meeting.customer.createUser(meeting.roomId, "Ada");
  bo = await join(meeting, "Bo");
  bo.presence.update({ mood: "calm" });
  await bo.store("notes").set("first", "from Bo");
  atBo = openDocument(bo, "text");
});

afterEach(async () => {
  for (const { page } of opened) await page.close();
  expect(opened.flatMap(({ complaints }) => complaints)).toEqual([]);
});

/** Pages that are hidden draw no frames, with which Playwright would look. */
const waitUntil = (page: Page, isTrue: () => boolean): Promise<unknown> =>
  page.waitForFunction(isTrue, undefined, { polling: 50 });

const hasJoined = (page: Page) => waitUntil(page, () => window.client?.socket.state === "connected");

/** A page of Ada's. Without a network, the browser complains by itself. */
async function begin(expected?: RegExp): Promise<Page> {
  const page = await context.newPage();
  opened.push({ page, complaints: complaintsOf(page, expected) });
  await page.goto(`${site.url}/?${new URLSearchParams({ serverUrl: proxy.url, authToken: ada.token })}`);
  return page;
}

async function open(expected?: RegExp): Promise<Page> {
  const page = await begin(expected);
  await hasJoined(page);
  return page;
}

const write = (page: Page, key: string): Promise<void> =>
  page.evaluate((name) => {
    window.text.insert(window.text.length, `${name}. `);
    void window.client.store("notes").set(name, "from Ada");
  }, key);

async function writeAsBo(key: string): Promise<void> {
  atBo.doc.getText("text").insert(0, `${key}, `);
  bo.presence.update({ mood: key });
  await bo.store("notes").set(key, "from Bo");
}

/** The service's content: over REST, and by Bo's connection. */
async function truth(): Promise<Shown> {
  const path = `/rooms/${meeting.roomId}/stores/notes`;
  const { data } = await meeting.customer.send<{ entries: Record<string, { value: unknown }> }>("GET", path);
  return {
    notes: Object.fromEntries(Object.entries(data.entries).map(([key, { value }]) => [key, value])),
    text: String(atBo.doc.getText("text")),
    online: ["Ada", "Bo"],
    mood: bo.presence.own.mood,
  };
}

/** The page shows it, with these keys among it, by one connection of its own. */
async function expectTruth(pages: readonly Page[], ...keys: readonly string[]): Promise<void> {
  for (const page of pages) await hasJoined(page);
  await expect.poll(async () => Object.keys((await truth()).notes).sort()).toEqual(["first", ...keys].sort());
  for (const page of pages) {
    await expect.poll(async () => await page.evaluate(() => window.client.hasUnsyncedChanges)).toBe(false);
    await expect.poll(async () => page.evaluate(() => window.look())).toEqual(await truth());
  }
  for (const page of pages) expect(await page.evaluate(() => window.openNow())).toBe(1);
}

/** How many listeners the page's window has of each event that the client listens to. */
async function listenersOf(page: Page): Promise<Record<string, number>> {
  const cdp = await context.newCDPSession(page);
  const { result } = await cdp.send("Runtime.evaluate", { expression: "window" });
  const { listeners } = await cdp.send("DOMDebugger.getEventListeners", { objectId: result.objectId ?? "" });
  await cdp.detach();
  const counts: Record<string, number> = {};
  for (const { type } of listeners) if (HEARD.has(type)) counts[type] = (counts[type] ?? 0) + 1;
  return counts;
}
const HEARD = new Set(["online", "offline", "pageshow", "pagehide", "visibilitychange", "beforeunload"]);

/** Reports the users who leave from now on. */
function watchLeaving(): string[] {
  const left: string[] = [];
  bo.users.on("userLeft", ({ name }) => left.push(name));
  return left;
}

it("is closed: the others see its user leave, and have all of its last writes or none", async () => {
  const page = await open();
  await write(page, "acknowledged");
  await expectTruth([page], "acknowledged");
  const left = watchLeaving();
  await page.evaluate(() => {
    void window.client.store("notes").batch([
      { action: "set", key: "one", value: "from Ada" },
      { action: "set", key: "two", value: "from Ada" },
    ]);
  });
  await page.close();
  await eventually("Ada to leave", () => left.includes("Ada"));
  const { notes } = await truth();
  expect([notes.acknowledged, "one" in notes]).toEqual(["from Ada", "two" in notes]);
});

it("is reloaded, right after a write: it shows what it has written, and the rest", async () => {
  const page = await open();
  await write(page, "early");
  await expectTruth([page], "early");
  const listeners = await listenersOf(page);
  for (const key of ["once", "twice"]) {
    await page.evaluate((name) => void window.client.store("notes").set(name, "from Ada"), key);
    await page.reload();
    await hasJoined(page);
  }
  await writeAsBo("later");
  await expectTruth([page], "early", "once", "twice", "later");
  expect(await listenersOf(page)).toEqual(listeners);
});

/** Leaves the page for another one of its site, and comes back when `meanwhile` is over. */
async function leaveAndReturn(page: Page, meanwhile: () => Promise<void>): Promise<void> {
  await page.goto(`${site.url}/yjs.js`);
  await meanwhile();
  await page.evaluate(() => history.back());
  await waitUntil(page, () => window.look !== undefined);
}

it("is left and comes back from the browser's cache: it has no socket there, and joins at once when it is back", async () => {
  const page = await open();
  await write(page, "early");
  await expectTruth([page], "early");
  const listeners = await listenersOf(page);
  const left = watchLeaving();
  const times = ["one", "two"];
  for (const key of times) {
    await page.evaluate(() => window.statuses.splice(0));
    await leaveAndReturn(page, async () => {
      await eventually("Ada to leave", () => left.splice(0).includes("Ada"));
      await writeAsBo(key);
    });
    await expectTruth([page], "early", ...times.slice(0, times.indexOf(key) + 1));
    expect(await page.evaluate(() => window.statuses)).toEqual(["reconnecting", "connected"]);
  }
  expect(await page.evaluate(() => window.restored)).toEqual([false, true, true]);
  expect(await listenersOf(page)).toEqual(listeners);
});

it("is left with a write that is under way, or without a network, and comes back: it shows what the service has", async () => {
  const page = await open(BY_BROWSER);
  await write(page, "under way");
  await leaveAndReturn(page, () => writeAsBo("meanwhile"));
  await expectTruth([page], "under way", "meanwhile");
  proxy.shut();
  await waitUntil(page, () => window.client.socket.status.attempt > 0);
  await write(page, "alone");
  await leaveAndReturn(page, () => writeAsBo("at last"));
  proxy.open();
  await hasJoined(page);
  await writeAsBo("joined");
  // A browser that did not keep the page has dropped what could not be sent.
  const isKept = await page.evaluate(() => window.restored.length > 1);
  await expectTruth([page], "under way", "meanwhile", "at last", "joined", ...(isKept ? ["alone"] : []));
});

it.each([
  ["has ended its connection", () => proxy.cut()],
  [
    "has not noticed",
    () => {
      for (const direction of ["up", "down"] as const) proxy.stall(direction);
    },
  ],
])("is frozen, and resumed when the service %s", async (_, harm) => {
  const page = await open(BY_BROWSER);
  await write(page, "early");
  await expectTruth([page], "early");
  const listeners = await listenersOf(page);
  await page.evaluate(() => document.addEventListener("freeze", () => window.statuses.push("frozen")));
  const cdp = await context.newCDPSession(page);
  const inFront = await context.newPage();
  await cdp.send("Page.setWebLifecycleState", { state: "frozen" });
  harm();
  await writeAsBo("meanwhile");
  await cdp.send("Page.setWebLifecycleState", { state: "active" });
  await page.bringToFront();
  await waitUntil(page, () => window.statuses.includes("frozen"));
  await waitUntil(page, () => "meanwhile" in window.look().notes);
  await write(page, "again");
  await expectTruth([page], "early", "meanwhile", "again");
  await inFront.close();
  expect(await listenersOf(page)).toEqual(listeners);
});

it("is taken offline, where it shows its own writes, and online again", async () => {
  const page = await open(BY_BROWSER);
  const listeners = await listenersOf(page);
  const cdp = await context.newCDPSession(page);
  const network = (offline: boolean) =>
    cdp.send("Network.emulateNetworkConditions", {
      ...{ offline, latency: 0, downloadThroughput: -1, uploadThroughput: -1 },
    });
  await waitUntil(page, () => "first" in window.look().notes);
  await network(true);
  await waitUntil(page, () => window.client.socket.state === "reconnecting");
  await write(page, "alone");
  await writeAsBo("meanwhile");
  expect((await page.evaluate(() => window.look())).notes).toEqual({ first: "from Bo", alone: "from Ada" });
  await network(false);
  await expectTruth([page], "alone", "meanwhile");
  expect(await listenersOf(page)).toEqual(listeners);
});

it("is opened twice: both are live, and its user stays when one of them is closed", async () => {
  const [one, two] = [await open(), await open()];
  await write(one, "one");
  await write(two, "two");
  await expectTruth([one, two], "one", "two");
  const left = watchLeaving();
  await one.close();
  await write(two, "alone");
  await writeAsBo("later");
  await expectTruth([two], "one", "two", "alone", "later");
  expect(left).toEqual([]);
});

it("is duplicated without a service: both come up with the writes of both", async () => {
  const first = await open(BY_BROWSER);
  proxy.shut();
  await write(first, "one");
  const second = await begin(BY_BROWSER);
  await waitUntil(second, () => window.client?.socket.status.attempt > 0);
  await write(second, "two");
  await writeAsBo("meanwhile");
  proxy.open();
  await expectTruth([first, second], "one", "two", "meanwhile");
});
