/** The demo in real browsers: all visitors see each change, and no change is lost. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Atrium } from "atrium/client";
import { decodeJwt } from "jose";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { bundleDemo } from "../../../src/cli/bundle/demo-bundle.ts";
import { IdentityClaims } from "../../../src/platform/token-claims.ts";
import { eventually } from "../cli/processes.ts";
import { startService } from "../cli/service.ts";
import { preparedState } from "../cli/shared-service.ts";
import { findingsOf } from "./axe.ts";
import { openBrowser } from "./browser.ts";
import { newAddress, type VisitOptions, Visitor } from "./visitor.ts";

const directory = await mkdtemp(path.join(tmpdir(), "atrium-demo-"));
const persistTo = path.join(directory, "state");
/** Each visitor has an address of their own. */
const settings = { ATRIUM_CLIENT_ADDRESS: "" };
let service = await startService({ persistTo, preparedState: await preparedState(), settings });
await bundleDemo({ outdir: directory, development: true });
const browser = await openBrowser();
/** Runs the page with React's development build, which warns about mistakes. */
const ada = await Visitor.open(browser, service.url, "Ada", { scripts: path.join(directory, "assets/demo") });
/** Runs the production build of the page. */
const bo = await Visitor.open(browser, service.url, "Bo");
const guests: Visitor[] = [];

afterEach(async () => {
  for (const guest of guests.splice(0)) await guest.close();
});
afterAll(async () => {
  await service.kill();
  await rm(directory, { recursive: true, force: true });
});

const EMPTY = { x: -1, y: -1, width: 0, height: 0 };
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

async function welcome(name: string, options: VisitOptions = {}): Promise<Visitor> {
  const guest = await Visitor.open(browser, service.url, name, options);
  guests.push(guest);
  return guest;
}

/** Waits for an emoji to float up. */
const floatsUp = ({ page }: Visitor, emoji: string): Promise<void> =>
  page.locator(".float", { hasText: emoji }).first().waitFor({ state: "attached" });

describe("participants", () => {
  it("are shown to each other until they close their window", async () => {
    await ada.other("Bo").waitFor();
    await bo.other("Ada").waitFor();
    const cleo = await welcome("Cleo");
    const place = await cleo.point(200, 200);
    await ada.arrives(ada.cursor("Cleo"), place);
    await cleo.close();
    await ada.other("Cleo").waitFor({ state: "detached" });
    await ada.cursor("Cleo").waitFor({ state: "detached" });
    await ada.other("Bo").waitFor();
  });

  it("have different colors", async () => {
    const guests = await Promise.all(
      ["Cleo", "Dan", "Eve", "Fay"].map((name) => welcome(name, { room: "colors" })),
    );
    const colorsIn = ({ page }: Visitor) =>
      page
        .locator("header .atrium-avatar")
        .evaluateAll((all: HTMLElement[]) => all.map(({ style }) => style.getPropertyValue("--atrium-user")));
    for (const guest of guests)
      await expect.poll(async () => new Set(await colorsIn(guest)).size).toBe(guests.length);
  });

  it("stay the same user after a reload, and are a new one in a new window", async () => {
    const guest = await welcome("Guest");
    await guest.page.reload();
    await guest.self("Guest").waitFor();
    const context = await browser.newContext();
    const stranger = await context.newPage();
    await stranger.goto(guest.page.url());
    await stranger.getByRole("button", { name: /^[A-Z]\w+ [A-Z]\w+ \(you\)$/ }).waitFor();
    await context.close();
  });
});

it("a visitor without a link gets a board of their own, with a link for others and something on it", async () => {
  const guest = await welcome("Guest", { room: null });
  expect(guest.page.url()).toMatch(/\/demo\?room=[0-9a-f]{12}$/);
  await guest.page.locator(".note").nth(3).waitFor();
  const invitation = guest.page.getByRole("region", { name: "Invitation" });
  await invitation.getByText("This board is live").waitFor();
  const [second] = await Promise.all([
    guest.page.context().waitForEvent("page"),
    invitation.getByRole("button", { name: "Open a second window" }).click(),
  ]);
  await second.getByRole("button", { name: /^(?!Guest).+ \(you\)$/ }).waitFor();
  await second.getByText("2 people are here").waitFor();
  await invitation.waitFor({ state: "detached" });
  await second.close();
  const share = async () => {
    await guest.page.getByRole("button", { name: "Share" }).click();
    await guest.page.getByRole("dialog").getByText("More").click();
  };
  await share();
  await guest.page.getByText("A phone cannot reach this machine").waitFor();
  expect(await guest.page.getByRole("img", { name: "QR code of the link" }).count()).toBe(0);
  expect(await guest.page.getByRole("textbox", { name: "Link" }).inputValue()).toBe(guest.page.url());
  const dashboard = guest.page.getByRole("link", { name: "Open in the dashboard" });
  expect(await dashboard.count()).toBe(0);
  expect(await findingsOf(guest.page)).toEqual([]);
  // A developer who has signed in to the dashboard, and opened an organization there.
  await guest.page.evaluate(
    async ([signIn, id]) => {
      const headers = { "Content-Type": "application/json" };
      await fetch("/dashboard/api/sign-in", { method: "POST", headers, body: JSON.stringify(signIn) });
      localStorage.setItem("organization", id);
    },
    [service.signIn, service.accountId] as const,
  );
  await guest.page.reload();
  await share();
  await dashboard.click();
  await guest.page.waitForURL(/\/dashboard\/[0-9a-f-]{36}\/rooms\/[0-9a-f-]{36}$/);
  await guest.page.getByText("Demo boards").first().waitFor();
});

