/** A component renders again only when what it reads has changed: counted in a real browser, with each React. */

import type { AtriumClient, PresenceUpdate } from "atrium/client";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { next } from "../../sdk/clients.ts";
import { bundlePage, prepareReactPages, type ReactPage } from "../react-page.ts";
import { REACT_VERSIONS } from "../react-versions.ts";
import type { RendersStage } from "./renders-page.tsx";

const openPage = await prepareReactPages();
let page: Page;
let bo: AtriumClient;
let adaId: string;
let complaints: readonly string[];

const shows = async (isSo: (shown: Record<string, unknown>) => boolean): Promise<void> => {
  await page.waitForFunction(`(${isSo})(window.renders.shown)`);
};

const renders = (): Promise<RendersStage["renders"]> => page.evaluate(() => ({ ...window.renders.renders }));

/** Which components render while something changes, and how often. */
async function rendersOf(change: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = await renders();
  await change();
  await page.evaluate(() => new Promise(requestAnimationFrame));
  const changed = Object.entries(await renders()).map(([name, count]) => [name, count - (before[name] ?? 0)]);
  return Object.fromEntries(changed.filter(([, count]) => count !== 0));
}

describe.each(REACT_VERSIONS)("with React %i", (version) => {
  let script: string;

  beforeAll(async () => {
    script = await bundlePage("react/renders-page.tsx", version);
  });

  /** Ada's page in a room with Bo and two tasks. */
  async function begin(): Promise<void> {
    const opened = await openPage(script);
    ({ page, bo, complaints } = opened);
    adaId = opened.ada.id;
    await bo.store("tasks").set("a", { title: "A" });
    await bo.store("tasks").set("b", { title: "B" });
    bo.presence.update({ x: 0 });
    await page.evaluate((token) => window.renders.mount(token), opened.ada.token);
    await shows(
      ({ status, all, cursor, own }) => status === "connected" && all === 2 && cursor === 0 && own === "Ada",
    );
  }

  it("another user's cursor renders only the components that read it", async () => {
    await begin();
    const rendered = await rendersOf(async () => {
      bo.presence.update({ x: 5 });
      await shows(({ cursor }) => cursor === 5);
    });
    expect(rendered).toEqual({ everyone: 1, cursor: 1, identical: 1 });
    await shows(({ names, rounded }) => `${names}` === "Bo" && `${rounded}` === "0");
    bo.presence.update({ x: 500 });
    await shows(({ rounded }) => `${rounded}` === "500");
    expect(complaints).toEqual([]);
  });

  it("a store's entry renders only the components that select it", async () => {
    await begin();
    const title = await rendersOf(async () => {
      await bo.store("tasks").update("a", { title: "Renamed" });
      await shows((shown) => shown["title a"] === "Renamed");
    });
    expect(title).toEqual({ "title a": 1, all: 1 });
    const others = await rendersOf(async () => {
      await bo.store("tasks").update("a", { done: true });
      await page.waitForFunction(() => JSON.stringify(window.renders.tasks().get("a")).includes("done"));
    });
    expect(others).toEqual({ all: 1 });
    const unread = await rendersOf(async () => {
      await bo.store("others").set("a", 1);
      await bo.store("tasks").set("c", { title: "C" });
      await shows(({ keys }) => `${keys}` === "a,b,c");
    });
    expect(unread).toEqual({ keys: 1, all: 1 });
  });

  it("a hundred changes of one frame render once", async () => {
    await begin();
    const keys = Array.from({ length: 100 }, (_, number) => `task-${number}`);
    const rendered = await rendersOf(async () => {
      await bo.store("tasks").batch(keys.map((key) => ({ action: "set", key, value: { title: key } })));
      await shows(({ all }) => all === 102);
    });
    expect(rendered).toEqual({ keys: 1, all: 1 });
  });

  it("own presence renders the components that show it, and no others", async () => {
    await begin();
    const moved = next<PresenceUpdate>("Ada's presence", (listener) => bo.presence.sync(adaId, listener));
    const rendered = await rendersOf(async () => {
      await page.evaluate(() => window.renders.move(7));
      await moved;
      await shows(({ mine }) => mine === 7);
    });
    expect(rendered).toEqual({ mine: 1 });
  });

  it("a controlled input keeps its caret while the store holds its text", async () => {
    await begin();
    await bo.store("tasks").set("a", { title: "Meting" });
    const input = page.locator("input");
    await page.waitForFunction(() => document.querySelector("input")?.value === "Meting");
    await input.focus();
    await page.evaluate(() => document.querySelector("input")?.setSelectionRange(2, 2));
    await page.keyboard.type("ee-e");
    expect(await input.inputValue()).toBe("Meee-eting");
    expect(complaints).toEqual([]);
  });
});

// Components that suspend until their room is joined and loaded, in a real browser, with each React.

/** A close code by which the service refuses a token. */
const UNAUTHORIZED = 4401;

let opened: ReactPage;

describe.each(REACT_VERSIONS)("with React %i", (version) => {
  let script: string;

  beforeAll(async () => {
    script = await bundlePage("react/suspense-page.tsx", version);
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
        // A button that is still there: to wait for one would be to wait in vain.
        await retry.evaluateAll(([button]) => (button as HTMLElement | undefined)?.click());
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
