/** The DevTools panel in a real browser: what it shows, by mouse and keyboard, and the connection that it cuts. */

import type { AtriumClient } from "atrium/client";
import axe from "axe-core";
import type { Locator, Page } from "playwright-core";
import { expect, it } from "vitest";
import { eventually } from "../cli/processes.ts";
import { bundlePage, prepareReactPages, type ReactPage } from "./react-page.ts";

const openPage = await prepareReactPages();
let opened: ReactPage;
let page: Page;
let bo: AtriumClient;

const script = await bundlePage("devtools-page.ts", 19);

/** Ada's page in a room with Bo, who shows a cursor, and two tasks. */
async function begin(): Promise<void> {
  opened = await openPage(script);
  ({ page, bo } = opened);
  await bo.store("tasks").set("a", { title: "Plan the week", done: false });
  await bo.store("tasks").set("b", { title: "Buy milk" });
  bo.presence.update({ cursor: { x: 3, y: 4 } });
  await page.evaluate((token) => window.begin(token), opened.ada.token);
}

const toggle = (): Locator => page.getByRole("button", { name: /^Atrium: / });
const panel = (): Locator => page.getByRole("region", { name: "Atrium DevTools" });
/** The line of a part, by its title. */
const line = (title: string | RegExp): Locator => panel().locator("summary").filter({ hasText: title });
const button = (name: string): Locator => panel().getByRole("button", { name });

it("shows connection, latency, users with presence, and stores with their latest changes, own ones too", async () => {
  await begin();
  await toggle().click();
  await panel().getByText("connected", { exact: true }).waitFor();
  await panel()
    .getByText(/^[\d.]+ ms$/)
    .waitFor();
  await panel().getByText("Ada, editor").waitFor();
  await line(/^Bo.*"cursor":\{"x":3,"y":4\}/).waitFor();
  await line("Ada (you)").waitFor();
  await line("Users2 online").waitFor();
  await line(/^Network\d+ bytes\/s in, \d+ bytes\/s out$/).waitFor();
  await line("tasks2 entries").click();
  await line('a{"title":"Plan the week","done":false}').click();
  await panel().getByLabel("Value of a").getByText('"title": "Plan the week"').waitFor();
  await bo.store("tasks").update("a", { done: true });
  bo.presence.update({ cursor: { x: 5, y: 6 } });
  const message = (text: string) => panel().getByRole("listitem").filter({ hasText: text }).first().waitFor();
  await message("↓  Bo wrote tasks/a.  storeChanged");
  await message("↓  Bo’s cursor has changed.  presence");
  await page.evaluate(() => window.devtools.client.presence.update({ mood: "calm" }));
  await message("↓  No one else sees your presence now.  presence");
  bo.presence.sync("*", () => {});
  await message("↓  Someone sees your presence now.  presence");
  await bo.store("tasks").set("<b>", { title: "<i>not markup</i>" });
  await panel().getByLabel("Value of a").getByText('"done": true').waitFor();
  await line("tasks3 entries").waitFor();
  await line("Latest changes2").click();
  await panel().getByRole("listitem").filter({ hasText: "update  a" }).filter({ hasText: "by Bo" }).waitFor();
  await line('<b>{"title":"<i>not markup</i>"}').waitFor();
  const listed = (...texts: string[]) =>
    texts.reduce((items, hasText) => items.filter({ hasText }), panel().getByRole("listitem")).waitFor();
  await page.evaluate(() => window.devtools.client.store("tasks").set("c", { title: "Mine" }));
  await listed("set  c", "by you");
  await message("↑  You wrote tasks/c, for 1 other.  STORE_BATCH");
  await message("↓  The service confirmed it after ");
  await page.evaluate(() => window.devtools.client.history.undo());
  await listed("delete  c", "history");
  await line("Latest changes4").waitFor();
  await page.evaluate(() => window.devtools.close());
  expect(await page.locator("atrium-devtools").count()).toBe(0);
  expect(opened.complaints).toEqual([]);
});

it("cuts the connection, shows the writes that wait, and restores it", async () => {
  await begin();
  await toggle().click();
  await panel().getByText("The service has confirmed every write.").waitFor();
  await button("Cut connection").click();
  await eventually("Ada is offline", () => !bo.users.online.has(opened.ada.id));
  await page.evaluate(() => void window.devtools.client.store("tasks").set("c", { title: "Offline" }));
  await panel().getByRole("listitem").filter({ hasText: 'set  tasks/c  {"title":"Offline"}' }).waitFor();
  await line("Unconfirmed writes1").waitFor();
  await toggle().filter({ hasText: "cut" }).waitFor();
  expect(await page.evaluate(() => window.devtools.client.socket.state)).toBe("reconnecting");
  await button("Restore connection").click();
  await panel().getByText("The service has confirmed every write.").waitFor();
  await bo.store("tasks").sync();
  expect(bo.store("tasks").get("c")).toEqual({ title: "Offline" });
  await button("Cut connection").waitFor();
});

it("is used with the keyboard alone", async () => {
  await begin();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await panel().waitFor();
  await page.keyboard.press("Shift+Tab");
  const focused = () =>
    page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.textContent ?? "");
  await expect.poll(focused).toContain("Unconfirmed writes");
  await line("tasks").waitFor();
  while (!(await focused()).startsWith("tasks")) await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Enter");
  await line("Latest changes").waitFor();
  await page.keyboard.press("Escape");
  await panel().waitFor({ state: "hidden" });
  await expect.poll(focused).toContain("Atrium: connected");
});

it("is accessible and fits the page, light and dark, however small it is", async () => {
  await begin();
  await toggle().click();
  await line("tasks").click();
  await line("Plan the week").click();
  await bo
    .store("tasks")
    .set("c", { title: "A title that is much longer than what one line of the panel can show" });
  await line("Latest changes1").click();
  await panel()
    .getByText(/^[\d.]+ ms$/)
    .waitFor();
  await page.evaluate(axe.source);
  for (const size of [
    { width: 1280, height: 800 },
    { width: 320, height: 480 },
  ]) {
    await page.setViewportSize(size);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      const { violations } = await page.evaluate(() => window.axe.run("atrium-devtools"));
      expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
    }
    const box = await panel().boundingBox();
    expect(box?.x).toBeGreaterThanOrEqual(0);
    expect(box?.y).toBeGreaterThanOrEqual(0);
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(size.width);
  }
});