describe("a visitor who is alone", () => {
  it("has the company of helpers, who go on while the connection is cut, and leave when another visitor comes", async () => {
    const guest = await welcome("Guest", { room: "alone" });
    const { page } = guest;
    expect(await guest.other("Helper Pip").count()).toBe(0); // this browser prefers less motion
    await guest.explain();
    await page.getByRole("button", { name: "Helpers: off" }).click();
    for (const name of ["Helper Pip", "Helper Juno"]) await guest.other(name).waitFor();
    await guest.note("Picnic on Saturday?").waitFor();
    const colors = () =>
      page
        .locator(".atrium-cursor")
        .evaluateAll((cursors: HTMLElement[]) =>
          cursors.map(({ style }) => style.getPropertyValue("--atrium-user")).sort(),
        );
    await expect.poll(colors).toEqual(["#0f766e", "#7c3aed"]);
    await page.getByText(/^\d+ ms$/).waitFor();
    // Those of a page that was closed amid their work find what they have left.
    const picnic = guest.note("Picnic on Saturday?");
    const left = await picnic.getAttribute("data-item");
    await page.reload();
    await guest.explain();
    await page.getByRole("button", { name: "Helpers: off" }).click();
    await page.locator(`[aria-label="Note: Picnic on Saturday?"]:not([data-item="${left}"])`).waitFor();
    await page.locator(`[data-item="${left}"]`).waitFor({ state: "detached" });
    await page.getByText(/^\d+ ms$/).waitFor();
    await page.getByRole("button", { name: "Cut my connection" }).click();
    await guest.notice("Offline").waitFor();
    await guest.addNote("Meanwhile");
    await page.getByText(/^\d+ unsent$/).waitFor();
    const notes = await page.locator(".note").count();
    await page.getByRole("button", { name: "Restore connection" }).click();
    await page.getByText("All sent").waitFor();
    await page.getByText("Saved", { exact: true }).waitFor();
    await expect.poll(() => page.locator(".note").count()).toBeGreaterThanOrEqual(notes);
    const other = await welcome("Other", { room: "alone" });
    await other.note("Meanwhile").waitFor();
    for (const name of ["Helper Pip", "Helper Juno"]) await guest.other(name).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Helpers: away" }).waitFor();
    await eventually("the helpers have left nothing", async () => {
      return (await other.page.locator(".note").count()) === 5 && (await other.shapes.count()) === 9;
    });
    await other.close();
    await guest.other("Other").waitFor({ state: "detached" });
    await guest.other("Helper Pip").waitFor();
    await page.getByRole("button", { name: "Helpers: on" }).click();
    await guest.other("Helper Pip").waitFor({ state: "detached" });
  });
});

