/** A component renders again only when what it reads has changed: counted in a real browser, with each React. */
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import type { AtriumClient, PresenceUpdate } from "../../src/sdk/client/index.ts";
import { next } from "../sdk/clients.ts";
import { bundlePage, prepareReactPages, REACT_VERSIONS } from "./react-page.ts";
import type { RendersStage } from "./renders-page.tsx";

const openPage = prepareReactPages();
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
    script = await bundlePage("renders-page.tsx", version);
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
