/** The quickstarts as their readers follow them, up to what their pictures show. */
import assert from "node:assert/strict";
import type { Browser, Frame, Page } from "playwright-core";
import { complaintsOf } from "./chromium.ts";
import type { Starter } from "./starter.ts";

/** What two people do in two windows with the page of a quickstart: each sees what the other does. */
type Play<Window> = (ada: Window, bo: Window) => Promise<void>;

/** A window, or a frame beside the code. */
type View = Page | Frame;

export const SIZE = { width: 500, height: 340 };

/** Opens two windows, the first one as Ada; `complaints` are the errors and warnings of both. */
export async function openTwo(
  browser: Browser,
  url: string,
): Promise<{ ada: Page; bo: Page; complaints: string[][] }> {
  const complaints: string[][] = [];
  const open = async (): Promise<Page> => {
    const page = await browser.newPage({ viewport: SIZE });
    complaints.push(complaintsOf(page));
    await page.goto(url);
    await page.locator("main *").first().waitFor(); // the room is known, and so the name that is next
    return page;
  };
  return { ada: await open(), bo: await open(), complaints };
}

/** Waits until the window shows the pointer of `name` at a place. */
const seen = async (to: View, name: string, x: number, y: number): Promise<void> => {
  const cursor = to.locator(".cursor", { hasText: name });
  await cursor.waitFor();
  await to.waitForFunction(
    ([text, left, top]) => {
      const all = [...document.querySelectorAll(".cursor")];
      const box = all.find(({ textContent }) => textContent === text)?.getBoundingClientRect();
      return Math.round(box?.left ?? 0) === left && Math.round(box?.top ?? 0) === top;
    },
    [name, x, y] as const,
  );
};

/** Moves a pointer to a place, until the other window shows it there. */
export const point = async (from: View, to: View, name: string, x: number, y: number): Promise<void> => {
  await from.locator("html").hover({ position: { x, y } });
  await seen(to, name, x, y);
};

/** Ada's finger points where it is, and does not scroll the page instead. */
export async function pointByFinger(ada: Page, bo: Page): Promise<void> {
  const session = await ada.context().newCDPSession(ada);
  const touch = (type: "touchStart" | "touchMove" | "touchEnd", ...touchPoints: { x: number; y: number }[]) =>
    session.send("Input.dispatchTouchEvent", { type, touchPoints });
  await touch("touchStart", { x: 210, y: 230 });
  await seen(bo, "Ada", 210, 230);
  for (const y of [200, 170, 140, 110]) await touch("touchMove", { x: 210, y });
  await seen(bo, "Ada", 210, 110);
  await touch("touchEnd");
  await bo.locator(".cursor", { hasText: "Ada" }).waitFor({ state: "detached" });
}

async function moveCursors(ada: View, bo: View): Promise<void> {
  await point(ada, bo, "Ada", 300, 190);
  await point(bo, ada, "Bo", 190, 255);
}

async function moveInFrames(ada: View, bo: View): Promise<void> {
  await point(ada, bo, "Ada", 200, 90);
  await point(bo, ada, "Bo", 120, 140);
}

/** The element that has the keyboard. */
const focused = (view: View): Promise<string | undefined> =>
  view.evaluate(() => document.activeElement?.tagName);

async function shareList(ada: View, bo: View): Promise<void> {
  for (const name of ["Undo", "Redo"]) await bo.getByRole("button", { name, disabled: true }).waitFor(); // nothing is left to take back
  for (const title of ["Tea", "Apples", "Bread"]) {
    await ada.getByLabel("New item").fill(title);
    await ada.getByRole("button", { name: "Add" }).click();
    await bo.getByText(title, { exact: true }).waitFor();
  }
  await bo.getByRole("checkbox", { name: "Apples" }).check();
  await ada.getByRole("checkbox", { name: "Apples", checked: true }).waitFor();
  await ada.getByRole("button", { name: "Delete Bread" }).press("Enter");
  await bo.getByText("Bread", { exact: true }).waitFor({ state: "detached" });
  await ada.getByText("Bread", { exact: true }).waitFor({ state: "detached" });
  assert.equal(await focused(ada), "UL");
  await ada.getByRole("button", { name: "Undo" }).click();
  await bo.getByText("Bread", { exact: true }).waitFor();
  await bo.getByRole("checkbox", { name: "Apples", checked: true }).waitFor();
  for (const [page, other] of [
    [ada, "Bo"],
    [bo, "Ada"],
  ] as const)
    await page.getByText(`With ${other}`).waitFor();
}

