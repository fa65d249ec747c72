/** The starters of `examples/` as they stand, with the package that `npm run build` produces. */
import { rm } from "node:fs/promises";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AtriumClient } from "../../src/sdk/client/index.ts";
import { AtriumServer } from "../../src/sdk/server/index.ts";
import { eventually, findFreePort } from "../cli/processes.ts";
import { sharedService } from "../cli/shared-service.ts";
import { openBrowser } from "./browser.ts";
import { complaintsOf } from "./chromium.ts";
import { buildPackage, expectTestedVersions, Starter } from "./starter.ts";

/** The built package. */

const service = await sharedService();
const atrium = new AtriumServer({ ...service, serverUrl: service.url });
const dist = await buildPackage();
const browser = await openBrowser();

afterAll(async () => {
  await rm(dist, { recursive: true, force: true });
});

it.each(["plain-page", "react-board", "server"])(
  "%s pins the versions that are tested here",
  expectTestedVersions,
);

/** Two windows with the page of a starter, and what their consoles complain about. */
async function openTwo(
  url: string,
  ready: string | RegExp,
): Promise<{ windows: [Page, Page]; complaints: string[][] }> {
  const complaints: string[][] = [];
  const open = async (): Promise<Page> => {
    const page = await browser.newPage({ viewport: { width: 800, height: 600 } });
    complaints.push(complaintsOf(page));
    await page.goto(url);
    await page.getByRole("status").filter({ hasText: ready }).waitFor();
    return page;
  };
  return { windows: [await open(), await open()], complaints };
}

/** Where a window shows the cursor of the other. */
const cursorAt = (page: Page, x: number, y: number): Promise<unknown> =>
  page.waitForFunction(
    (place) => document.querySelector<HTMLElement>(".cursor")?.style.translate === place,
    `${x}px ${y}px`,
  );

it("plain-page shares cursors and a counter", async () => {
  const starter = await Starter.install("plain-page", dist, service);
  try {
    const { windows, complaints } = await openTwo(await starter.start(["server.ts"]), "second window");
    const [ada, bo] = windows;
    await ada.mouse.move(120, 80);
    await cursorAt(bo, 120, 80);
    await bo.mouse.move(300, 200);
    await cursorAt(ada, 300, 200);
    const count = (page: Page, times: number) =>
      Promise.all(Array.from({ length: times }, () => page.locator("button").dispatchEvent("click")));
    await Promise.all([count(ada, 3), count(bo, 2)]);
    for (const page of windows)
      await expect.poll(() => page.locator("button").textContent()).toBe("Count: 5");
    await bo.close();
    await ada.locator(".cursor").waitFor({ state: "detached" });
    expect(complaints.flat()).toEqual([]);
    await ada.close();
  } finally {
    await starter.remove();
  }
});

it("react-board shares notes and cursors, and undoes a movement as one step", async () => {
  const starter = await Starter.install("react-board", dist, service);
  try {
    await starter.run("node_modules/vite/bin/vite.js", "build");
    const url = await starter.start(["node_modules/vite/bin/vite.js", "preview"], await findFreePort());
    const { windows, complaints } = await openTwo(url, /second window|With Guest/);
    const [ada, bo] = windows;
    await ada.getByRole("button", { name: "Add note" }).click();
    await ada.getByRole("textbox", { name: "Text" }).fill("Hello");
    const note = bo.locator("article");
    await bo.waitForFunction(() => document.querySelector("textarea")?.value === "Hello");
    const place = () => note.evaluate(({ style }) => style.translate);
    const before = await place();
    await ada.mouse.move(60, 50);
    await ada.mouse.down();
    await ada.mouse.move(260, 150, { steps: 10 });
    await cursorAt(bo, 260, 150);
    await ada.mouse.up();
    await eventually("Bo sees the note at its new place", async () => (await place()) === "240px 140px");
    await ada.getByRole("button", { name: "Undo" }).click();
    await eventually("Bo sees the note at its old place", async () => (await place()) === before);
    await ada.getByRole("button", { name: "Redo" }).click();
    await eventually("Bo sees it moved again", async () => (await place()) === "240px 140px");
    await bo.getByRole("button", { name: "Delete note" }).click();
    await ada.locator("article").waitFor({ state: "detached" });
    expect(complaints.flat()).toEqual([]);
    await Promise.all(windows.map((page) => page.close()));
  } finally {
    await starter.remove();
  }
});

describe("server", () => {
  let starter: Starter;
  let port: number;
  let url: string;

  const start = async (): Promise<void> => {
    url = await starter.start(["server.ts"], port);
  };
  const askToken = async (name: string): Promise<{ serverUrl: string; token: string }> => {
    const response = await fetch(`${url}/token?name=${name}`, { method: "POST" });
    expect(response.status).toBe(200);
    return response.json();
  };
  /** Joins with the server's tokens, and leaves when the server has received the webhook; returns the user's ID. */
  const visit = async (name: string): Promise<string> => {
    const { serverUrl } = await askToken(name);
    const client = new AtriumClient({ serverUrl, authToken: async () => (await askToken(name)).token });
    await client.join();
    await eventually(`the server receives that ${name} has joined`, () =>
      starter.output.includes(`participant.joined ${name} in My first room`),
    );
    await client.leave();
    return client.userId;
  };

  beforeAll(async () => {
    starter = await Starter.install("server", dist, service);
    port = await findFreePort();
    await start();
  });
  afterAll(() => starter?.remove());

  it("keeps one user per person, and receives webhooks, also after it was started again", async () => {
    const ada = await visit("Ada");
    await starter.stop();
    await start();
    expect(await visit("Ada")).toBe(ada);
    const { webhooks } = await atrium.webhooks.list();
    expect(webhooks.map((webhook) => webhook.url)).toEqual([`${url}/webhooks`]);
  });

  it("refuses webhooks that Atrium has not signed", async () => {
    const forged = await fetch(`${url}/webhooks`, { method: "POST", body: "{}" });
    expect(forged.status).toBe(401);
    expect((await fetch(`${url}/elsewhere`)).status).toBe(404);
  });
});