it("the drawer shows the messages, and the code of what was used last, until it is closed", async () => {
  const guest = await welcome("Guest", { room: "explained" });
  const { page } = guest;
  await guest.react("☕");
  await guest.explain();
  const code = page.getByRole("region", { name: "Code" });
  await code.getByText("useBroadcast()").or(code.getByText("useBroadcast(")).first().waitFor();
  await guest.addNote("Sent");
  await code.getByText("useStore").first().waitFor();
  const messages = page.getByRole("list", { name: "Messages" });
  await messages.locator("[data-sent=true]", { hasText: "store" }).first().waitFor();
  expect(await messages.locator("li").first().innerText()).toMatch(/\d+(\.\d)? k?B/);
  await code.getByRole("button", { name: "Undo", exact: true }).click();
  await code.getByText("useUndo").first().waitFor();
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await code.getByRole("button", { name: "Copy" }).click();
  await code.getByRole("button", { name: "Copied" }).waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain("useUndo()");
  expect(await findingsOf(page)).toEqual([]);
  await page.getByRole("button", { name: "Cut my connection" }).click();
  await guest.notice("Offline").waitFor();
  const restore = page.getByRole("button", { name: "Restore connection" });
  await restore.press("Escape"); // reconnects no one by the way
  await restore.click();
  await page.getByText("Saved", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Cut my connection" }).press("Escape");
  await page.locator(".drawer").waitFor({ state: "detached" });
  expect(await page.locator(":focus").innerText()).toContain("How it works");
});

it("the board's name, and those and the colors of visitors, change for everyone at once", async () => {
  const [cleo, dan] = [await welcome("Cleo", { room: "named" }), await welcome("Dan", { room: "named" })];
  const nameIn = ({ page }: Visitor) => page.getByRole("textbox", { name: "Name of the board" });
  await cleo.addNote("Kept");
  await nameIn(cleo).fill("Picnic");
  await cleo.page.keyboard.press("Enter");
  await expect.poll(() => nameIn(dan).inputValue()).toBe("Picnic");
  expect(await dan.page.title()).toBe("Picnic · Atrium");
  await nameIn(dan).fill("Given up");
  await dan.page.keyboard.press("Escape");
  expect(await nameIn(dan).inputValue()).toBe("Picnic");

  await cleo.self("Cleo").click();
  await cleo.page.getByRole("textbox", { name: "Your name" }).fill("Clio");
  await cleo.page.keyboard.press("Enter");
  await dan.other("Clio").waitFor();
  await cleo.page.getByRole("radio", { name: "Color 4" }).check();
  expect(await findingsOf(cleo.page)).toEqual([]);
  await cleo.page.keyboard.press("Escape");
  const colorOf = (name: string) =>
    dan
      .other(name)
      .locator(".atrium-avatar")
      .evaluate((avatar: HTMLElement) => avatar.style.getPropertyValue("--atrium-user"));
  await expect.poll(() => colorOf("Clio")).toBe("#db2777");
  await cleo.page.reload();
  await cleo.self("Clio").waitFor();
  await expect.poll(() => colorOf("Clio")).toBe("#db2777");
  expect(await nameIn(cleo).inputValue()).toBe("Picnic");
  expect(await cleo.page.getByRole("button", { name: "Undo" }).isDisabled()).toBe(true);
});

it("the theme is light, dark or the system's, and is kept", async () => {
  const { page } = await welcome("Guest", { colorScheme: "light" });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("radio", { name: "Dark" }).check();
  const dark = await ground();
  expect(dark).not.toBe(light);
  expect(await findingsOf(page)).toEqual([]);
  await page.reload();
  expect(await ground()).toBe(dark);
});

it("a board is shared: everyone with the link may do at once what it allows", async () => {
  const [cleo, dan] = [await welcome("Cleo", { room: "shared" }), await welcome("Dan", { room: "shared" })];
  const tools = dan.page.getByRole("region", { name: "Drawing" });
  await tools.waitFor();
  await cleo.page.getByRole("button", { name: "Share" }).click();
  const access = cleo.page.getByRole("combobox", { name: "Everyone with the link" });
  await access.selectOption("viewer");
  await dan.notice("You can now only view this board.").waitFor();
  await tools.waitFor({ state: "detached" });
  await dan.page.getByText("View only").waitFor();
  expect(await dan.page.getByRole("textbox", { name: "Name of the board" }).count()).toBe(0);
  for (const name of ["Add note", "Delete", "Reactions"])
    expect(await dan.page.getByRole("button", { name }).count()).toBe(0);
  for (const key of ["n", "Control+a", "Delete"]) await dan.page.keyboard.press(key);
  await dan.openPanel("Comments");
  await dan.page.getByText("There is no comment yet.").waitFor();
  expect(await dan.page.getByRole("button", { name: "Add comment" }).count()).toBe(0);
  expect(await findingsOf(dan.page)).toEqual([]);
  await access.selectOption("commenter");
  await dan.notice("You can now only comment.").waitFor();
  await dan.page.getByRole("button", { name: "Add comment" }).waitFor();
  expect(await cleo.page.locator(".note").count()).toBe(4);

  await access.selectOption("editor");
  await tools.waitFor();

  await access.selectOption("none");
  await dan.page.getByText("You have no access to this board. Ask the person who shared it.").waitFor();
  expect(await findingsOf(dan.page)).toEqual([]);
  await dan.page.reload();
  await dan.page.getByText("You have no access to this board.").waitFor();
});

describe("the board", () => {
  it("shows the cursors of others", async () => {
    for (const [x, y] of [
      [300, 300],
      [640, 420],
    ] as const) {
      await ada.arrives(ada.cursor("Bo"), await bo.point(x, y));
      await bo.arrives(bo.cursor("Ada"), await ada.point(x + 10, y - 10));
    }
  });

  it("keeps a cursor where its owner points while they move the board below it", async () => {
    const { x, y } = await bo.point(500, 400);
    await ada.arrives(ada.cursor("Bo"), { x, y });
    await bo.pan(60, 40);
    await ada.arrives(ada.cursor("Bo"), { x: x - 60, y: y - 40 });
    await bo.pan(-60, -40);
  });

  it("stacks items alike for everyone, the note that was changed last in front", async () => {
    const [cleo, dan] = [await welcome("Cleo", { room: "stack" }), await welcome("Dan", { room: "stack" })];
    await cleo.addNote("Newest");
    await dan.note("Newest").waitFor();
    const stackOf = ({ page }: Visitor) =>
      page.locator(".note").evaluateAll((notes: HTMLElement[]) => {
        notes.sort(
          (one, other) => Number(getComputedStyle(one).zIndex) - Number(getComputedStyle(other).zIndex),
        );
        return notes.map((note) => note.ariaLabel);
      });
    const stack = await stackOf(cleo);
    expect(stack.at(-1)).toBe("Note: Newest");
    expect(await stackOf(dan)).toEqual(stack);
    const welcoming = cleo.note("Welcome! This board is yours for a day.").getByRole("textbox");
    await welcoming.press("Control+End");
    await cleo.page.keyboard.type("!");
    const isInFront = async () => (await stackOf(dan)).at(-1);
    await expect.poll(isInFront).toBe("Note: Welcome! This board is yours for a day.!");
    await dan.page.reload();
    await dan.note("Newest").waitFor();
    expect(await stackOf(dan)).toEqual(await stackOf(cleo));
    await dan.note("Newest").press("ArrowRight");
    for (const visitor of [cleo, dan])
      await expect.poll(async () => (await stackOf(visitor)).at(-1)).toBe("Note: Newest");
  });

  it("shows all of a note's text to everyone", async () => {
    const [cleo, dan] = [await welcome("Cleo", { room: "long" }), await welcome("Dan", { room: "long" })];
    const text = "Each window shows all of these words. ".repeat(8).trim();
    await cleo.addNote(text);
    const heights: number[] = [];
    for (const visitor of [cleo, dan]) {
      await visitor.note(text).waitFor();
      const [hidden, height] = await visitor
        .note(text)
        .getByRole("textbox")
        .evaluate((field) => [
          field.scrollHeight - field.clientHeight,
          field.closest("article")?.offsetHeight ?? 0,
        ]);
      expect(hidden).toBe(0);
      heights.push(height ?? 0);
    }
    expect(heights[1]).toBe(heights[0]);
  });

  it("shows a note to everyone while it is written, and lets anyone continue it", async () => {
    await ada.addNote("Milk");
    await bo.note("Milk").getByRole("textbox").press("End");
    await bo.page.keyboard.type(" and bread");
    await ada.note("Milk and bread").waitFor();
    expect(await ada.note("Milk and bread").getByRole("textbox").inputValue()).toBe("Milk and bread");
  });

  it("shows a note to everyone while it is dragged, and keeps where it is dropped", async () => {
    await ada.addNote("Dragged");
    const start = await bo.placeOf(bo.note("Dragged"));
    const box = await bo.note("Dragged").boundingBox();
    const [x, y] = [(box?.x ?? 0) + 40, (box?.y ?? 0) + 90];
    await bo.page.mouse.move(x, y);
    await bo.page.mouse.down();
    await bo.page.mouse.move(x + 100, y - 60, { steps: 5 });
    await ada.arrives(ada.note("Dragged"), { x: start.x + 100, y: start.y - 60 });
    await ada.page.locator(".held").waitFor();
    await bo.page.mouse.move(x + 150, y - 90, { steps: 5 });
    await bo.page.mouse.up();
    const end = { x: start.x + 150, y: start.y - 90 };
    await ada.page.locator(".held").waitFor({ state: "detached" });
    await ada.arrives(ada.note("Dragged"), end);
    const cleo = await welcome("Cleo");
    await cleo.arrives(cleo.note("Dragged"), end);
  });

  it("shows who is typing in a note", async () => {
    await ada.addNote("Typed");
    await bo.note("Typed").waitFor();
    await eventually("Bo sees who is typing", async () => {
      await ada.page.keyboard.type("!");
      return (await bo.page.locator(".flag", { hasText: "Ada is typing" }).count()) === 1;
    });
    await ada.bar.getByRole("button", { name: "Delete" }).click();
    await bo.page.getByText("Ada is typing").waitFor({ state: "detached" });
  });

  it("shows a stroke to everyone while it is drawn, and takes back one's own alone", async () => {
    const [ada, bo] = [await welcome("Ada", { room: "strokes" }), await welcome("Bo", { room: "strokes" })];
    const { mouse, keyboard } = ada.page;
    await bo.page.locator(".shapes path").nth(8).waitFor({ state: "attached" });
    const paths = await bo.shapes.count();
    await keyboard.press("Escape");
    await ada.page.getByRole("button", { name: "Pen", exact: true }).click();
    await mouse.move(700, 600);
    await mouse.down();
    await mouse.move(760, 640, { steps: 4 });
    await eventually("Bo sees it growing", async () => (await bo.shapes.count()) === paths + 1);
    await mouse.up();
    await ada.draw("Box", [800, 600], [860, 660]);
    await bo.draw("Arrow", [700, 680], [780, 690]);
    await eventually("all three are there", async () => (await ada.shapes.count()) === paths + 3);
    await keyboard.press("Control+z");
    await eventually("the box is gone", async () => (await bo.shapes.count()) === paths + 2);
    await keyboard.press("Control+z");
    await eventually("the stroke is gone", async () => (await bo.shapes.count()) === paths + 1);
    await ada.page.getByRole("button", { name: "Redo" }).click();
    await eventually("the stroke is back", async () => (await bo.shapes.count()) === paths + 2);
    await ada.draw("Eraser", [690, 685], [790, 685]);
    await eventually("Bo's arrow is erased", async () => (await bo.shapes.count()) === paths + 1);
  });

  it("has no end, and is the same for everyone however far they have zoomed out", async () => {
    const guest = await welcome("Guest");
    await guest.page.keyboard.press("-");
    await guest.page.keyboard.press("ArrowLeft");
    await guest.pan(3000, 2000);
    const { x, y } = await guest.point(500, 400);
    const zoom = await guest.zoom();
    expect([zoom, x / zoom < -2400]).toEqual([0.8, true]);
    await ada.arrives(ada.cursor("Guest"), { x: Math.round(x / zoom), y: Math.round(y / zoom) });
  });

  it("leaves the keyboard to who writes while a panel is loaded", async () => {
    const guest = await welcome("Guest");
    const { page } = guest;
    let load = () => {};
    const written = new Promise<void>((resolve) => {
      load = resolve;
    });
    await page.route("**/demo/comments-*.js", async (route) => {
      await written;
      await route.continue();
    });
    await guest.openPanel("Comments");
    await guest.addNote("First");
    load();
    await page.locator(".side").waitFor();
    await page.keyboard.type(" words");
    await guest.note("First words").waitFor();
    await guest.bar.getByRole("button", { name: "Delete" }).click();
    await ada.note("First words").waitFor({ state: "detached" });
  });

  it("takes the text of a new note at once, also before it has loaded the others", async () => {
    const guest = await welcome("Guest");
    let load = () => {};
    await guest.page.routeWebSocket(/\/socket/, (socket) => {
      const server = socket.connectToServer();
      const held: Parameters<typeof socket.send>[0][] = [];
      load = () => {
        for (const message of held.splice(0)) socket.send(message);
      };
      server.onMessage((message) => {
        if (/"entries":/.test(String(message))) held.push(message);
        else socket.send(message);
      });
    });
    await guest.page.reload();
    await guest.self("Guest").waitFor();
    await guest.addNote("Early");
    load();
    await ada.note("Early").waitFor();
    await guest.deleteNote("Early");
  });

  it("has the tools first in the order of Tab", async () => {
    const guest = await welcome("Guest");
    await guest.page.keyboard.press("Tab");
    expect(await guest.page.locator(":focus").getAttribute("aria-label")).toBe("Select");
  });

  it("supports adding, writing and deleting a note by keyboard", async () => {
    await ada.openPanel("Comments");
    await ada.page.locator(".side").waitFor();
    await ada.addNote("Typed");
    await bo.note("Typed").waitFor();
    const [note, side] = [await ada.edgesOf('[aria-label="Note: Typed"]'), await ada.edgesOf(".side")];
    expect(note.right).toBeLessThan(side.left);
    await ada.page.keyboard.press("Escape");
    await ada.page.keyboard.press("Delete");
    await bo.note("Typed").waitFor({ state: "detached" });
    await ada.page.getByRole("button", { name: "Close comments" }).click();
  });

  it("moves, copies and deletes all that is selected, for everyone, each as one step to undo", async () => {
    const [cleo, dan] = [await welcome("Cleo", { room: "group" }), await welcome("Dan", { room: "group" })];
    const { mouse, keyboard } = cleo.page;
    const [note, others] = [dan.note("Welcome! This board is yours for a day."), dan.page.locator(".note")];
    await cleo.page.locator(".note").nth(3).waitFor();
    await note.waitFor();
    for (const { shapes } of [cleo, dan]) await shapes.nth(8).waitFor({ state: "attached" });
    const start = await dan.placeOf(note);
    const box = await dan.shapes.first().boundingBox();
    const isShapeMoved = (x: number, y: number) =>
      eventually(`Dan sees the shape ${x}, ${y} from where it was`, async () => {
        const now = await dan.shapes.first().boundingBox();
        return (
          Math.abs((now?.x ?? 0) - (box?.x ?? 0) - x) < 1 && Math.abs((now?.y ?? 0) - (box?.y ?? 0) - y) < 1
        );
      });
    const counts = (notes: number, shapes: number) =>
      eventually(`Dan sees ${notes} notes and ${shapes} shapes`, async () => {
        return (await others.count()) === notes && (await dan.shapes.count()) === shapes;
      });

    // A marquee around the first note and the box, from the empty board.
    await cleo.drag([240, 160], [620, 560]);
    await dan.page.locator(".outline").nth(2).waitFor({ state: "attached" });
    await keyboard.press("Escape");
    await dan.page.locator(".outline").first().waitFor({ state: "detached" });

    await keyboard.press("Control+a");
    await dan.page.locator(".outline").nth(12).waitFor({ state: "attached" });
    const paper = await cleo.note("Welcome! This board is yours for a day.").boundingBox();
    const [x, y] = [(paper?.x ?? 0) + 40, (paper?.y ?? 0) + 90];
    await mouse.move(x, y);
    await mouse.down();
    await mouse.move(x + 60, y - 20, { steps: 4 });
    await dan.arrives(note, { x: start.x + 60, y: start.y - 20 });
    await isShapeMoved(60, -20);
    await mouse.up();
    await dan.page.locator(".held").first().waitFor({ state: "detached" });
    await keyboard.press("ArrowRight");
    await dan.arrives(note, { x: start.x + 70, y: start.y - 20 });
    await isShapeMoved(70, -20);
    await keyboard.press("Control+z");
    await keyboard.press("Control+z");
    await dan.arrives(note, start);
    await isShapeMoved(0, 0);

    await keyboard.press("Control+d");
    await counts(8, 18);
    await keyboard.press("Delete");
    await counts(4, 9);
    await keyboard.press("Control+z");
    await counts(8, 18);
    await keyboard.press("Control+z");
    await counts(4, 9);
  });

  it("supports adding, moving and deleting a shape by keyboard", async () => {
    const { keyboard } = ada.page;
    await bo.page.keyboard.press("Escape"); // only what Ada selects has an outline
    const paths = await bo.shapes.count();
    const becomes = (count: number) =>
      eventually(`Bo sees ${count} shapes`, async () => (await bo.shapes.count()) === count);
    await ada.page.getByRole("button", { name: "Box", exact: true }).focus();
    for (const key of ["Enter", "Enter"]) await keyboard.press(key);
    await becomes(paths + 1);
    await ada.notice("1 selected").waitFor();
    const before = await bo.page.locator(".outline").boundingBox();
    await keyboard.press("ArrowDown");
    await eventually("Bo sees it moving", async () => {
      const after = await bo.page.locator(".outline").boundingBox();
      return Math.round((after?.y ?? 0) - (before?.y ?? 0)) === 10;
    });
    expect(await findingsOf(ada.page)).toEqual([]);

    // A comment by keyboard is beside what is selected, and no panel covers it.
    await ada.openPanel("Comments");
    await ada.page.getByRole("button", { name: "Add comment" }).click();
    await keyboard.press("Enter");
    await ada.page.getByRole("textbox", { name: "Comment" }).waitFor();
    const [shape, card, side] = [
      await ada.edgesOf(".outline"),
      await ada.edgesOf(".atrium-pin-card"),
      await ada.edgesOf(".side"),
    ];
    expect(card.left).toBeGreaterThan(shape.right);
    expect(card.right).toBeLessThan(side.left);
    await keyboard.press("Escape");
    await ada.page.getByRole("button", { name: "Close comments" }).click();
    await ada.page.getByRole("button", { name: "Box", exact: true }).focus();
    await keyboard.press("Delete");
    await becomes(paths);
  });

  it("zooms by keys and buttons, and pans while Space is held", async () => {
    const guest = await welcome("Guest");
    const { page } = guest;
    const zooms = (zoom: number) =>
      eventually(`the zoom is ${zoom}`, async () => Math.abs((await guest.zoom()) - zoom) < 0.001);
    await page.keyboard.press("+");
    await zooms(1.25);
    await page.getByRole("button", { name: "Zoom out" }).click();
    await zooms(1);
    await page.keyboard.press("1");
    await page.keyboard.press("0");
    await zooms(1);
    const start = await guest.point(600, 700);
    await page.keyboard.down("Space");
    await guest.drag([600, 700], [640, 650]);
    await page.keyboard.up("Space");
    const end = await guest.point(640, 650);
    expect(end).toEqual(start);
    await page.mouse.dblclick(640, 720);
    await page.locator("textarea:focus").waitFor();
    await page.keyboard.type("Here");
    await ada.note("Here").waitFor();
  });

  it("supports touch", async () => {
    const cleo = await welcome("Cleo", PHONE);
    await cleo.addNote("Touched");
    const start = await ada.placeOf(ada.note("Touched"));
    await cleo.page.keyboard.press("Escape");
    const box = await cleo.note("Touched").boundingBox();
    const [x, y] = [(box?.x ?? 0) + 30, (box?.y ?? 0) + 30];
    const finger = await cleo.page.context().newCDPSession(cleo.page);
    const touch = (type: "touchStart" | "touchMove" | "touchEnd", touchPoints: { x: number; y: number }[]) =>
      finger.send("Input.dispatchTouchEvent", { type, touchPoints });
    await touch("touchStart", [{ x, y }]);
    await touch("touchMove", [{ x: x + 20, y: y + 30 }]);
    await touch("touchMove", [{ x: x + 40, y: y + 60 }]);
    await touch("touchEnd", []);
    const zoom = await cleo.zoom();
    const [right, down] = [Math.round(40 / zoom), Math.round(60 / zoom)];
    await ada.arrives(ada.note("Touched"), { x: start.x + right, y: start.y + down });
    await touch("touchStart", [
      { x: 150, y: 500 },
      { x: 250, y: 500 },
    ]);
    await touch("touchMove", [
      { x: 100, y: 500 },
      { x: 300, y: 500 },
    ]);
    await touch("touchEnd", []);
    await eventually(
      "two fingers have zoomed in",
      async () => Math.abs((await cleo.zoom()) / zoom - 2) < 0.1,
    );
  });

  it("shows a dropped picture to everyone", async () => {
    const { x, y } = await ada.point(600, 500);
    await ada.page.evaluate(
      async (at) => {
        const canvas = new OffscreenCanvas(30, 20);
        canvas.getContext("2d")?.fillRect(0, 0, 30, 20);
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([await canvas.convertToBlob()], "plan.png", { type: "image/png" }));
        const target = document.elementFromPoint(at.x, at.y);
        target?.dispatchEvent(
          new DragEvent("drop", {
            bubbles: true,
            cancelable: true,
            clientX: at.x,
            clientY: at.y,
            dataTransfer,
          }),
        );
      },
      { x: 600, y: 500 },
    );
    for (const visitor of [ada, bo]) {
      const picture = visitor.page.locator(".note:has(img)");
      await visitor.arrives(picture, { x, y });
      const width = () => picture.locator("img").evaluate((image: HTMLImageElement) => image.naturalWidth);
      await eventually("the picture is loaded", async () => (await width()) === 30);
    }
  });

  it("removes a deleted note for everyone", async () => {
    await ada.addNote("Gone");
    await bo.deleteNote("Gone");
    await ada.note("Gone").waitFor({ state: "detached" });
  });
});

