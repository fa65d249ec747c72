/** A tab that is hidden while the browser throttles its timers, for as long as `npm run dev -- endurance --hidden-tab` says. */

import type { Event } from "@atrium/contract/resources/events.ts";
import { AtriumClient } from "atrium/client";
import { afterAll, expect, inject, it } from "vitest";
import { BrowserWindow } from "../browser/browser-window.ts";
import { ClientSite } from "../browser/client-site.ts";
import { eventually } from "../cli/processes.ts";
import { sharedService } from "../cli/shared-service.ts";
import { BreakableProxy } from "../sdk/proxy.ts";
import { Customer } from "../stories/client.ts";
import { HIDDEN_PAGE, REPORTS, type Report } from "./hidden-page.ts";
import { openScreen } from "./screen.ts";

/** Shortens the browser's default of five minutes, after which a hidden page's timers run once a minute. */
const THROTTLING = "--enable-features=IntensiveWakeUpThrottling:grace_period_seconds/10";

const { hiddenMinutes } = inject("endurance");
/** Throttled timers of one page run this far apart at least; without throttling, the page ticks each second. */
const THROTTLED_MS = 50_000;
/** Limit for the start of throttling, and for each further minute. */
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

/** Events so far that began or ended a user's presence. */
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
        addressOf(site.url, { from: "tab", authToken: `${tab}`, frame: inFrame }),
        [THROTTLING],
        { DISPLAY: screen.name },
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
        // Pings alone show that they are there until then.
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

      // A cut as in a deployment. Users who return within the grace period never left, which shows a minute later.
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
