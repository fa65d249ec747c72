/** A visitor of the demo: a browser window, the positions on its board, and the browser's errors and warnings. */
import path from "node:path";
import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { eventually } from "../cli/processes.ts";
import { complaintsOf } from "./chromium.ts";

/** What a browser logs while the service is down, which is not the page's fault. */
export const AWAY = /^WebSocket connection to '\S+' failed|net::ERR_CONNECTION_REFUSED/;

/** A point on the board. */
export interface Place {
  readonly x: number;
  readonly y: number;
}

export interface VisitOptions extends BrowserContextOptions {
  /** A folder with a page's scripts, in place of the service's. */
  readonly scripts?: string;
  /** The code of the board: all visitors are on the same one by default; null for one of their own. */
  readonly room?: string | null;
}

let addresses = 0;
/** An address of its own: of each, 30 visitors come a minute, where the service knows addresses. */
export const newAddress = (): string => `198.51.100.${++addresses}`;

export class Visitor {
  readonly page: Page;
  /** Errors and warnings; a violated Content-Security-Policy is one. */
  readonly complaints: string[];
  readonly requested: string[] = [];

  private constructor(page: Page) {
    this.page = page;
    this.complaints = complaintsOf(page, AWAY);
    page.on("request", (request) => this.requested.push(request.url()));
  }

  /** Opens a window and waits until its visitor has joined the room. */
  static async open(
    browser: Browser,
    url: string,
    name: string,
    { scripts, room = "together", ...options }: VisitOptions = {},
  ): Promise<Visitor> {
    const context = await browser.newContext({
      extraHTTPHeaders: { "CF-Connecting-IP": newAddress() },
      viewport: { width: 1200, height: 800 },
      reducedMotion: "reduce",
      ...options,
    });
    const visitor = new Visitor(await context.newPage());
    if (scripts !== undefined) {
      await visitor.page.route("**/assets/demo/*.js", (route) =>
        route.fulfill({ path: path.join(scripts, path.basename(route.request().url())) }),
      );
    }
    const query = new URLSearchParams({ name, ...(room && { room }) });
    await visitor.page.goto(`${url}/demo?${query}`);
    await visitor.self(name).waitFor();
    return visitor;
  }

  /** This participant, who is called so. */
  self = (name: string | RegExp): Locator =>
    this.page.getByRole("button", { name: typeof name === "string" ? `${name} (you)` : name });

  /** Another participant. */
  other = (name: string): Locator => this.page.getByRole("button", { name: `Follow ${name}` });

  cursor = (name: string): Locator => this.page.locator(".atrium-cursor", { hasText: name });

  note = (text: string): Locator => this.page.locator(`article[aria-label="Note: ${text}"]`);

  /** All shapes, also those that are being drawn. */
  get shapes(): Locator {
    return this.page.locator(".shapes path");
  }

  /** The pin of the thread that begins with this text. */
  pin = (text: string): Locator => this.page.locator(`.atrium-pin > button[title="${text}"]`);

  /** The open thread, or the new comment. */
  get card(): Locator {
    return this.page.locator(".atrium-pin-card");
  }

  closeCard = (): Promise<void> => this.card.getByRole("button", { name: "Close" }).click();

  /** Presses a button of the bar, or one in this menu of it. */
  async choose(label: string, menu: string): Promise<void> {
    const [button, opener] = [label, menu].map((name) =>
      this.page.getByRole("button", { name, exact: true }),
    ) as [Locator, Locator];
    await button.or(opener).first().waitFor(); // both parts of the bar are loaded
    if ((await button.count()) === 0) await opener.click();
    await button.click();
  }

  openPanel = (label: string): Promise<void> => this.choose(label, "More");

  /** Opens the drawer that shows how the board works. */
  async explain(): Promise<void> {
    await this.choose("How it works", "More");
    await this.page.locator(".drawer").waitFor();
  }