describe("comments and reactions", () => {
  it("pin a thread to a note, which it follows, and everyone replies, reacts and resolves", async () => {
    const note = ada.note("Welcome! This board is yours for a day.");
    const { x: left = 0 } = (await note.boundingBox()) ?? {};
    await ada.page.mouse.move(600, 650);
    await ada.pan(250, 0); // the panel moves the board to the left
    await eventually("the note has moved", async () => ((await note.boundingBox())?.x ?? 0) > left + 200);
    const box = await note.boundingBox();
    await ada.comment("Shall we begin?", (box?.x ?? 0) + 150, (box?.y ?? 0) + 120);
    await bo.pin("Shall we begin?").click();
    await bo.page.getByRole("textbox", { name: "Reply" }).fill("In a minute");
    await bo.page.keyboard.press("Enter");
    await bo.page.getByRole("button", { name: "Add reaction" }).first().click();
    await bo.card.getByRole("button", { name: "❤️" }).click();
    await ada.card.locator("li", { hasText: "In a minute" }).waitFor();
    await ada.page.getByRole("button", { name: "❤️ 1, by Bo" }).waitFor();
    expect(await findingsOf(ada.page)).toEqual([]);

    const pinAt = async () => {
      const { x = 0, y = 0 } = (await bo.pin("Shall we begin?").boundingBox()) ?? {};
      return { x: Math.round(x), y: Math.round(y) };
    };
    const { x, y } = await pinAt();
    await ada.page.keyboard.press("Escape");
    await note.focus();
    await ada.page.keyboard.press("ArrowDown");
    await expect.poll(pinAt).toEqual({ x, y: y + 10 });
    const cleo = await welcome("Cleo");
    await cleo.pin("Shall we begin?").waitFor();

    await cleo.pin("Shall we begin?").click();
    await cleo.page.getByRole("textbox", { name: "Reply" }).fill("Now");
    await cleo.page.keyboard.press("Enter");
    await cleo.card.locator("li", { hasText: "Now" }).waitFor();
    await cleo.closeCard();

    await bo.page.getByRole("button", { name: "Resolve" }).click();
    await cleo.pin("Shall we begin?").waitFor({ state: "detached" });
    await ada.page.getByRole("button", { name: "Resolved" }).click();
    await ada.page.getByRole("button", { name: "Shall we begin?" }).click();
    await ada.page.getByRole("button", { name: "Reopen" }).click();
    await cleo.pin("Shall we begin?").waitFor();
    for (const visitor of [ada, bo]) await visitor.closeCard();
    await ada.page.getByRole("button", { name: "Close comments" }).click();
  });

  it("open beside the panel of comments, however large the board is shown", async () => {
    const guest = await welcome("Cleo", { room: "cards" });
    const { page } = guest;
    const isCardBeside = async () =>
      (await guest.edgesOf(".atrium-pin-card")).right < (await guest.edgesOf(".side")).left;
    /** The open thread is, which takes the place of the new comment once that is stored. */
    const isBeside = async () => {
      await guest.card.getByRole("textbox", { name: "Reply" }).waitFor();
      await expect.poll(isCardBeside).toBe(true);
    };
    await guest.comment("At the edge", 740, 600);
    await isBeside();
    await guest.closeCard();
    for (let step = 0; step < 3; step += 1) await page.getByRole("button", { name: "Zoom out" }).click();
    const { right } = await guest.edgesOf(".atrium-pin > button");
    await page.mouse.move(600, 400);
    await guest.pan(Math.round(740 - right), 0);
    await guest.pin("At the edge").click();
    await isBeside();
    await guest.closeCard();

    // A card that is open already, in the place that the panel takes, and behind the open panel.
    await page.getByRole("button", { name: "Close comments" }).click();
    await guest.pin("At the edge").click();
    await page.mouse.move(120, 660);
    await guest.pan(300, 0);
    await guest.openPanel("Comments");
    await page.locator(".side").waitFor();
    await expect.poll(isCardBeside).toBe(true);
    await page.mouse.move(120, 660);
    await guest.pan(300, 0);
    await expect.poll(isCardBeside).toBe(false);
    await page.locator(".side li button").click();
    await expect.poll(isCardBeside).toBe(true);
    await guest.closeCard();

    const pinAt = async () => (await guest.pin("At the edge").boundingBox())?.y ?? 0;
    const before = await pinAt();
    await guest.pin("At the edge").hover();
    await guest.pan(0, 30);
    await expect.poll(pinAt).toBe(before + 30);
    await page.locator(".side li button").click();
    await isBeside();
    await page.keyboard.press("ArrowDown"); // is no matter of the board
    const opened = await pinAt();
    await page.keyboard.press("Escape");
    await guest.card.waitFor({ state: "detached" });
    expect([await pinAt(), await page.locator("button:focus .excerpt").textContent()]).toEqual([
      opened,
      "At the edge",
    ]);
  });

  it("show an emoji to everyone online", async () => {
    await bo.react("☕");
    await floatsUp(bo, "☕");
    await floatsUp(ada, "☕");
  });
});

