/** The board bench: how smoothly the demo's page shows the cursors of many participants. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Browser, CDPSession, Page } from "playwright-core";
import { bundleDemo } from "../../../src/cli/bundle/demo-bundle.ts";
import { launchChromium } from "../browser/chromium.ts";
import type { Crowd } from "./board/crowd.ts";
import { Organization } from "./organization.ts";
import { inTurns, type Measured, medianOf } from "./room/turns.ts";
import type { Bench, BenchOptions, BenchReport } from "./run.ts";
import { type Served, serving } from "./serve.ts";
import { ADVICE, count, ratio, table, verdict } from "./table.ts";

const SUBJECTS = [2, 200].map((participants) => ({ name: `${participants} participants`, participants }));
const VIEWPORT = { width: 1280, height: 800 };
/** A frame that took longer missed a refresh of the display, with some leave for the browser's timer. */
const SMOOTH_MS = 20;
/** A quarter of a frame, of 16.7 ms: styles, layers and painting need the rest. */
const GOAL_MS = 4;

interface Smoothness {
  readonly framesPerS: number;
  /** The share of frames within {@link SMOOTH_MS} of the one before. */
  readonly smooth: number;
  readonly p95Ms: number;
  /** Script time per shown frame. */
  readonly scriptMs: number;
  /** The main thread's time in a second: scripts alone, and with styles, layout and painting. */
  readonly scriptMsPerS: number;
  readonly mainThreadMsPerS: number;
  readonly cursors: number;
}

export const bench: Bench = { parts: [], run };

async function run(options: BenchOptions): Promise<BenchReport> {
  const directory = await mkdtemp(path.join(tmpdir(), "atrium-board-"));
  try {
    await bundleDemo({ outdir: directory });
    return await serving(["atrium"], options.stop, async ({ origin, db }: Served) => {
      const organization = await Organization.create(db, origin("atrium"));
      const browser = await launchChromium();
      try {
        const measured = await inTurns(SUBJECTS, options, ({ participants }, seconds) =>
          measure({ organization, browser, directory, origin: origin("atrium") }, participants, seconds),
        );
        return describe(measured);
      } finally {
        await browser.close();
      }
    });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

interface Stage {
  readonly organization: Organization;
  readonly browser: Browser;
  /** Folder of the page's files. */
  readonly directory: string;
  readonly origin: string;
}

async function measure(stage: Stage, participants: number, seconds: number): Promise<Smoothness> {
  const { organization, browser, directory, origin } = stage;
  const roomId = await organization.createRoom("A busy board");
  const others: string[] = [];
  for (let user = 1; user < participants; user += 1)
    others.push(await organization.createUser(`User ${user}`, roomId));
  const own = await organization.identify("User 0", roomId);
  const crowd = fork(path.join(import.meta.dirname, "board/crowd.ts"));
  const context = await browser.newContext({ viewport: VIEWPORT, permissions: ["local-network-access"] });
  try {
    const isMoving = once(crowd, "message");
    crowd.send({ serverUrl: origin, tokens: others } satisfies Crowd);
    await isMoving;
    await context.addInitScript((token) => sessionStorage.setItem("token:busy", token), own);
    const page = await context.newPage();
    await page.route(/\/demo(\/|\?|$)/, (route) => {
      const { pathname } = new URL(route.request().url());
      return route.fulfill({ path: path.join(directory, pathname === "/demo" ? "demo.html" : pathname) });
    });
    await page.goto(`${origin}/demo?room=busy`);
    await page.waitForFunction(
      (all) => document.querySelectorAll(".atrium-cursor").length === all,
      others.length,
    );
    return await watch(page, seconds);
  } finally {
    await context.close();
    crowd.kill();
  }
}

async function watch(page: Page, seconds: number): Promise<Smoothness> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const before = await metricsOf(session);
  const frames = await page.evaluate(
    (forMs) =>
      new Promise<number[]>((resolve) => {
        const times: number[] = [];
        const frame = (now: number) => {
          times.push(now);
          if (now - (times[0] ?? now) < forMs) requestAnimationFrame(frame);
          else resolve(times.slice(1).map((time, index) => time - (times[index] ?? time)));
        };
        requestAnimationFrame(frame);
      }),
    seconds * 1_000,
  );
  const after = await metricsOf(session);
  const elapsedS = frames.reduce((sum, ms) => sum + ms, 0) / 1_000;
  const perS = (name: string) => (((after.get(name) ?? 0) - (before.get(name) ?? 0)) * 1_000) / elapsedS;
  return {
    framesPerS: frames.length / elapsedS,
    smooth: frames.filter((ms) => ms <= SMOOTH_MS).length / frames.length,
    p95Ms: frames.toSorted((a, b) => a - b)[Math.floor(frames.length * 0.95)] ?? Number.NaN,
    scriptMs: (perS("ScriptDuration") * elapsedS) / frames.length,
    scriptMsPerS: perS("ScriptDuration"),
    mainThreadMsPerS: perS("TaskDuration"),
    cursors: await page.locator(".atrium-cursor:visible").count(),
  };
}

async function metricsOf(session: CDPSession): Promise<ReadonlyMap<string, number>> {
  const { metrics } = await session.send("Performance.getMetrics");
  return new Map(metrics.map(({ name, value }) => [name, value]));
}

function describe(measured: readonly Measured<Smoothness>[]): BenchReport {
  const figures = measured.map(({ name, runs }) => ({
    name,
    framesPerS: medianOf(runs, (run) => run.framesPerS),
    smooth: medianOf(runs, (run) => run.smooth),
    p95Ms: medianOf(runs, (run) => run.p95Ms),
    scriptMs: medianOf(runs, (run) => run.scriptMs),
    scriptMsPerS: medianOf(runs, (run) => run.scriptMsPerS),
    mainThreadMsPerS: medianOf(runs, (run) => run.mainThreadMsPerS),
    cursors: medianOf(runs, (run) => run.cursors),
  }));
  const [few] = figures;
  const rows = figures.map((each) => [
    each.name,
    count(each.cursors),
    count(each.framesPerS),
    `${(each.smooth * 100).toFixed(0)} %`,
    each.p95Ms.toFixed(1),
    ratio(each.p95Ms / (few?.p95Ms ?? Number.NaN)),
    each.scriptMs.toFixed(2),
    count(each.scriptMsPerS),
    count(each.mainThreadMsPerS),
    `script ≤ ${GOAL_MS} ms: ${verdict(each.scriptMs <= GOAL_MS)}`,
  ]);
  const head = [
    "the demo's page, with",
    "cursors in view",
    "frames/s",
    `within ${SMOOTH_MS} ms`,
    "p95 frame ms",
    "of the first row",
    "script ms/frame",
    "script ms/s",
    "main thread ms/s",
    "goal",
  ];
  return { markdown: [table(head, rows), ADVICE].join("\n\n"), raw: { measured } };
}