async function comment(ada: View, bo: View): Promise<void> {
  const send = async (page: View, text: string) => {
    const field = page.getByLabel("Comment on title");
    await field.fill(text);
    await field.press("Enter");
  };
  await ada.getByText("Comment", { exact: true }).first().click();
  await send(ada, "On Sunday?");
  await bo.getByText("On Sunday?").waitFor();
  await send(bo, "No");
  await ada.getByText("No", { exact: true }).waitFor();
  await ada.getByRole("button", { name: "Resolve" }).first().press("Enter"); // its reply ends with it
  for (const page of [ada, bo]) await page.getByRole("listitem").first().waitFor({ state: "detached" });
  assert.equal(await focused(ada), "SUMMARY");
  await ada.getByText("Comment", { exact: true }).first().click();
  await send(ada, "Not on Sunday?");
  await bo.getByText("Not on Sunday?").waitFor();
  await send(bo, "Monday is fine");
  await ada.getByRole("listitem").filter({ hasText: "Bo" }).getByText("Monday is fine").waitFor();
  await send(bo, "Done");
  await ada.getByRole("listitem").filter({ hasText: "Done" }).getByRole("button").click();
  await Promise.all([ada, bo].map((page) => page.getByText("Comments: 2").waitFor()));
}

async function write(ada: Page, bo: Page): Promise<void> {
  const [own, other] = [ada, bo].map((page) => page.getByLabel("Minutes"));
  if (own === undefined || other === undefined) return;
  await own.click();
  await ada.keyboard.type("# Weekly planning\nAda writes here\nBo writes there");
  await other.getByText("Bo writes there").click();
  await bo.keyboard.press("End");
  await own.getByText("Ada writes here").click();
  await ada.keyboard.press("End");
  await Promise.all([ada.keyboard.type(", and sees Bo"), bo.keyboard.type(", at the same time")]);
  for (const [text, name] of [
    [own, "Bo"],
    [other, "Ada"],
  ] as const) {
    await text.getByText("Ada writes here, and sees Bo").waitFor();
    await text.getByText("Bo writes there, at the same time").waitFor();
    await text.locator(".collaboration-carets__label", { hasText: name }).waitFor();
  }
  for (const page of [ada, bo]) await page.getByText("Saved", { exact: true }).waitFor();
}

/** Of the frames of one page, one has the focus, and so the caret. */
async function writeInTurns(ada: View, bo: View): Promise<void> {
  for (const [from, to, name] of [
    [ada, bo, "Ada"],
    [bo, ada, "Bo"],
  ] as const) {
    const [own, other] = [from, to].map((view) => view.getByLabel("Minutes"));
    await own?.click();
    await own?.pressSequentially(`${name} writes here`);
    await other?.getByText(`${name} writes here`).waitFor();
    await other?.locator(".collaboration-carets__label", { hasText: name }).waitFor();
  }
}

/** Quickstarts that are pages, by their names. */
export const PAGES: Readonly<Record<string, Play<Page>>> = {
  cursors: moveCursors,
  "cursors-javascript": moveCursors,
  list: shareList,
  comments: comment,
  editor: write,
};

/** The same in the two frames beside their code. */
export const FRAMES: Readonly<Record<string, Play<Frame>>> = {
  cursors: moveInFrames,
  "cursors-javascript": moveInFrames,
  list: shareList,
  comments: comment,
  editor: writeInTurns,
};

/** A terminal with a command and what it has printed. */
export interface Terminal {
  readonly command: string;
  readonly output: string;
}

/** Runs a command of the page in a second terminal, until the first one prints `last`. */
async function runBeside(starter: Starter, command: string, last: string): Promise<Terminal[]> {
  const output = await starter.shell(command);
  await starter.prints(last, (printed) => printed.includes(last));
  return [
    { command: "npm start", output: starter.output },
    { command, output },
  ];
}

/** Has the server of `docs/quickstarts/server.md` at this address visited. */
export async function visit(starter: Starter, url: string): Promise<Terminal[]> {
  await starter.rewrite(".env", (text) => `${text}PORT=${new URL(url).port}\n`);
  return runBeside(starter, starter.commands.at(-1) ?? "", "participant.left Ada");
}

/** Invites the agent of `docs/quickstarts/agent.md`, and starts it. */
export async function startAgent(starter: Starter): Promise<void> {
  await starter.run("--env-file=.env", "invite.ts"); // npm runs it before `npm start`
  await starter.begin();
  await starter.prints("that it is ready", (output) => output.includes("The agent waits for mentions"));
}

const ASK = "node --env-file=.env ask.ts";

/** Has the agent asked. */
export const ask = (starter: Starter): Promise<Terminal[]> => runBeside(starter, ASK, "Answered");

/** Has the agent asked, and what it suggests accepted. */
export async function askAndAccept(starter: Starter): Promise<Terminal[]> {
  const accept = "node --env-file=.env decide.ts accept";
  assert.deepEqual(
    [ASK, accept].filter((each) => !starter.commands.includes(each)),
    [],
  );
  const asked = await ask(starter);
  return [...asked, { command: accept, output: await starter.shell(accept) }];
}