it("each version of a board has its author, and is restored as one step to undo", async () => {
  const guest = await welcome("Cleo", { room: "past" });
  const { page } = guest;
  const notes = page.locator(".note");
  const becomes = (count: number) =>
    eventually(`there are ${count} notes`, async () => (await notes.count()) === count);
  await guest.deleteNote("Welcome! This board is yours for a day.");
  await becomes(3);
  await guest.openPanel("History");
  const [deletion, opening] = ["deleted “Welcome! This board is yours for a day.”", "opened the board"].map(
    (deed) => page.locator(".side li", { hasText: deed }),
  );
  await deletion?.getByText("Cleo").waitFor();
  expect(await deletion?.getByRole("button").count()).toBe(0); // it is the present
  expect(await findingsOf(page)).toEqual([]);
  await guest.draw("Box", [300, 600], [340, 640]);
  await page.locator(".side li", { hasText: "drew a box" }).waitFor();
  await opening?.getByRole("button", { name: "Restore" }).click();
  await becomes(4);
  await eventually("the box is gone", async () => (await guest.shapes.count()) === 9);
  await page.locator(".side li", { hasText: "changed 2 things" }).getByText("Cleo").waitFor();
  await page.getByRole("button", { name: "Close history" }).click();
  await page.keyboard.press("Control+z");
  await becomes(3);
  await eventually("the box is back", async () => (await guest.shapes.count()) === 10);
});

