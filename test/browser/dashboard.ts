/** Somebody at the dashboard: a window of their own, their organization, and what their browser complains of. */
import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";

/** What a browser says of an answer that the page expects: nobody is signed in, or the service says no. */
const EXPECTED = /^Failed to load resource: the server responded with a status of 4\d\d/;

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

let count = 0;

/** Nobody has been there under this address yet. */
export const newAddress = (): string => {
  count += 1;
  return `person-${process.pid}-${Date.now()}-${count}@example.com`;
};

export class Desk {
  readonly page: Page;
  readonly url: string;
  /** Errors and warnings; a violated Content-Security-Policy is one. */
  readonly complaints: string[] = [];
  readonly requested: string[] = [];
  /** Of the organization that was made when signing up. */
  accountId = "";

  private constructor(page: Page, url: string) {
    this.page = page;
    this.url = url;
    page.on("console", (message) => {
      const isGrave = message.type() === "error" || message.type() === "warning";
      if (isGrave && !EXPECTED.test(message.text())) this.complaints.push(message.text());
    });
    page.on("pageerror", (error) => this.complaints.push(String(error)));
    page.on("request", (request) => this.requested.push(request.url()));
  }

  /** Opens a window in which nobody is signed in. */
  static async open(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Desk> {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      reducedMotion: "reduce",
      permissions: ["clipboard-read", "clipboard-write"],
      ...options,
    });
    return new Desk(await context.newPage(), url);
  }

  /** Opens a window, and signs up there as the form does. */
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

  /** Goes to a page of the dashboard. */
  async go(path: string): Promise<void> {
    await this.page.goto(`${this.url}/dashboard${path}`);
  }

  /** Goes to a page of the organization. */
  enter = (path = ""): Promise<void> => this.go(`/${this.accountId}${path}`);

  /** Makes something by REST as the page itself would: by the cookie. */
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

  button = (name: string): Locator => this.page.getByRole("button", { name, exact: true });

  link = (name: string): Locator => this.page.getByRole("link", { name, exact: true });

  heading = (name: string): Locator => this.page.getByRole("heading", { name, exact: true });

  field = (name: string): Locator => this.page.getByLabel(name, { exact: true });

  dialog = (): Locator => this.page.locator("[role=dialog], [role=alertdialog]");

  /** A row of a table, by text that stands in it. */
  row = (text: string): Locator => this.page.getByRole("row").filter({ hasText: text });

  notice = (text: string): Locator => this.page.locator(".notice", { hasText: text });

  /** What was put on the clipboard last. */
  copied = (): Promise<string> => this.page.evaluate(() => navigator.clipboard.readText());

  close = (): Promise<void> => this.page.context().close();
}
