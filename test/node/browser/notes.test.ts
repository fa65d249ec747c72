/** Notes of the demo's board, as two people handle them in two windows. */
import { AtriumServer } from "atrium/server";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { WIDTHS } from "../../../examples/demo/room/model.ts";
import { findingsOf } from "./axe.ts";
import { startBoards } from "./boards.ts";
import { openBrowser } from "./browser.ts";
import { type VisitOptions, Visitor } from "./visitor.ts";

const service = await startBoards({ ATRIUM_CLIENT_ADDRESS: "" });
const { url: serverUrl, accountId, apiKey } = service;
const atrium = new AtriumServer({ serverUrl, accountId, apiKey });
const browser = await openBrowser();

/** A note of each board from its beginning. */
const SEED = "Drag a note anywhere. A double click writes in it.";

/** Names the board of Ada and Bo. */
let room: string;
let ada: Visitor;
let bo: Visitor;

afterAll(() => service.kill());
beforeEach(async () => {
  room = crypto.randomUUID().slice(0, 8);
  [ada, bo] = [await open("Ada"), await open("Bo")];
  for (const { page } of [ada, bo]) await page.locator(".note").nth(3).waitFor();
});
afterEach(async () => {
  for (const visitor of [ada, bo]) {
    expect(visitor.complaints).toEqual([]);
    await visitor.close();
  }
});

const open = (name: string, options: VisitOptions = {}): Promise<Visitor> =>
  Visitor.open(browser, serverUrl, name, { room, ...options });

const widthOf = (visitor: Visitor, text: string): Promise<number> =>
  visitor.note(text).evaluate((note: HTMLElement) => note.offsetWidth);

/** A click beside the text of a note. */
const select = (visitor: Visitor, text: string): Promise<void> =>
  visitor.note(text).click({ position: { x: 100, y: 120 } });

const press = (visitor: Visitor, name: string): Promise<void> =>
  visitor.bar.getByRole("button", { name, exact: true }).click();

/** Drags the handle at a side of the selected note to the right, and holds it. */
async function pull({ page }: Visitor, side: "left" | "right", distance: number): Promise<void> {
  const handle = await page.locator(`.handle[data-side=${side}]`).boundingBox();
  const [x, y] = [(handle?.x ?? 0) + (handle?.width ?? 0) / 2, (handle?.y ?? 0) + 40];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + distance, y, { steps: 4 });
}

const boxesOf = ({ page }: Visitor) =>
  page
    .locator(".note")
    .evaluateAll((notes: HTMLElement[]) => notes.map((note) => note.getBoundingClientRect()));

