/** The board of the demo as two people use it in two browsers: what the window of each shows is what the store has. */
import { AtriumServer } from "atrium/server";
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeEach, expect, it } from "vitest";
import { readNote, readShape } from "../../../examples/demo/room/model.ts";
import { pathOf } from "../../../examples/demo/room/shape.ts";
import { eventually } from "../cli/processes.ts";
import { startBoards } from "./boards.ts";
import { launchChromium } from "./chromium.ts";
import { Visitor } from "./visitor.ts";

const service = await startBoards();
const { url: serverUrl, accountId, apiKey } = service;
const atrium = new AtriumServer({ serverUrl, accountId, apiKey });
const browsers = [await launchChromium(), await launchChromium()] as const;

/** Names the board of Ada and Bo. */
let room: string;
let ada: Visitor;
let bo: Visitor;

afterAll(async () => {
  for (const browser of browsers) await browser.close();
  await service.kill();
});
beforeEach(async () => {
  room = crypto.randomUUID().slice(0, 8);
  const open = (name: string, browser: Browser) => Visitor.open(browser, serverUrl, name, { room });
  [ada, bo] = [await open("Ada", browsers[0]), await open("Bo", browsers[1])];
  await expectSame(4, 9);
});
afterEach(() => Promise.all([ada.close(), bo.close()]));

/** The notes and shapes of a board, from the back to the front. */
interface Board {
  readonly notes: readonly string[];
  readonly shapes: readonly string[];
}

const shownIn = ({ page }: Visitor): Promise<Board> =>
  page.evaluate(() => ({
    notes: [...document.querySelectorAll<HTMLElement>(".note")]
      .sort((one, other) => Number(one.style.zIndex) - Number(other.style.zIndex))
      .map((note) => `${note.style.transform} ${note.querySelector("textarea")?.value}`),
    shapes: [...document.querySelectorAll(".shapes path")].map(
      (path) => `${path.getAttribute("d")} ${path.getAttribute("transform") ?? ""}`,
    ),
  }));

async function stored(): Promise<Board> {
  const { room: found } = await atrium.rooms.getByCustomId(`demo:${room}`);
  const valuesOf = async (store: string) => {
    const { entries } = await atrium.stores.getAll(found.id, store);
    return Object.entries(entries)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([, { value }]) => value);
  };
  return {
    notes: (await valuesOf("notes"))
      .map(readNote)
      .sort((one, other) => one.front - other.front)
      .map(({ x, y, text }) => `translate(${x}px, ${y}px) ${text}`),
    shapes: (await valuesOf("shapes")).flatMap((value) => {
      const shape = readShape(value);
      return shape === null ? [] : `${pathOf(shape)} `;
    }),
  };
}

/** Waits until the window of each shows these numbers of notes and shapes, and just as the store has them. */
const expectSame = (notes: number, shapes: number): Promise<void> =>
  eventually(`both see ${notes} notes and ${shapes} shapes`, async () => {
    const [hers, his, kept] = [await shownIn(ada), await shownIn(bo), await stored()];
    const isSame = [hers, his].every((shown) => JSON.stringify(shown) === JSON.stringify(kept));
    return isSame && kept.notes.length === notes && kept.shapes.length === shapes;
  });

it("shows what both draw, write and move, and what each of them undoes", async () => {
  await ada.draw("Pen", [700, 600], [760, 640]);
  await bo.draw("Oval", [500, 600], [560, 640]);
  await ada.addNote("Milk");
  await bo.note("Milk").waitFor();
  await bo.page.keyboard.press("v");
  await bo.drag([530, 600], [560, 660]);
  await expectSame(5, 11);
  await ada.page.keyboard.press("Escape");
  for (const [notes, shapes] of [
    [5, 11], // without its text
    [4, 11],
    [4, 10],
  ] as const) {
    await ada.page.getByRole("button", { name: "Undo" }).click();
    await expectSame(notes, shapes);
  }
});

it("moves two hundred things by one gesture, which one undo takes back", async () => {
  const { page } = ada;
  await page.keyboard.press("Control+a");
  for (let copies = 0; copies < 4; copies += 1) {
    await page.keyboard.press("Control+d");
    await page.keyboard.press("Control+a");
  }
  await expectSame(64, 144);
  const before = await shownIn(bo);
  await ada.drag([600, 500], [700, 450]);
  await eventually("Bo sees all of them elsewhere", async () => {
    const now = await shownIn(bo);
    return now.notes.every((note, index) => note !== before.notes[index]);
  });
  await expectSame(64, 144);
  await page.keyboard.press("Control+z");
  await expectSame(64, 144);
  expect(await shownIn(bo)).toEqual(before);
});

it("shows in the drawer what is sent, also when the developer tools close that were opened before it", async () => {
  const { page } = ada;
  await ada.openPanel("Developer tools");
  await page.locator("atrium-devtools").waitFor();
  await ada.explain();
  await ada.openPanel("Developer tools");
  await page.locator("atrium-devtools").waitFor({ state: "detached" });
  await ada.draw("Pen", [300, 460], [340, 500]);
  await page.locator(".wire [data-sent=true]").filter({ hasText: "You wrote shapes/" }).waitFor();
});

it("stays in view beside the drawer and a panel, and comes back when they close", async () => {
  const { page } = ada;
  const isIn = (right: number, bottom: number) =>
    page.locator(".note, .shapes path").evaluateAll(
      (items, edge) =>
        items.every((item) => {
          const box = item.getBoundingClientRect();
          return box.left >= 0 && box.top >= 0 && box.right <= edge.right && box.bottom <= edge.bottom;
        }),
      { right, bottom },
    );
  const viewOf = () => page.locator("main").evaluate((main) => main.style.cssText);
  const before = await viewOf();
  await ada.explain();
  const { y: bottom = 0 } = (await page.locator(".bar").boundingBox()) ?? {};
  await expect.poll(() => isIn(1200, bottom)).toBe(true);
  await ada.openPanel("History");
  const { left } = await ada.edgesOf(".side");
  await expect.poll(() => isIn(left, bottom)).toBe(true);
  await page.getByRole("button", { name: "Close how it works" }).click();
  await page.getByRole("button", { name: "Close history" }).click();
  await expect.poll(viewOf).toBe(before);
});

it("merges what both did while the connection of one was cut", async () => {
  await ada.explain();
  await ada.page.getByRole("button", { name: "Cut my connection" }).click();
  await ada.notice("Offline").waitFor();
  await ada.draw("Box", [300, 460], [340, 500]);
  await bo.draw("Box", [500, 600], [540, 640]);
  await bo.addNote("Meanwhile");
  await eventually("Bo sees 10 shapes", async () => (await bo.shapes.count()) === 10);
  expect(await ada.shapes.count()).toBe(10);
  await ada.page.getByRole("button", { name: "Restore connection" }).click();
  await expectSame(5, 11);
});

it("keeps the last stroke of a window that is closed at once", async () => {
  await ada.draw("Pen", [700, 600], [800, 660]);
  const drawn = await shownIn(ada);
  await ada.page.context().newPage(); // without another tab, the end of this one would be the end of the whole profile
  await ada.page.close({ runBeforeUnload: false });
  await eventually("Bo and the store have the whole stroke", async () => {
    const [his, kept] = [await shownIn(bo), await stored()];
    return [his, kept].every((board) => JSON.stringify(board) === JSON.stringify(drawn));
  });
});
