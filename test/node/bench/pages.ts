/** The pages bench: bytes and times of a first visit of the documentation, the dashboard and the demo. */
import { gzipSync } from "node:zlib";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { launchChromium } from "../browser/chromium.ts";
import { Desk } from "../browser/dashboard.ts";
import { startService } from "../cli/service.ts";
import type { Bench, BenchOptions, BenchReport } from "./run.ts";
import { count, ratio, table } from "./table.ts";

/** A middling phone on a slow network, as Lighthouse simulates it. */
const CPU_SLOWDOWN = 4;
const NETWORK = { offline: false, latency: 150, downloadThroughput: 204_800, uploadThroughput: 96_000 };

/** Addresses by name. The floor is a page of one line, without a script. */
const ADDRESSES = {
  floor: "/health",
  documentation: "/docs",
  guide: "/docs/guides/react",
  reference: "/docs/reference/createRoom",
  dashboard: "/dashboard",
  demo: "/demo",
} as const;
type Name = keyof typeof ADDRESSES;
const NAMES = Object.keys(ADDRESSES) as Name[];

export const bench: Bench = { parts: NAMES.slice(1), run };

interface Visit {
  /** Compressed bytes of the scripts that the visit loads, and of everything. */
  readonly scriptBytes: number;
  readonly bytes: number;
  /** Milliseconds until the largest part of the page shows. */
  readonly shownMs: number;
}

async function run({ runs, parts, stop, progress }: BenchOptions): Promise<BenchReport> {
  const service = await startService();
  const browser = await launchChromium();
  try {
    const desk = await Desk.signedUp(browser, service.url);
    const session = await desk.page.context().storageState();
    const names = NAMES.filter((name) => name === "floor" || parts.length === 0 || parts.includes(name));
    const visits = new Map<Name, Visit[]>(names.map((name) => [name, []]));
    for (let each = 0; each < runs; each++) {
      progress(`run ${each + 1} of ${runs}`);
      for (const [name, done] of visits) {
        stop.throwIfAborted();
        done.push(await visit(browser, service.url + ADDRESSES[name], session));
      }
    }
    return { markdown: presentVisits(visits), raw: Object.fromEntries(visits) };
  } finally {
    await browser.close();
    await service.stop();
  }
}

type Session = Awaited<ReturnType<BrowserContext["storageState"]>>;

async function visit(browser: Browser, url: string, storageState: Session): Promise<Visit> {
  const context = await browser.newContext({ storageState, viewport: { width: 412, height: 823 } });
  try {
    const page = await context.newPage();
    await throttle(page);
    const loaded: Promise<{ readonly isScript: boolean; readonly bytes: number }>[] = [];
    page.on("response", (response) => {
      const isScript = response.request().resourceType() === "script";
      const compressed = response.body().then((body) => gzipSync(body).length);
      loaded.push(compressed.catch(() => 0).then((bytes) => ({ isScript, bytes })));
    });
    await page.goto(url, { waitUntil: "networkidle" });
    const shownMs = await largestPaint(page);
    const files = await Promise.all(loaded);
    const sum = (some: typeof files) => some.reduce((total, { bytes }) => total + bytes, 0);
    return { scriptBytes: sum(files.filter(({ isScript }) => isScript)), bytes: sum(files), shownMs };
  } finally {
    await context.close();
  }
}

async function throttle(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", NETWORK);
  await session.send("Emulation.setCPUThrottlingRate", { rate: CPU_SLOWDOWN });
}

const largestPaint = (page: Page): Promise<number> =>
  page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const observer = new PerformanceObserver((list) => resolve(list.getEntries().at(-1)?.startTime ?? 0));
        observer.observe({ type: "largest-contentful-paint", buffered: true });
      }),
  );

function presentVisits(visits: ReadonlyMap<Name, readonly Visit[]>): string {
  const middle = (name: Name, field: keyof Visit): number => {
    const values = (visits.get(name) ?? []).map((each) => each[field]).toSorted((one, other) => one - other);
    return values[Math.floor(values.length / 2)] ?? 0;
  };
  const rows = [...visits.keys()].map((name) => [
    `${name} (\`${ADDRESSES[name]}\`)`,
    count(middle(name, "scriptBytes") / 1024),
    count(middle(name, "bytes") / 1024),
    count(middle(name, "shownMs")),
    ratio(middle(name, "shownMs") / middle("floor", "shownMs")),
  ]);
  const head = [
    "First visit",
    "Script, gzip (KiB)",
    "All, gzip (KiB)",
    "Largest paint (ms)",
    "Of the floor's",
  ];
  return table(head, rows);
}