describe("a note", () => {
  it("changes its width for everyone, within bounds, as one step to undo", async () => {
    const start = await bo.placeOf(bo.note(SEED));
    await select(ada, SEED);
    await pull(ada, "right", 60);
    await expect.poll(() => widthOf(bo, SEED)).toBe(260); // before it is stored
    await ada.page.mouse.up();
    await pull(ada, "left", -40);
    await ada.page.mouse.up();
    await expect.poll(() => widthOf(bo, SEED)).toBe(300);
    await bo.arrives(bo.note(SEED), { x: start.x - 40, y: start.y });
    await pull(ada, "left", 1_000);
    await expect.poll(() => widthOf(bo, SEED)).toBe(WIDTHS.least);
    await ada.page.keyboard.press("Escape");
    await expect.poll(() => widthOf(bo, SEED)).toBe(300);
    await ada.page.mouse.up();
    const cleo = await open("Cleo");
    await expect.poll(() => widthOf(cleo, SEED)).toBe(300);
    await cleo.close();

    await select(ada, SEED);
    for (const width of [310, 320]) {
      await ada.page.keyboard.press("Control+ArrowRight");
      await expect.poll(() => widthOf(bo, SEED)).toBe(width);
    }
    for (const width of [310, 300, 260, 200]) {
      await ada.page.keyboard.press("Control+z");
      await expect.poll(() => widthOf(bo, SEED)).toBe(width);
    }
    await bo.arrives(bo.note(SEED), start);
  });

  it("is made wider with ⌘ in one step to undo, although a Mac reports no release of the arrow then", async () => {
    const { keyboard } = ada.page;
    const widen = async (...widths: number[]) => {
      await keyboard.down("Meta");
      for (const width of widths) {
        await keyboard.down("ArrowRight");
        await expect.poll(() => widthOf(bo, SEED)).toBe(width);
      }
      await keyboard.up("Meta");
    };
    await select(ada, SEED);
    await widen(210, 220);
    await widen(230);
    for (const width of [220, 200]) {
      await keyboard.press("Control+z");
      await expect.poll(() => widthOf(bo, SEED)).toBe(width);
    }
  });

  it("grows with its text however wide it is, alike in all windows", async () => {
    await select(ada, SEED);
    await pull(ada, "right", -1_000);
    await ada.page.mouse.up();
    await ada.note(SEED).press("Enter");
    const more = " And this is written afterwards, with some remarkably extraordinary words.".repeat(4);
    await ada.page.keyboard.type(more);
    const heights: number[] = [];
    for (const visitor of [ada, bo]) {
      await visitor.note(SEED + more).waitFor();
      const [hidden = 1, height = 0] = await visitor
        .note(SEED + more)
        .evaluate((note) => [
          (note.querySelector("textarea")?.scrollHeight ?? 0) -
            (note.querySelector("textarea")?.clientHeight ?? 0),
          note.clientHeight,
        ]);
      expect(hidden).toBe(0);
      // No higher than its box on the board, where the pins and outlines are.
      expect(`${height}px`).toBe(await visitor.note(SEED + more).evaluate((note) => note.style.minHeight));
      heights.push(height);
    }
    expect(heights[0]).toBe(heights[1]);
    expect(heights[0]).toBeGreaterThan(600);
  });

  it("is selected by a click, written in by a double click, Enter or a letter, and left by Escape", async () => {
    const { page } = ada;
    const isWriting = () => page.locator("textarea:focus").count();
    await select(ada, SEED);
    await ada.bar.waitFor();
    expect(await isWriting()).toBe(0);
    await page.keyboard.type("Nice!");
    await bo.note(`${SEED}Nice!`).waitFor();
    await page.keyboard.press("Escape");
    expect(await isWriting()).toBe(0);
    await page.keyboard.press("Enter");
    await page.keyboard.type("!");
    await bo.note(`${SEED}Nice!!`).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await ada.bar.waitFor({ state: "detached" });
    await ada.note(`${SEED}Nice!!`).dblclick({ position: { x: 100, y: 140 } });
    await page.keyboard.type("?");
    await bo.note(`${SEED}Nice!!?`).waitFor();
    expect(await page.locator(".note").count()).toBe(4);
  });

  it("takes a free place in the view, and gets the focus", async () => {
    for (let count = 5; count <= 7; count += 1) {
      await ada.page.getByRole("button", { name: "Add note" }).click();
      await ada.page.locator("textarea:focus").waitFor();
      await ada.page.keyboard.press("Escape");
      await bo.page
        .locator(".note")
        .nth(count - 1)
        .waitFor();
    }
    const boxes = await boxesOf(ada);
    for (const [index, one] of boxes.entries())
      for (const other of boxes.slice(index + 1)) {
        const isBeside =
          one.x + one.width <= other.x ||
          other.x + other.width <= one.x ||
          one.y + one.height <= other.y ||
          other.y + other.height <= one.y;
        expect(isBeside).toBe(true);
      }
    // Where the view is full, it moves to the note.
    const { x, y, width, height } = boxes.at(-1) ?? { x: -1, y: -1, width: 0, height: 0 };
    expect([x >= 0, y >= 0, x + width <= 1200, y + height <= 800]).toEqual([true, true, true, true]);
  });

  it("shows the others who holds it and who writes in it, in that person's color", async () => {
    const flag = bo.page.locator(".flag");
    await select(ada, SEED);
    await expect.poll(() => flag.allTextContents()).toEqual(["Ada"]);
    const color = await flag.locator("span").evaluate((name) => getComputedStyle(name).backgroundColor);
    const outline = bo.page.locator(".outline");
    expect(await outline.evaluate((line) => getComputedStyle(line).stroke)).toBe(color);
    expect(await ada.page.locator(".outline").evaluate((line) => getComputedStyle(line).stroke)).toBe(color);
    expect(await ada.page.locator(".flag").count()).toBe(0);
    // Also to one who has selected it, too.
    await select(bo, SEED);
    await ada.note(SEED).press("Enter");
    await expect
      .poll(async () => {
        await ada.page.keyboard.type("!");
        return flag.allTextContents();
      })
      .toEqual(["Ada is typing"]);
    await bo.page.keyboard.press("Escape");
    await expect.poll(() => outline.count()).toBe(1);
    await ada.page.keyboard.press("Escape");
    await ada.page.keyboard.press("Escape");
    for (const gone of [flag, outline]) await expect.poll(() => gone.count()).toBe(0);
  });
});

