/** `npm run screenshots`: takes the pictures in docs/pictures, with a service and data of its own. */
import { mkdir } from "node:fs/promises";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { AtriumClient } from "../../src/sdk/client/index.ts";
import { openDocument } from "../../src/sdk/documents/index.ts";
import { eventually, ROOT } from "../cli/processes.ts";
import { startService } from "../cli/service.ts";
import { launchChromium } from "./chromium.ts";
import { Desk } from "./dashboard.ts";
import { Visitor } from "./visitor.ts";

const PICTURES = path.join(ROOT, "docs/pictures");
const ROOMS = ["Onboarding", "Roadmap", "Design critique", "Retrospective", "Weekly planning"];
const PEOPLE = ["Ada", "Bo", "Cleo"];
const TASKS = {
  "book-room": { title: "Book a room", done: true },
  "write-agenda": { title: "Write the agenda", done: false, for: "Bo" },
  "bring-tea": { title: "Bring tea", done: false, for: "Cleo" },
};
/** Each user's note beside the first ones of the board, and the final position of their pointer. */
const NOTES = [
  { name: "Ada", text: "Sketch the onboarding", place: { x: 112, y: 350 }, pointer: { x: 640, y: 150 } },
  { name: "Bo", text: "Ask three customers", place: { x: 1014, y: 262 }, pointer: { x: 1116, y: 342 } },
  { name: "Cleo", text: "Demo on Friday", place: { x: 1000, y: 462 }, pointer: { x: 900, y: 590 } },
];
const COLORS = ["#c2410c", "#0f766e", "#7c3aed"];
const MINUTES = "Weekly planning\n\n1. What did last week bring?\n2. Who does the interviews?\n3. The demo\n";
const BOARD_SIZE = { width: 1280, height: 740 };
const SIZE = { width: 1120, height: 640 };
const WIDE = { width: 1680, height: 860 };

const take = (page: Page, name: string) => page.screenshot({ path: path.join(PICTURES, `${name}.png`) });

/** Takes all of a page, in a window that is as tall. */
async function takeWhole(page: Page, name: string): Promise<void> {
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  await page.setViewportSize({ ...SIZE, height });
  await take(page, name);
  await page.setViewportSize(SIZE);
}

/** The demo as seen by one of three users. */
async function takeBoard(browser: Browser, url: string): Promise<void> {
  const visitors: Visitor[] = [];
  for (const { name, text, place } of NOTES) {
    const visitor = await Visitor.open(browser, url, name, { viewport: BOARD_SIZE });
    await visitor.addNote(text);
    const grip = await visitor.note(text).locator(".grip").boundingBox();
    await visitor.drag([(grip?.x ?? 0) + 60, (grip?.y ?? 0) + 10], [place.x + 60, place.y + 10]);
    visitors.push(visitor);
  }
  await visitors[2]?.draw("Pen", [682, 582], [900, 590]);
  const [ada, ...others] = visitors;
  if (ada === undefined) return;
  await ada.page.getByLabel("Comment", { exact: true }).fill("Who takes the first interview?");
  await ada.page.getByRole("button", { name: "Send" }).click();
  for (const [index, { name, pointer }] of NOTES.slice(1).entries()) {
    const place = await others[index]?.point(pointer.x, pointer.y);
    if (place !== undefined) await ada.arrives(ada.cursor(name), place);
  }
  await ada.page.locator("textarea:focus").evaluateAll((all) => {
    for (const one of all) one.blur();
  });
  for (const { text } of NOTES) await ada.note(text).waitFor();
  await take(ada.page, "board");
  for (const visitor of visitors) await visitor.close();
}

/** The dashboard of an organization with a room in which three users are online. */
async function takeDashboard(browser: Browser, url: string): Promise<void> {
  const look = { viewport: SIZE, deviceScaleFactor: 1 };
  const desk = await Desk.signedUp(browser, url, { organization: "Boards" }, look);
  await desk.ask("POST", "/api-keys", { name: "Back end" }); // the last of the first steps, which leave the overview
  await desk.ask("POST", "/webhooks", { url: "http://127.0.0.1:9/", events: ["participant.joined"] });
  let roomId = "";
  for (const name of ROOMS) roomId = await desk.createRoom({ name });
  const clients: AtriumClient[] = [];
  for (const name of PEOPLE) {
    const { token } = await desk.ask<{ token: string }>("POST", "/users", { name, roomId });
    const client = new AtriumClient({ serverUrl: url, authToken: token });
    await client.join();
    clients.push(client);
  }
  const [ada, bo] = clients;
  if (ada === undefined || bo === undefined) return;
  for (const [key, task] of Object.entries(TASKS)) await ada.store("tasks").set(key, task);
  for (const [index, { pointer }] of NOTES.entries()) {
    clients[index]?.presence.update({ cursor: pointer, color: COLORS[index] ?? "" });
  }
  const minutes = openDocument(ada, "minutes");
  minutes.doc.getText("default").insert(0, MINUTES);
  await minutes.flush();
  await desk.ask("POST", `/rooms/${roomId}/documents/minutes/versions`, { name: "Agenda as sent" });
  const copy = openDocument(bo, "minutes");
  const text = copy.doc.getText("default");
  await eventually("Bo has the minutes", () => text.length > 0);
  text.insert(text.length, "\nDecided: tea comes from Cleo, and the demo is on Friday.\n");
  await copy.flush();

  await desk.enter();
  await desk.row("Weekly planning").getByText("3").waitFor();
  await desk.page.locator(".stats > div", { hasText: "Participants" }).getByText("3").waitFor();
  await desk.page.getByRole("list", { name: "Quotas" }).waitFor();
  await takeWhole(desk.page, "overview");
  await desk.enter(`/rooms/${roomId}/documents/minutes`);
  await desk.page.getByText("Decided: tea").waitFor();
  await desk.page.getByRole("region", { name: "Trail" }).getByText("Bo").waitFor();
  await take(desk.page, "document");
  await desk.page.emulateMedia({ colorScheme: "dark" });
  await desk.page.setViewportSize(WIDE);
  await desk.enter(`/rooms/${roomId}`);
  await desk.page.getByText("Watch live", { exact: true }).click();
  await desk.page.getByText("Watching live as a viewer").waitFor();
  await bo.notifications.broadcast("wave", { hand: "left" });
  await ada.store("tasks").update("bring-tea", { done: true });
  const stream = desk.page.getByRole("region", { name: "Stream of events" });
  await stream.getByText(/bring-tea/).waitFor();
  await desk.page
    .getByRole("region", { name: "Stores as a tree" })
    .getByText('"done":true')
    .first()
    .waitFor();
  await desk.page.getByRole("region", { name: "Cursors" }).waitFor();
  await take(desk.page, "live");
  for (const client of clients) client.disconnect();
}

await mkdir(PICTURES, { recursive: true });
const service = await startService();
const browser = await launchChromium();
try {
  await takeBoard(browser, service.url);
  await takeDashboard(browser, service.url);
} finally {
  await browser.close();
  await service.kill();
}
