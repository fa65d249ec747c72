/** A visitor of the demo: a browser window, the positions on its board, and the browser's errors and warnings. */
import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { eventually } from "../node/processes.ts";

/** What a browser logs while the service is down, which is not the page's fault. */
export const AWAY = /^WebSocket connection to '\S+' failed|net::ERR_CONNECTION_REFUSED/;

/** A point on the board. */
export interface Place {
  readonly x: number;
  readonly y: number;
}

export interface VisitOptions extends BrowserContextOptions {
  /** Replaces the service's script. */
  readonly script?: string;
}

export class Visitor {
  readonly page: Page;
  /** Errors and warnings; a violated Content-Security-Policy is one. */
  readonly complaints: string[] = [];
  readonly requested: string[] = [];

  private constructor(page: Page) {
    this.page = page;
    page.on("console", (message) => {
      const isGrave = message.type() === "error" || message.type() === "warning";
      if (isGrave && !AWAY.test(message.text())) this.complaints.push(message.text());
    });
    page.on("pageerror", (error) => this.complaints.push(String(error)));
    page.on("request", (request) => this.requested.push(request.url()));
  }

  /** Opens a window and waits until its visitor has joined the room. */
  static async open(
    browser: Browser,
    url: string,
    name: string,
    { script, ...options }: VisitOptions = {},
  ): Promise<Visitor> {
    const context = await browser.newContext({
      viewport: { width: 1200, height: 800 },
      reducedMotion: "reduce",
      ...options,
    });
    const visitor = new Visitor(await context.newPage());
    if (script !== undefined) {
      await visitor.page.route("**/demo/app.js", (route) =>
        route.fulfill({ body: script, contentType: "text/javascript" }),
      );
    }
    await visitor.page.goto(`${url}/demo?name=${encodeURIComponent(name)}`);
    await visitor.page.getByText(`You are ${name}`).waitFor();
    return visitor;
  }

  /** Another participant. */
  other = (name: string): Locator => this.page.getByRole("button", { name: `Follow ${name}` });

  cursor = (name: string): Locator => this.page.locator(".cursor", { hasText: name });

  note = (text: string): Locator => this.page.locator(`article[aria-label="Note: ${text}"]`);

  comment = (text: string): Locator => this.page.locator("details li", { hasText: text });

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

  scrollTo = ({ x, y }: Place): Promise<void> =>
    this.page.locator("main").evaluate((main, place) => main.scrollTo(place.x, place.y), { x, y });

  /** Moves the mouse to a point of the window; returns the point of the board below it. */
  async point(x: number, y: number): Promise<Place> {
    await this.page.mouse.move(x, y);
    const sheet = await this.page.locator(".sheet").boundingBox();
    return { x: x - (sheet?.x ?? 0), y: y - (sheet?.y ?? 0) };
  }

  /** Adds a note and writes its text. */
  async addNote(text: string): Promise<void> {
    await this.page.getByRole("button", { name: "Add note" }).click();
    await this.page.locator("textarea:focus").waitFor();
    await this.page.keyboard.type(text);
    await this.note(text).waitFor();
  }

  close(): Promise<void> {
    return this.page.context().close();
  }
}