describe("the bar of the selection", () => {
  it("gives a note a color, copies it, comments on it and deletes it", async () => {
    const paperOf = (visitor: Visitor) =>
      visitor
        .note(SEED)
        .locator(".paper")
        .evaluateAll((papers: HTMLElement[]) => papers.map(({ style }) => style.background));
    await select(ada, SEED);
    expect(await findingsOf(ada.page)).toEqual([]);
    await press(ada, "Violet");
    await expect.poll(() => paperOf(bo)).toEqual(["var(--paper-4)"]);
    await ada.bar.getByRole("button", { name: "Violet", pressed: true }).waitFor();
    await press(ada, "Duplicate");
    await expect.poll(() => paperOf(bo)).toEqual(["var(--paper-4)", "var(--paper-4)"]);
    await press(ada, "Delete");
    await expect.poll(() => bo.note(SEED).count()).toBe(1);
    await ada.page.keyboard.press("Control+z");
    await expect.poll(() => bo.note(SEED).count()).toBe(2);
    await ada.page.keyboard.press("Control+z");
    await expect.poll(() => bo.note(SEED).count()).toBe(1);

    await select(ada, SEED);
    await press(ada, "Comment");
    await ada.page.getByRole("textbox", { name: "Comment" }).fill("Shall we?");
    await ada.page.keyboard.press("Enter");
    await bo.pin("Shall we?").waitFor();
    const { room: found } = await atrium.rooms.getByCustomId(`demo:${room}`);
    const { comments } = await atrium.comments.list(found.id);
    expect(comments.map(({ anchor }) => Object(anchor).shapeId)).toEqual(["notes:02-seed"]);
  });

  it("gives shapes a color, and is reached from the selected note by Tab", async () => {
    const line = await ada.shapes.first().boundingBox();
    await ada.page.mouse.click((line?.x ?? 0) + 2, (line?.y ?? 0) + 60);
    await press(ada, "Red");
    await expect.poll(() => bo.shapes.first().getAttribute("stroke")).toBe("var(--ink-3)");
    await ada.note(SEED).focus();
    await ada.page.keyboard.press("Tab");
    await ada.page.keyboard.press("Tab");
    expect(await ada.page.locator(":focus").getAttribute("aria-label")).toBe("Blue");
    await ada.page.keyboard.press("Shift+Tab");
    await ada.page.keyboard.press("Shift+Tab");
    expect(await ada.page.locator(":focus").getAttribute("aria-label")).toBe(`Note: ${SEED}`);
    await ada.page.keyboard.press("Delete");
    await bo.note(SEED).waitFor({ state: "detached" });
  });

  it.each([
    [1200, 800],
    [390, 844],
  ])("stays in a window of %i × %i wherever the selection is", async (width, height) => {
    const guest = await open("Cleo", { viewport: { width, height } });
    await guest.page.locator(".note").nth(3).waitFor();
    await guest.note(SEED).focus();
    for (const [right, down] of [
      [0, -400],
      [-900, 0],
      [0, 1_200],
      [1_800, 0],
    ] as const) {
      await guest.page.mouse.move(width / 2, height / 2);
      await guest.pan(right, down);
      await expect
        .poll(async () => {
          const box = await guest.bar.boundingBox();
          return (
            box !== null &&
            box.x >= 0 &&
            box.y >= 0 &&
            box.x + box.width <= width &&
            box.y + box.height <= height
          );
        })
        .toBe(true);
    }
    await guest.close();
  });
});

