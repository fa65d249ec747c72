/** What two people write in a starter's editor, at once, offline and while the service is killed: the same everywhere. */
import { rm } from "node:fs/promises";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { expect } from "vitest";
import { ROOT } from "../cli/processes.ts";
import { KillableService } from "../endurance/killable-service.ts";
import { BreakableProxy } from "../sdk/proxy.ts";
import { complaintsOf, launchChromium } from "./chromium.ts";
import { buildPackage, type Packages, Starter } from "./starter.ts";
import { AWAY } from "./visitor.ts";

const TSC = path.join(ROOT, "node_modules/typescript/bin/tsc");
const VITE = "node_modules/vite/bin/vite.js";
const EDITABLE = "[contenteditable=true]";
/** What editors show among the text: the others' carets with their names, and hints. */
const DECORATIONS = [
  ...[".cm-ySelectionCaret", ".cm-placeholder"],
  ...[".collaboration-carets__caret", ".bn-collaboration-cursor__base"],
].join();

const hostOf = ({ url }: { readonly url: string }): string => new URL(url).host;

/** A window with the editor, whose connections to the service can be cut. */
class EditorWindow {
  readonly network: BreakableProxy;
  /** Errors and warnings of the page. */
  readonly complaints: string[];
  readonly page: Page;

  private constructor(page: Page, network: BreakableProxy) {
    this.page = page;
    this.network = network;
    this.complaints = complaintsOf(page, AWAY);
  }

  /** `backEnd` is where the starter's own back end finds the service. */
  static async open(
    browser: Browser,
    url: string,
    service: KillableService,
    backEnd: BreakableProxy,
  ): Promise<EditorWindow> {
    const network = await BreakableProxy.before(service);
    const page = await browser.newPage();
    // The page connects to where its back end says: through its own network.
    await page.route("**/token", async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replaceAll(hostOf(backEnd), hostOf(network));
      await route.fulfill({ response, body });
    });
    const window = new EditorWindow(page, network);
    await page.goto(url);
    await window.says(/saved|Connected/);
    await page.locator(EDITABLE).click();
    return window;
  }

  async says(text: RegExp): Promise<void> {
    await this.page.getByRole("status").filter({ hasText: text }).waitFor();
  }

  type(text: string): Promise<void> {
    return this.page.keyboard.type(text);
  }

  /** How many people the page shows. */
  people(): Promise<number> {
    return this.page.getByRole("list", { name: "People" }).getByRole("listitem").count();
  }

  text(): Promise<string> {
    return this.page.locator(EDITABLE).evaluate((editor, decorations) => {
      const copy = editor.cloneNode(true) as Element;
      for (const decoration of copy.querySelectorAll(decorations)) decoration.remove();
      return copy.textContent;
    }, DECORATIONS);
  }

  async close(): Promise<void> {
    await this.page.close();
    await this.network.close();
  }
}

/** Each letter, in the order of the alphabet: whether something was lost or doubled, wherever it was written. */
const lettersOf = (text: string): string => [...text.replaceAll(/\s/g, "")].sort().join("");

async function expectSame(windows: readonly EditorWindow[], written: readonly string[]): Promise<void> {
  const all = lettersOf(written.join(""));
  await expect.poll(async () => lettersOf((await windows[0]?.text()) ?? "")).toBe(all);
  for (const window of windows.slice(1)) {
    const agrees = async () => (await window.text()) === (await windows[0]?.text());
    await expect.poll(agrees).toBe(true);
  }
}

interface Story {
  /** Changes the copy of the starter, which is compiled otherwise. */
  readonly change?: (starter: Starter) => Promise<unknown>;
  /** What the first two do when all else is done. */
  readonly end?: ((ada: Page, bo: Page) => Promise<void>) | undefined;
}

const compile = (starter: Starter): Promise<unknown> => starter.run(TSC, "-p", ".");

/** What the stories of several editors share. */
export class EditorStories {
  readonly #service: KillableService;
  /** The service's address for back ends, which another start does not change. */
  readonly #backEnd: BreakableProxy;
  readonly #browser: Browser;
  /** The built package. */
  readonly #dist: string;

  private constructor(service: KillableService, backEnd: BreakableProxy, browser: Browser, dist: string) {
    this.#service = service;
    this.#backEnd = backEnd;
    this.#browser = browser;
    this.#dist = dist;
  }

  static async prepare(): Promise<EditorStories> {
    const dist = await buildPackage();
    const service = await KillableService.prepare();
    const backEnd = await BreakableProxy.before(service);
    return new EditorStories(service, backEnd, await launchChromium(), dist);
  }

  async dispose(): Promise<void> {
    await this.#browser.close();
    await this.#backEnd.close();
    await this.#service.dispose();
    await rm(this.#dist, { recursive: true, force: true });
  }

  /**
   * Installs the starter, compiles it and plays its story: as built, or as `npm start` serves what its lock installs.
   */
  async play(name: string, packages: Packages, { change = compile, end }: Story = {}): Promise<void> {
    const environment = { url: this.#backEnd.url, ...this.#service.organization };
    const starter = await Starter.install(name, this.#dist, environment, packages);
    try {
      await change(starter);
      if (packages === "linked") await starter.run(VITE, "build");
      await this.#play(await starter.start(packages === "linked" ? [VITE, "preview"] : [VITE]), end);
    } finally {
      await starter.remove();
    }
  }

  async #play(url: string, end: Story["end"]): Promise<void> {
    const open = () => EditorWindow.open(this.#browser, url, this.#service, this.#backEnd);
    const [ada, bo] = [await open(), await open()];
    const both = [ada, bo];
    for (const window of both) await expect.poll(() => window.people()).toBe(2);
    await Promise.all([ada.type("Ada writes "), bo.type("Bo does too ")]);
    await expectSame(both, ["Ada writes", "Bo does too"]);

    ada.network.shut();
    await ada.says(/Offline/);
    await Promise.all([ada.type("offline "), bo.type("meanwhile ")]);
    ada.network.open();
    await expectSame(both, ["Ada writes", "Bo does too", "offline", "meanwhile"]);

    await this.#service.kill();
    for (const window of both) await window.says(/Offline/);
    await Promise.all([ada.type("killed "), bo.type("as well ")]);
    await this.#service.start();
    await expectSame(both, ["Ada writes", "Bo does too", "offline", "meanwhile", "killed", "as well"]);
    const later = await open();
    const text = await ada.text();
    await expect.poll(() => later.text()).toBe(text);
    await end?.(ada.page, bo.page);
    expect(both.flatMap(({ complaints }) => complaints)).toEqual([]);
    for (const window of [...both, later]) await window.close();
  }
}
