/** A person using the dashboard: their browser window, their organization, and the browser's errors and warnings. */
import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { eventually } from "../cli/processes.ts";
import { complaintsOf } from "./chromium.ts";

/**
 * What a browser logs for an expected error response, such as 401 for a person who is not signed in, and when the page of
 * a room is left before its socket is open.
 */
const EXPECTED =
  /^Failed to load resource: the server responded with a status of 4\d\d|\/socket\?refusal=close' failed: WebSocket is closed before the connection is established/;

export const PASSWORD = "correct horse battery";

export interface SignUp {
  readonly name: string;
  readonly email: string;
  readonly organization: string;
}

interface Answer<Data> {
  readonly data: Data;
  readonly error: Error | null;
}

interface Organizations {
  readonly organizations: readonly { readonly id: string }[];
}

/** The times that metrics can be of; the last one is chosen at first. */
const RANGES = [
  ["1h", "Last hour"],
  ["7d", "Last 7 days"],
  ["30d", "Last 30 days"],
  ["24h", "Last 24 hours"],
] as const;

let count = 0;

/** An email address that no one uses yet. */
export const newAddress = (): string => {
  count += 1;
  return `person-${process.pid}-${Date.now()}-${count}@example.com`;
};

export class Desk {
  readonly page: Page;
  readonly url: string;
  /** Errors and warnings; a violated Content-Security-Policy is one. */
  readonly complaints: string[];
  readonly requested: string[] = [];
  /** The organization created by signing up. */
  accountId = "";

  private constructor(page: Page, url: string) {
    this.page = page;
    this.url = url;
    this.complaints = complaintsOf(page, EXPECTED);
    page.on("request", (request) => this.requested.push(request.url()));
  }

  /** Opens a window without a sign-in session. */
  static async open(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Desk> {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      reducedMotion: "reduce",
      permissions: ["clipboard-read", "clipboard-write"],
      ...options,
    });
    return new Desk(await context.newPage(), url);
  }

  /** Opens a window and signs up, as the form does. */
  static async signedUp(
    browser: Browser,
    url: string,
    { name = "Ada", email = newAddress(), organization = "Boards" }: Partial<SignUp> = {},
    options: BrowserContextOptions = {},
  ): Promise<Desk> {
    const desk = await Desk.open(browser, url, options);
    await desk.go("/sign-in");
    desk.accountId = await desk.page.evaluate(
      async (body) => {
        const headers = { "Content-Type": "application/json" };
        const init = { method: "POST", headers, body: JSON.stringify(body) };
        const answer: Answer<Organizations> = await (await fetch("/dashboard/api/sign-up", init)).json();
        if (answer.error !== null) throw new Error(answer.error.message);
        return answer.data.organizations[0]?.id ?? "";
      },
      { name, email, organization, password: PASSWORD },
    );
    return desk;
  }

  /** Opens a page of the dashboard. */
  async go(path: string): Promise<void> {
    await this.page.goto(`${this.url}/dashboard${path}`);
  }

  /** Opens a page of the organization. */
  enter = (path = ""): Promise<void> => this.go(`/${this.accountId}${path}`);

  /** Calls the API with the sign-in cookie, as the page does. */
  ask<Data>(method: string, path: string, body?: object): Promise<Data> {
    return this.page.evaluate(
      async ([verb, address, content]) => {
        const headers = { "Content-Type": "application/json" };
        const init = content === null ? { method: verb } : { method: verb, headers, body: content };
        const answer: Answer<Data> = await (await fetch(address, init)).json();
        if (answer.error !== null) throw new Error(answer.error.message);
        return answer.data;
      },
      [method, `/v1/accounts/${this.accountId}${path}`, body ? JSON.stringify(body) : null] as const,
    );
  }

  /** Creates a room; returns its ID. */
  async createRoom(room: { readonly name: string; readonly customId?: string }): Promise<string> {
    return (await this.ask<{ room: { id: string } }>("POST", "/rooms", room)).room.id;
  }

  /** Chooses each time that metrics can be of, and hands the answer with them to `check`. */
  async chooseEachRange(
    metrics: Locator,
    check: (range: string, data: Readonly<Record<string, unknown>>) => Promise<void>,
  ): Promise<void> {
    for (const [range, label] of RANGES) {
      const answered = this.page.waitForResponse((response) => response.url().includes(`range=${range}`));
      await metrics.getByLabel("Time", { exact: true }).selectOption(label);
      await check(range, (await (await answered).json()).data);
    }
  }

  /** Waits until all bars together have these counts: a minute or an hour may end between two attempts. */
  async charts(metrics: Locator, counts: Readonly<Record<string, number>>): Promise<void> {
    const bars = metrics.locator(".strip-bars");
    const sums = async () => {
      const label = (await bars.getAttribute("aria-label")) ?? "";
      const sumOf = (what: string) =>
        [...label.matchAll(new RegExp(`(\\d+) ${what}`, "g"))].reduce(
          (sum, [, count]) => sum + Number(count),
          0,
        );
      return Object.fromEntries(Object.keys(counts).map((what) => [what, sumOf(what)]));
    };
    await expect.poll(sums).toEqual(counts);
  }

  button = (name: string): Locator => this.page.getByRole("button", { name, exact: true });

  /** Chooses from the menu of further actions. */
  async choose(item: string): Promise<void> {
    await this.button("More actions").click();
    await this.page.getByRole("menuitem", { name: item, exact: true }).click();
  }

  link = (name: string): Locator => this.page.getByRole("link", { name, exact: true });

  heading = (name: string): Locator => this.page.getByRole("heading", { name, exact: true });

  field = (name: string): Locator => this.page.getByLabel(name, { exact: true });

  dialog = (): Locator => this.page.locator(".dialog");

  /** A table row that contains the text. */
  row = (text: string): Locator => this.page.getByRole("row").filter({ hasText: text });

  toast = (text: string): Locator => this.page.locator(".toast", { hasText: text });

  /** Takes an action back by the button of its latest toast. */
  undo = (text: string): Promise<void> =>
    this.toast(text).last().getByRole("button", { name: "Undo" }).click();

  /** Presses the button that copies this, and returns what arrives in the clipboard. */
  async copy(what: string): Promise<string> {
    await this.page.evaluate(() => navigator.clipboard.writeText(""));
    await this.button(`Copy ${what}`).click();
    let copied = "";
    await eventually("the clipboard to be written", async () => {
      copied = await this.page.evaluate(() => navigator.clipboard.readText());
      return copied !== "";
    });
    return copied;
  }

  close = (): Promise<void> => this.page.context().close();
}
