/** Components that suspend until their room is joined and loaded, in a real browser, with each React. */
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { bundlePage, prepareReactPages, REACT_VERSIONS, type ReactPage } from "./react-page.ts";

/** A close code by which the service refuses a token. */
const UNAUTHORIZED = 4401;

const openPage = prepareReactPages();
let opened: ReactPage;
let page: Page;

describe.each(REACT_VERSIONS)("with React %i", (version) => {
  let script: string;

  beforeAll(async () => {
    script = await bundlePage("suspense-page.tsx", version);
  });

  /** Ada's page in a room with Bo, two tasks and a comment, and what its content reads in its first render. */
  async function begin(): Promise<object> {
    opened = await openPage(script);
    page = opened.page;
    const { bo, meeting } = opened;
    await bo.store("tasks").batch(["a", "b"].map((key) => ({ action: "set", key, value: key })));
    await bo.comments.create({ text: "Hello" });
    return {
      name: "Ada",
      room: meeting.roomId,
      role: "editor",
      others: ["Bo"],
      tasks: ["a", "b"],
      comments: 1,
      status: "connected",
    };
  }

  const firstRead = (): Promise<object | undefined> => page.evaluate(() => window.suspense.read[0]);

  it.each(["above the provider", "below the provider"] as const)(
    "they read everything in their first render, with the boundary %s",
    async (place) => {
      const expected = await begin();
      await page.evaluate(([token, at]) => window.suspense.mount(token, at), [
        opened.ada.token,
        place,
      ] as const);
      await page.getByText("Ada is here").waitFor();
      expect(await firstRead()).toEqual(expected);
      expect(await page.evaluate(() => window.suspense.waits)).toBeGreaterThan(0);
      expect(await page.locator("i").count()).toBe(0);
      expect(opened.sockets()).toBe(1);
      expect(opened.complaints).toEqual([]);
    },
  );

  it.each(["above the provider", "below the provider"] as const)(
    "an error boundary receives the join's error, and its reset joins again, with the boundary %s",
    async (place) => {
      const expected = await begin();
      let isRefused = true;
      await page.routeWebSocket(/\/socket\?/, (socket) => {
        if (isRefused)
          socket.onMessage(() => socket.close({ code: UNAUTHORIZED, reason: "Refused on the way" }));
        else socket.connectToServer();
      });
      await page.evaluate(([token, at]) => window.suspense.mount(token, at), [
        opened.ada.token,
        place,
      ] as const);
      const retry = page.getByRole("button", { name: "UNAUTHORIZED" });
      await retry.waitFor();
      isRefused = false;
      // The error is thrown for a moment longer.
      while ((await page.getByText("Ada is here").count()) === 0) {
        if (await retry.isVisible()) await retry.click();
        await page.evaluate(() => new Promise(requestAnimationFrame));
      }
      expect(await firstRead()).toEqual(expected);
    },
  );

  it("they keep what they show while the connection is lost", async () => {
    await begin();
    let cut = (): Promise<void> => Promise.resolve();
    await page.routeWebSocket(/\/socket\?/, (socket) => {
      const server = socket.connectToServer();
      cut = async () => {
        await Promise.all([socket.close(), server.close()]);
      };
    });
    await page.evaluate((token) => window.suspense.mount(token, "below the provider"), opened.ada.token);
    await page.getByText("Ada is here").waitFor();
    const waits = await page.evaluate(() => window.suspense.waits);
    await cut();
    // It may have reconnected before the test looks, so what counts is what was rendered.
    await page.waitForFunction(() => {
      const statuses = window.suspense.read.map(({ status }) => status);
      return statuses.includes("reconnecting") && statuses.at(-1) === "connected";
    });
    expect(await page.evaluate(() => window.suspense.waits)).toBe(waits);
  });

  it("a server renders the fallback, which the browser replaces without a complaint", async () => {
    const expected = await begin();
    const html = await page.evaluate((token) => window.suspense.hydrate(token, "own"), opened.ada.token);
    expect(html).toContain("<i>Loading</i>");
    await page.getByText("Ada is here").waitFor();
    expect(await firstRead()).toEqual(expected);
    expect(opened.complaints).toEqual([]);
  });

  it("in a boundary of React's, a server renders the fallback too", async () => {
    await begin();
    const html = await page.evaluate((token) => window.suspense.hydrate(token, "React's"), opened.ada.token);
    expect(html).toContain("<i>Loading</i>");
    await page.getByText("Ada is here").waitFor();
  });
});
