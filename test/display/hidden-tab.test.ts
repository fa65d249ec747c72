/** A tab that is hidden while the browser throttles its timers, for as long as `npm run endurance -- --hidden-tab` says. */

import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, inject, it } from "vitest";
import { AtriumClient } from "../../src/sdk/client/index.ts";
import type { Event } from "../../src/wire/events.ts";
import { ARGUMENTS, EXECUTABLE } from "../browser/chromium.ts";
import { ClientSite } from "../browser/client-site.ts";
import { eventually, killTree } from "../cli/processes.ts";
import { sharedService } from "../cli/shared-service.ts";
import { BreakableProxy } from "../sdk/proxy.ts";
import { Customer } from "../stories/client.ts";
import { HIDDEN_PAGE, REPORTS, type Report } from "./hidden-page.ts";
import { openScreen, type Screen } from "./screen.ts";

const WINDOW_ARGUMENTS = [
  ...ARGUMENTS,
  "--no-default-browser-check",
  "--password-store=basic",
  "--remote-debugging-port=0",
  // As after five minutes by default: the timers of a page that is hidden run once a minute.
  "--enable-features=IntensiveWakeUpThrottling:grace_period_seconds/10",
];
const STARTED = /^DevTools listening on ws:\/\/([^/]+)\//m;

class BrowserWindow {
  /** Host and port at which it takes commands. */
  readonly #control: string;
  readonly #end: () => Promise<void>;

  private constructor(control: string, end: () => Promise<void>) {
    this.#control = control;
    this.#end = end;
  }

  /** Opens a window whose only tab shows the page. */
  static async open(screen: Screen, url: string): Promise<BrowserWindow> {
    const profile = await mkdtemp(path.join(tmpdir(), "atrium-window-"));
    const env = { ...process.env, DISPLAY: screen.name };
    const args = [...WINDOW_ARGUMENTS, `--user-data-dir=${profile}`, url];
    const child = spawn(EXECUTABLE, args, { env, stdio: ["ignore", "ignore", "pipe"] });
    let output = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    const end = async () => {
      await killTree(child.pid ?? 0);
      await rm(profile, { recursive: true, force: true });
    };
    try {
      await eventually("the window to open", () => child.exitCode !== null || STARTED.test(output));
      const [, control] = STARTED.exec(output) ?? [];
      if (control === undefined) throw new Error("Chromium has ended");
      return new BrowserWindow(control, end);
    } catch (error) {
      await end();
      throw new Error(output, { cause: error });
    }
  }

  /** Opens another tab in front. */
  async openTab(url: string): Promise<void> {
    const { ok } = await fetch(`http://${this.#control}/json/new?${url}`, { method: "PUT" });
    if (!ok) throw new Error("The tab could not be opened");
  }

  close(): Promise<void> {
    return this.#end();
  }
}

const { hiddenMinutes } = inject("endurance");
/** Throttled timers of one page run this far apart at least; without throttling, the page ticks each second. */
const THROTTLED_MS = 50_000;
/** For the browser to begin with it, and for each further minute. */
const LIMIT_MS = 300_000 + hiddenMinutes * 120_000;

const reports: Report[] = [];
let browser: BrowserWindow | undefined;

const service = await sharedService();
const proxy = await BreakableProxy.before(service);
const site = await ClientSite.start(HIDDEN_PAGE, (to, body) => {
  if (to === REPORTS) reports.push(JSON.parse(body) as Report);
});
const screen = await openScreen();

afterAll(async () => {
  await browser?.close();
  await screen.close();
  await site.stop();
  await proxy.close();
});

/** When a page's timer ran, in milliseconds since the page began. */
const ticksOf = (from: Report["from"]): number[] =>
  reports.filter((report) => report.from === from && report.event === "ticked").map(({ at }) => at);

/** The milliseconds between two runs of a page's timer. */
const pausesOf = (from: Report["from"]): number[] =>
  ticksOf(from).flatMap((at, index, all) => (index === 0 ? [] : [at - (all[index - 1] ?? 0)]));