describe("following a participant", () => {
  it("highlights their cursor and keeps it in view until one moves the board oneself", async () => {
    await ada.other("Bo").click();
    const followed = ada.cursor("Following Bo");
    await followed.waitFor({ state: "attached" });
    for (const [right, down] of [
      [-1200, -900],
      [1200, 900],
    ] as const) {
      await bo.pan(right, down);
      await ada.arrives(followed, await bo.point(400, 400));
      await eventually("Bo's cursor is in Ada's view", async () => {
        const { x, y } = (await followed.boundingBox()) ?? { x: -1, y: -1 };
        return x >= 0 && x <= 1200 && y >= 0 && y <= 800;
      });
      const before = await ada.point(500, 500);
      await bo.arrives(bo.cursor("Ada"), before);
      await bo.pan(right, down);
      await eventually("Bo sees where Ada, whose board has moved, points now", async () => {
        const { x, y } = (await ada.page.locator(".sheet").boundingBox()) ?? { x: 0, y: 0 };
        const shown = await bo.placeOf(bo.cursor("Ada"));
        return shown.x !== before.x && shown.x === 500 - x && shown.y === 500 - y;
      });
    }
    await ada.point(600, 600);
    await ada.pan(10, 10);
    await followed.waitFor({ state: "detached" });
    await ada.cursor("Bo").waitFor();
  });

  it("is shown around the board, and ended by Escape", async () => {
    await ada.other("Bo").click();
    const frame = ada.page.getByRole("button", { name: "Following Bo · Esc" });
    await frame.waitFor();
    expect(await findingsOf(ada.page)).toEqual([]);
    await ada.page.keyboard.press("Escape");
    await frame.waitFor({ state: "detached" });
    await ada.cursor("Bo").waitFor();
  });

  it("survives a reload", async () => {
    const pressed = (isPressed: boolean) =>
      bo.page.getByRole("button", { name: "Follow Ada", pressed: isPressed });
    await pressed(false).click();
    await pressed(true).waitFor();
    await bo.page.reload();
    await pressed(true).click();
    await pressed(false).waitFor();
  });
});