describe("the focus", () => {
  const focused = () => ada.page.locator(":focus").getAttribute("aria-label");
  const [first, ...others] = ["notes:00-seed", "notes:01-seed", "notes:02-seed", "notes:03-seed"];
  const card = (id: string) => ada.page.locator(`[data-item="${id}"]`);

  it("goes from a deleted note to the next one, from the last to the one before, and then to the board", async () => {
    const { keyboard } = ada.page;
    await card(first ?? "").focus();
    for (const next of others) {
      const label = await card(next).getAttribute("aria-label");
      await keyboard.press("Delete");
      expect(await focused()).toBe(label);
    }
    await keyboard.press("Control+z");
    await card("notes:02-seed").waitFor();
    const before = await card("notes:02-seed").getAttribute("aria-label");
    await keyboard.press("Tab"); // to the bar
    await press(ada, "Delete");
    await ada.bar.waitFor({ state: "detached" });
    expect(await ada.page.evaluate(() => document.activeElement?.tagName)).toBe("MAIN");
    await ada.note(before?.slice("Note: ".length) ?? "").focus();
    await keyboard.press("Tab");
    await ada.bar.getByRole("button", { name: "Delete" }).press("Enter");
    await expect.poll(() => ada.page.locator(".note").count()).toBe(0);
    expect(await ada.page.evaluate(() => document.activeElement?.tagName)).toBe("MAIN");
  });

  it("can be in a panel or the drawer while the board's keys are used", async () => {
    const { page } = ada;
    await ada.explain();
    for (const name of ["How it works", "History"]) {
      if (name === "History") await ada.openPanel(name);
      const panel = page.getByRole("complementary", { name });
      await panel.waitFor();
      await panel.focus();
      await page.keyboard.press("n");
      await page.locator("textarea:focus").waitFor();
      await page.keyboard.type("Hi");
      await bo.note("Hi").waitFor();
      await page.keyboard.press("Escape");
      await panel.focus();
      await page.keyboard.press("Control+z"); // the text
      await bo.note("Hi").waitFor({ state: "detached" });
      await page.keyboard.press("Control+z");
      await expect.poll(() => bo.page.locator(".note").count()).toBe(4);
    }
  });
});

describe("the invitation", () => {
  it.each([
    [390, 844],
    [640, 800],
    [800, 700],
  ])(
    "in a window of %i × %i covers no new note, and waits while one is written, read or commented on",
    async (width, height) => {
      const guest = await open("Cleo", { room: null, viewport: { width, height } });
      const { page } = guest;
      const invitation = page.getByRole("region", { name: "Invitation" });
      await invitation.waitFor();
      const { y = 0, height: high = 0 } = (await invitation.boundingBox()) ?? {};
      for (let count = 5; count <= 8; count += 1) {
        await page.getByRole("button", { name: "Add note" }).click();
        await page.locator("textarea:focus").waitFor();
        await invitation.waitFor({ state: "hidden" });
        const note = await page.locator(".note:focus-within").boundingBox();
        expect(note?.y).toBeGreaterThanOrEqual(y + high);
        await page.keyboard.press("Escape");
        await invitation.waitFor();
      }
      await press(guest, "Comment");
      await guest.card.waitFor();
      await invitation.waitFor({ state: "hidden" });
      await page.keyboard.press("Escape");
      await guest.card.waitFor({ state: "detached" });
      await invitation.waitFor();
      await guest.openPanel("History");
      await page.locator(".side").waitFor();
      await invitation.waitFor({ state: "hidden" });
      await guest.close();
    },
  );
});

it("invalid widths, papers and holds of others break no board", async () => {
  const { room: found } = await atrium.rooms.getByCustomId(`demo:${room}`);
  const set = (key: string, value: object) => atrium.stores.set(found.id, "notes", key, value);
  await set("10-old", { x: 0, y: 300, text: "Old", picture: "", front: 1 });
  await set("11-wide", { x: 0, y: 300, text: "Wide", width: 1e9, paper: 1.5 });
  await set("x", { x: 0, y: 300, text: "Odd", width: {}, paper: "url(x)" });
  const nothing = { toString: 1, valueOf: 1 };
  const cut = `${"a".repeat(499)}🎈`;
  const pictures = ["/", ".", "a//b", "http://e.example/x.png", cut];
  for (const [index, picture] of pictures.entries())
    await set(`y${index}`, { x: 0, y: 0, text: "", picture });
  await set("z", { x: nothing, y: 0, text: nothing });
  await atrium.stores.set(found.id, "shapes", "z", { kind: "pen", tint: 0, points: Array(4).fill(nothing) });
  for (const [text, width] of [
    ["Old", 200],
    ["Wide", WIDTHS.most],
    ["Odd", 200],
  ] as const)
    for (const visitor of [ada, bo]) {
      await visitor.note(text).waitFor();
      expect(await widthOf(visitor, text)).toBe(width);
    }
  await bo.openPanel("History");
  await bo.page.locator(".side li").first().waitFor();
  await bo.page.reload();
  await bo.note("Odd").press("ArrowRight");
  await ada.arrives(ada.note("Odd"), { x: 10, y: 300 });
});