const haveBoth = (event: Report["event"], data: unknown = null): boolean =>
  (["tab", "frame"] as const).every((from) =>
    reports.some((report) => report.from === from && report.event === event && report.data === data),
  );

/** What has begun or ended a user's presence so far. */
async function attendance(customer: Customer): Promise<string[]> {
  const { data } = await customer.send<{ events: Event[] }>("GET", "/events?limit=100");
  return data.events.map(({ event }) => event).filter((event) => /^(participant|session)\./.test(event));
}

it(
  "a hidden tab, and another site's frame in it, stay connected: no one sees them leave, and messages arrive",
  async () => {
    const customer = new Customer(service, service);
    const { id: roomId } = await customer.createRoom();
    const [tab, frame, other] = await Promise.all(
      ["Ada", "Ben", "Cleo"].map(async (name) => (await customer.createUser(roomId, name)).token),
    );
    const addressOf = (base: string, parameters: Record<string, string>) =>
      `${base}/?${new URLSearchParams({ serverUrl: proxy.url, ...parameters })}`;
    const inFrame = addressOf(site.url.replace("localhost", "127.0.0.1"), {
      from: "frame",
      authToken: `${frame}`,
    });
    const witness = new AtriumClient({ serverUrl: service.url, authToken: `${other}` });
    const seen: string[] = [];
    try {
      await witness.join();
      browser = await BrowserWindow.open(
        screen,
        addressOf(site.url, { from: "tab", authToken: `${tab}`, frame: inFrame }),
      );
      await eventually("all to join", () => haveBoth("joined") && witness.users.online.size === 3);
      await eventually("their joins to be in the log", async () => (await attendance(customer)).length === 4);
      for (const event of ["userJoined", "userLeft"] as const)
        witness.users.on(event, () => seen.push(event));
      await browser.openTab("about:blank");
      await eventually("the tab to be hidden", () => haveBoth("hidden"));
      const isThrottled = (from: Report["from"]) => (pausesOf(from).at(-1) ?? 0) > THROTTLED_MS;
      await eventually(
        "the browser to throttle it",
        () => isThrottled("tab") && isThrottled("frame"),
        LIMIT_MS,
      );
      const before = { tab: pausesOf("tab").length, frame: pausesOf("frame").length };

      const messages: number[] = [];
      for (let minute = 1; minute <= hiddenMinutes; minute += 1) {
        const ran = () => ticksOf("tab").length > before.tab + minute;
        await eventually("the next minute", ran, LIMIT_MS);
        // Until then, nothing but pings says that they are there.
        if (minute <= hiddenMinutes / 2) continue;
        messages.push(minute);
        await witness.notifications.broadcast("minute", minute);
        await eventually("the message to arrive", () => haveBoth("received", minute));
      }

      for (const from of ["tab", "frame"] as const) {
        const pauses = pausesOf(from).slice(before[from]);
        const seconds = pauses.map((ms) => (ms / 1000).toFixed(1)).join(", ");
        console.log(
          `The timers of the ${from} ran ${pauses.length} times, after ${seconds} s; ${messages.length} messages arrived`,
        );
        expect(pauses.filter((ms) => ms < THROTTLED_MS)).toEqual([]);
      }
      const unexpected = reports.filter(({ event }) => /^(shown|reconnecting|reconnected)$/.test(event));
      expect([unexpected, seen]).toEqual([[], []]);

      // As a deploy does. Who is back within the grace has never been away, and that is seen a minute later.
      proxy.cut();
      await eventually("both to be back", () => haveBoth("reconnected"));
      const ran = ticksOf("tab").length;
      await eventually("the next minute", () => ticksOf("tab").length > ran, LIMIT_MS);
      expect(seen).toEqual([]);
      expect(await attendance(customer)).toHaveLength(4);
    } finally {
      witness.disconnect();
    }
  },
  LIMIT_MS,
);