it("a visitor who sends invalid data breaks no one's page", async () => {
  const answer = await fetch(`${service.url}/demo/visitors?room=together&name=Mallory`, {
    method: "POST",
    headers: { "CF-Connecting-IP": newAddress() },
  });
  const { data } = (await answer.json()) as { data: { token: string } };
  const atrium = new Atrium({ serverUrl: service.url, authToken: data.token });
  const [roomId = ""] = IdentityClaims.parse(decodeJwt(data.token)).rooms ?? [];
  const mallory = atrium.enterRoom(roomId);
  await mallory.join();
  mallory.presence.update({
    color: "url(https://elsewhere.test/)",
    cursor: { x: "1e9", y: {} },
    draft: { kind: "pen", tint: "url(x)", points: [{}, null, "x", 1e99] },
    typing: {},
    drag: { noteId: 7 },
  });
  const notes = mallory.store("notes");
  for (const value of [null, 7, "text", [], { text: {}, x: "a", y: null, tint: -1, raisedAt: 1e300 }]) {
    await notes.set(`evil-${JSON.stringify(value)}`, value);
  }
  const shapes = mallory.store("shapes");
  const drawn = { kind: "oval", tint: 1e9, points: Array(20_000).fill(-1e300) };
  for (const value of [null, 7, { kind: "pen" }, { kind: {}, tint: 0, points: [1, 2, 3, 4] }, drawn]) {
    await shapes.set(`evil-${JSON.stringify(value).slice(0, 20)}`, value);
  }
  for (const emoji of [{ toString: "x" }, "<img src=x>", "❤️"]) {
    await mallory.notifications.broadcast("emoji", emoji);
  }
  await Promise.all([floatsUp(ada, "❤️"), floatsUp(bo, "❤️")]);
  for (const { page } of [ada, bo]) {
    expect(await page.getByText("img src").count()).toBe(0);
    await page.locator(".note").nth(5).waitFor();
  }
  for (const store of [notes, shapes])
    for (const key of Object.keys(store.getAll())) if (key.startsWith("evil-")) await store.delete(key);
  mallory.disconnect();
  await ada.other("Mallory").waitFor({ state: "detached" });
  await ada.arrives(ada.cursor("Bo"), await bo.point(500, 500));
});

