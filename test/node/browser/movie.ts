/** The moving picture of the README: two windows on one board, frame by frame. Debian's `img2webp` (package webp) encodes it. */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { pictureOf, showBeside, type Window } from "./beside.ts";
import { Visitor } from "./visitor.ts";

/** Wide enough for the board's desktop layout. */
const WINDOW = { width: 1100, height: 700 };
const PICTURE = { width: 1060, height: 392 };
const FRAME_MS = 110;
const LAST_FRAME_MS = 2_000;
const STEPS = 6;

type Point = readonly [x: number, y: number];

/** The frames that were recorded. */
class Recording {
  readonly frames: Window[][] = [];
  readonly #windows: readonly (readonly [title: string, page: Page])[];

  constructor(...windows: (readonly [title: string, page: Page])[]) {
    this.#windows = windows;
  }

  async frame(): Promise<void> {
    this.frames.push(await Promise.all(this.#windows.map(([title, page]) => pictureOf(title, page))));
  }

  /** Moves a pointer in steps, each of them a frame. */
  async glide(page: Page, [x, y]: Point, [toX, toY]: Point, steps = STEPS): Promise<void> {
    for (let step = 1; step <= steps; step++) {
      const share = step / steps;
      const eased = share * share * (3 - 2 * share);
      await page.mouse.move(x + (toX - x) * eased, y + (toY - y) * eased);
      await this.frame();
    }
  }

  async drag(page: Page, from: Point, to: Point, steps = STEPS): Promise<void> {
    await page.mouse.down();
    await this.glide(page, from, to, steps);
    await page.mouse.up();
    await this.frame();
  }
}

/** Records what Ada and Bo do on a board, and writes it to a file. */
export async function takeMovie(browser: Browser, url: string, file: string): Promise<void> {
  const look = { viewport: WINDOW, room: "movie", reducedMotion: "no-preference" } as const;
  const [ada, bo] = await Promise.all([
    Visitor.open(browser, url, "Ada", look),
    Visitor.open(browser, url, "Bo", look),
  ]);
  await Promise.all([ada.other("Bo").waitFor(), bo.other("Ada").waitFor()]);
  for (const { page } of [ada, bo]) {
    const close = page.getByRole("button", { name: "Close the invitation" });
    if (await close.isVisible()) await close.click();
  }
  const recording = new Recording(["Ada's window", ada.page], ["Bo's window", bo.page]);
  await play(recording, ada, bo);
  await Promise.all([ada.close(), bo.close()]);
  await encode(browser, recording.frames, file);
}

async function play(recording: Recording, ada: Visitor, bo: Visitor): Promise<void> {
  const [adaRests, boRests, written]: readonly [Point, Point, Point] = [
    [560, 600],
    [880, 570],
    [190, 470],
  ];
  await ada.page.mouse.move(...adaRests);
  await bo.page.mouse.move(...boRests);
  await recording.frame();
  await recording.glide(ada.page, adaRests, written);
  await ada.page.mouse.dblclick(...written);
  await ada.page.locator("textarea:focus").waitFor();
  for (const part of ["Launch", " on", " Friday?"]) {
    await ada.page.keyboard.type(part);
    await recording.frame();
  }
  await ada.page.locator("textarea:focus").blur();
  const note = bo.note("Launch on Friday?");
  await note.waitFor();
  const paper = await note.boundingBox();
  const grasp: Point = [(paper?.x ?? 0) + (paper?.width ?? 0) / 2, (paper?.y ?? 0) + 90];
  await recording.glide(bo.page, boRests, grasp);
  await recording.drag(bo.page, grasp, [985, 440], 8);
  await ada.page.getByRole("button", { name: "Arrow", exact: true }).click();
  const [from, to]: readonly [Point, Point] = [
    [740, 620],
    [870, 560],
  ];
  await recording.glide(ada.page, written, from);
  await recording.drag(ada.page, from, to, 5);
  await bo.react("❤️");
  for (let frame = 0; frame < 5; frame++) await recording.frame();
}

async function encode(browser: Browser, frames: readonly Window[][], file: string): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), "atrium-movie-"));
  try {
    const page = await browser.newPage({ viewport: PICTURE });
    const pictures: string[] = [];
    for (const [index, windows] of frames.entries()) {
      await page.setContent(showBeside(windows));
      const picture = path.join(directory, `${index}.png`);
      await page.screenshot({ path: picture });
      pictures.push(picture);
    }
    await page.close();
    const timed = pictures.flatMap((picture, index) => [
      ...["-lossy", "-q", "75", "-m", "6"],
      ...["-d", String(index === pictures.length - 1 ? LAST_FRAME_MS : FRAME_MS), picture],
    ]);
    await promisify(execFile)("img2webp", ["-loop", "0", "-mixed", ...timed, "-o", file]);
  } finally {
    await rm(directory, { recursive: true });
  }
}