  /** Sends an emoji to everyone. */
  async react(emoji: string): Promise<void> {
    await this.page.getByRole("button", { name: "Reactions" }).click();
    await this.page.getByRole("button", { name: emoji }).click();
    await this.page.keyboard.press("Escape");
  }

  /** Pins a comment to what is at a point of the window, wherever and however large the panel shows it; its thread is open then. */
  async comment(text: string, x: number, y: number): Promise<void> {
    const [before, size] = [await this.#origin(), await this.zoom()];
    await this.openPanel("Comments");
    await this.page.getByRole("button", { name: "Add comment" }).click();
    const [after, zoom] = [await this.#origin(), await this.zoom()];
    const scale = zoom / size;
    await this.page.mouse.click(after.x + (x - before.x) * scale, after.y + (y - before.y) * scale);
    await this.page.getByRole("textbox", { name: "Comment" }).fill(text);
    await this.page.keyboard.press("Enter");
  }

  /** The left and the right edge of an element in the window. */
  async edgesOf(selector: string): Promise<{ readonly left: number; readonly right: number }> {
    const { x, width } = (await this.page.locator(selector).boundingBox()) ?? { x: 0, width: 0 };
    return { left: x, right: x + width };
  }

  notice = (text: string): Locator => this.page.getByRole("status").getByText(text);

  /** The position of a note or a cursor. */
  async placeOf(thing: Locator): Promise<Place> {
    const style = await thing.evaluate((element) => element.style.transform);
    const [, x, y] = /^translate\((-?\d+)px, (-?\d+)px\)$/.exec(style) ?? [];
    return { x: Number(x), y: Number(y) };
  }

  /** Waits until a note or a cursor reaches a position. */
  arrives = (thing: Locator, { x, y }: Place): Promise<void> =>
    eventually(`something is at ${x}, ${y}`, async () => {
      const place = await this.placeOf(thing);
      return place.x === x && place.y === y;
    });

  /** Moves the board by a distance in the window. */
  async pan(x: number, y: number): Promise<void> {
    await this.page.mouse.wheel(-x, -y);
  }

  /** Moves the mouse to a point of the window; returns the point of the board below it, at a zoom of 1. */
  async point(x: number, y: number): Promise<Place> {
    await this.page.mouse.move(x, y);
    const origin = await this.#origin();
    return { x: x - origin.x, y: y - origin.y };
  }

  /** Where the window shows the middle of the board. */
  #origin(): Promise<Place> {
    return this.page.locator(".sheet").evaluate((sheet) => {
      const { x, y } = sheet.getBoundingClientRect();
      return { x, y };
    });
  }

  /** How large the window shows the board. */
  zoom = (): Promise<number> =>
    this.page.locator("main").evaluate((main) => Number(main.style.getPropertyValue("--zoom")));

  /** Chooses a tool, and drags it from a point of the window to another. */
  async draw(
    tool: string,
    from: readonly [x: number, y: number],
    to: readonly [x: number, y: number],
  ): Promise<void> {
    await this.choose(tool, "Shapes");
    await this.drag(from, to);
  }

  /** Drags from a point of the window to another. */
  async drag(from: readonly [x: number, y: number], to: readonly [x: number, y: number]): Promise<void> {
    await this.page.mouse.move(...from);
    await this.page.mouse.down();
    await this.page.mouse.move(...to, { steps: 3 });
    await this.page.mouse.up();
  }

  /** Adds a note and writes its text. */
  async addNote(text: string): Promise<void> {
    await this.page.getByRole("button", { name: "Add note" }).click();
    await this.page.locator("textarea:focus").waitFor();
    await this.page.keyboard.type(text);
    await this.note(text).waitFor();
  }

  /** What can be done with the selected items. */
  get bar(): Locator {
    return this.page.getByRole("toolbar", { name: "Selection" });
  }

  /** Selects a note, and deletes it by the bar. */
  async deleteNote(text: string): Promise<void> {
    await this.note(text).focus();
    await this.bar.getByRole("button", { name: "Delete" }).click();
  }

  close(): Promise<void> {
    return this.page.context().close();
  }
}