describe("the page", () => {
  it.each([
    [1440, 900, "light"],
    [1088, 700, "dark"],
    [640, 700, "light"],
    [390, 844, "dark"],
  ] as const)("fits a screen of %i × %i, %s", async (width, height, colorScheme) => {
    const guest = await welcome("Cleo", { viewport: { width, height }, colorScheme, room: "fits" });
    const excess = await guest.page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect(excess).toBeLessThanOrEqual(0);
    const boxOf = async (part: string) => {
      const { x, y, width: wide, height: high } = (await guest.page.locator(part).boundingBox()) ?? EMPTY;
      expect([part, x >= 0, x + wide <= width, y >= 0, y + high <= height]).toEqual([
        part,
        true,
        true,
        true,
        true,
      ]);
      return { x, y, right: x + wide, bottom: y + high };
    };
    const parts = [".board-bar", ".people-bar", ".bar", ".invitation"];
    const boxes = await Promise.all((width < 640 ? parts : [...parts, ".how", ".zoom"]).map(boxOf));
    for (const one of boxes)
      for (const other of boxes)
        if (one !== other)
          expect(
            one.right <= other.x || other.right <= one.x || one.bottom <= other.y || other.bottom <= one.y,
          ).toBe(true);
    for (const panel of ["Comments", "History"]) {
      await guest.openPanel(panel);
      await guest.page.locator(`.side[aria-label="${panel}"]`).waitFor();
      await boxOf(".side");
      expect(await findingsOf(guest.page)).toEqual([]);
      await guest.page.getByRole("button", { name: `Close ${panel.toLowerCase()}` }).click();
    }
    await guest.explain();
    await boxOf(".drawer");
    await boxOf(".bar");
    expect(await findingsOf(guest.page)).toEqual([]);
    await guest.close();
  });

  it("loads from its own service only", async () => {
    const guest = await welcome("Cleo");
    expect(guest.requested.filter((url) => !url.startsWith(service.url))).toEqual([]);
  });
});

it("a service that restarts loses no change", async () => {
  await ada.addNote("Before");
  await bo.note("Before").waitFor();
  const { port, persistTo } = service;
  await service.kill();
  await ada.notice("Offline").waitFor();
  await bo.notice("Offline").waitFor();
  await ada.note("Before").getByRole("textbox").press("End");
  await ada.page.keyboard.type(" and meanwhile");
  const note = await ada.note("Before and meanwhile").boundingBox();
  await ada.comment("Said meanwhile", (note?.x ?? 0) + 100, (note?.y ?? 0) + 100);
  service = await startService({ port, persistTo, settings });
  for (const visitor of [ada, bo]) {
    await visitor.notice("Offline").waitFor({ state: "detached" });
    await visitor.note("Before and meanwhile").waitFor();
    await visitor.page.getByRole("button", { name: "Show everything" }).click();
    await visitor.pin("Said meanwhile").waitFor();
  }
  await bo.page.getByRole("button", { name: "back to 100 %" }).click();
  await ada.other("Bo").waitFor();
  await ada.arrives(ada.cursor("Bo"), await bo.point(450, 350));
  const cleo = await welcome("Cleo");
  await cleo.note("Before and meanwhile").waitFor();
  await cleo.page.getByRole("button", { name: "Show everything" }).click();
  await cleo.pin("Said meanwhile").waitFor(); // fails if there are two
});

it("no browser logs errors or warnings", () => {
  expect([...ada.complaints, ...bo.complaints]).toEqual([]);
});
