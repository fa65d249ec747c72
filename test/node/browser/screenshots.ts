/**
 * `npm run dev -- screenshots`: takes the pictures in docs/pictures, with a service and data of its own. With
 * `--pages DIR`, fifteen pages light, dark and on a phone, into that folder instead.
 */
import { execFile } from "node:child_process";
import { mkdir, rm } from "node:fs/promises";
import path from "node:path";
import { parseArgs, promisify } from "node:util";
import { AtriumClient } from "atrium/client";
import { openDocument } from "atrium/documents";
import { AtriumServer } from "atrium/server";
import type { Browser, Page, PageScreenshotOptions } from "playwright-core";
import { Doc, encodeStateAsUpdate } from "yjs";
import { eventually, ROOT } from "../cli/processes.ts";
import { type Service, startService } from "../cli/service.ts";
import { pictureOf, showBeside, type Window } from "./beside.ts";
import { launchChromium } from "./chromium.ts";
import { Desk } from "./dashboard.ts";
import { takeMovie } from "./movie.ts";
import { takePages } from "./page-pictures.ts";
import {
  askAndAccept,
  openTwo,
  PAGES,
  startAgent,
  type Terminal,
  visit,
  SIZE as WINDOW,
} from "./quickstarts.ts";
import { buildComponents } from "./react-ui/components.ts";
import { buildPackage, Starter } from "./starter.ts";

const PICTURES = path.join(ROOT, "docs/pictures");
const ROOMS = ["Onboarding", "Roadmap", "Design critique", "Retrospective", "Weekly planning"];
const PEOPLE = ["Ada", "Bo", "Cleo"];
const TASKS = {
  "book-room": { title: "Book a room", done: true },
  "write-agenda": { title: "Write the agenda", done: false, for: "Bo" },
  "bring-tea": { title: "Bring tea", done: false, for: "Cleo" },
};
const POINTERS = [
  { x: 640, y: 150 },
  { x: 1116, y: 342 },
  { x: 900, y: 590 },
];
const COLORS = ["#c2410c", "#0f766e", "#7c3aed"];
const MINUTES = "Weekly planning\n\n1. What did last week bring?\n2. Who does the interviews?\n3. The demo\n";
const SIZE = { width: 1120, height: 640 };
/** Around a component, in pixels. */
const EDGE = 16;
const COMPONENTS = { width: 500, height: 590 };
const WIDE = { width: 1680, height: 860 };

/** Keeps a picture without loss in a third of the bytes of a PNG, by Debian's `cwebp` (package webp). */
async function take(page: Page, name: string, options: PageScreenshotOptions = {}): Promise<void> {
  const file = path.join(PICTURES, `${name}.webp`);
  const encoded = promisify(execFile)("cwebp", ["-quiet", "-lossless", "-z", "9", "-o", file, "--", "-"]);
  encoded.child.stdin?.end(await page.screenshot(options));
  await encoded;
}

/** Makes a window as tall as its page. */
async function stretch(page: Page, { width }: { readonly width: number }): Promise<void> {
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  await page.setViewportSize({ width, height });
}

/** Takes all of a page. */
async function takeWhole(page: Page, name: string): Promise<void> {
  await stretch(page, SIZE);
  await take(page, name);
  await page.setViewportSize(SIZE);
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
  for (const [index, cursor] of POINTERS.entries())
    clients[index]?.presence.update({ cursor, color: COLORS[index] ?? "" });
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
  await desk.row("Weekly planning").getByText("3 here").waitFor();
  await desk.link("All quotas").waitFor();
  await takeWhole(desk.page, "overview");
  await desk.enter(`/rooms/${roomId}/documents/minutes`);
  await desk.page.getByText("Decided: tea").waitFor();
  await desk.page.getByRole("region", { name: "Trail" }).getByText("Bo").waitFor();
  await take(desk.page, "document");
  await desk.page.emulateMedia({ colorScheme: "dark" });
  await desk.page.setViewportSize(WIDE);
  await desk.enter(`/rooms/${roomId}`);
  await desk.page.getByText("You are not shown to the people in the room.").waitFor();
  await bo.notifications.broadcast("wave", { hand: "left" });
  await ada.store("tasks").update("bring-tea", { done: true });
  await desk.page
    .getByRole("region", { name: "Events" })
    .getByText(/bring-tea/)
    .waitFor();
  await desk.page.locator(".cursor-name").first().waitFor();
  await take(desk.page, "live");
  for (const client of clients) client.disconnect();
}

async function takeBeside(browser: Browser, name: string, windows: readonly Window[]): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1060, height: 200 } });
  await page.setContent(showBeside(windows));
  await take(page, name, { fullPage: true });
  await page.close();
}

const terminal = (title: string, ...commands: readonly Terminal[]): Window => {
  const shown = commands.map(({ command, output }) => {
    const text = output.trim().replaceAll("&", "&amp;").replaceAll("<", "&lt;");
    return `<b>$ ${command}</b>\n${text}`;
  });
  return { title, content: `<pre>${shown.join("\n")}</pre>` };
};

/** The end of each quickstart: what its page shows to two people, or what its two terminals have printed. */
async function takeQuickstarts(browser: Browser, service: Service): Promise<void> {
  const dist = await buildPackage();
  const follow = async (name: string, show: (starter: Starter) => Promise<Window[]>): Promise<void> => {
    const starter = await Starter.follow(name, dist, service);
    try {
      await takeBeside(browser, `quickstart-${name}`, await show(starter));
    } finally {
      await starter.remove();
    }
  };
  for (const [name, play] of Object.entries(PAGES))
    await follow(name, async (starter) => {
      const url = await starter.start();
      const { ada, bo } = await openTwo(browser, url);
      await play(ada, bo);
      for (const page of [ada, bo]) await stretch(page, WINDOW);
      const windows = [await pictureOf("Ada", ada), await pictureOf("Bo", bo)];
      await Promise.all([ada.close(), bo.close()]);
      return windows;
    });
  await follow("server", async (starter) => {
    const url = await starter.start();
    const [server, visitor] = await visit(starter, url);
    const output = server?.output.replace(url, "http://localhost:3000") ?? "";
    return [
      server && terminal("The server", { ...server, output }),
      visitor && terminal("A visitor", visitor),
    ].filter((one) => one !== undefined);
  });
  await follow("agent", async (starter) => {
    await startAgent(starter);
    const [agent, ...others] = await askAndAccept(starter);
    return [terminal("The agent", ...(agent ? [agent] : [])), terminal("Ada", ...others)];
  });
  await rm(dist, { recursive: true });
}

/** The components in two windows of a room: a thread with its composer, and the people around it. */
async function takeComponents(browser: Browser, service: Service): Promise<void> {
  const atrium = new AtriumServer({ ...service, serverUrl: service.url });
  const { id: roomId } = await atrium.rooms.create({ name: "Weekly planning" });
  const components = await buildComponents(service.url);
  const open = async (name: string, colorScheme: "light" | "dark"): Promise<Page> => {
    const { token } = await atrium.users.create({ roomId, name });
    const look = { viewport: COMPONENTS, colorScheme, deviceScaleFactor: 2 };
    const { page } = await components.open(browser, token, 19, look);
    await page.getByText("Connected").waitFor();
    return page;
  };
  const ada = await open("Ada", "light");
  const bo = await open("Bo", "dark");
  for (const name of ["Cleo", "Dan"]) {
    const { token } = await atrium.users.create({ roomId, name });
    await components.open(browser, token, 19);
  }
  await ada.getByText("+1").waitFor();
  await ada.getByRole("textbox", { name: "Comment" }).fill("Who brings tea on Friday?");
  await ada.keyboard.press("Enter");
  const reply = bo.getByRole("textbox", { name: "Reply" });
  await reply.fill("I do, and @cl");
  await bo.getByRole("option", { name: "Cleo" }).waitFor();
  await bo.keyboard.press("Enter");
  await bo.keyboard.type("brings cake.");
  await bo.keyboard.press("Enter");
  const answer = ada.getByRole("article", { name: "Bo" });
  await answer.getByRole("button", { name: "Add reaction" }).click();
  await ada.getByRole("button", { name: "😄" }).click();
  await bo.getByRole("button", { name: "😄 1, by Ada" }).waitFor();
  await bo.mouse.move(330, 180);
  await ada.locator(".atrium-cursor:not([hidden])").waitFor();
  await ada.mouse.move(330, 90);
  await bo.locator(".atrium-cursor:not([hidden])").waitFor();
  await ada.getByRole("textbox", { name: "Reply" }).fill("Thanks, @");
  await ada.getByRole("listbox").waitFor();
  await takeBeside(browser, "components", [await pictureOf("Ada", ada), await pictureOf("Bo", bo)]);
  await components.remove();
}

/** Each component alone, as Ada sees it, who has an inbox and the versions of a document. */
async function takeParts(browser: Browser, service: Service): Promise<void> {
  const atrium = new AtriumServer({ ...service, serverUrl: service.url });
  const { id: room } = await atrium.rooms.create({ name: "Weekly planning" });
  const people = await Promise.all(PEOPLE.map((name) => atrium.identifyUser({ customId: name, name })));
  const known = Object.fromEntries(people.map(({ identity }) => [identity.id, identity.name]));
  const identitiesAccesses = Object.fromEntries(Object.keys(known).map((id) => [id, ["*:write" as const]]));
  await atrium.updateRoomAccess(room, { identitiesAccesses });
  const doc = new Doc();
  const text = doc.getText("default");
  for (const [name, line] of [
    ["Agenda", MINUTES],
    ["As sent", "\nDecided: tea comes from Cleo.\n"],
  ] as const) {
    text.insert(text.length, line);
    await atrium.documents.apply(room, "minutes", encodeStateAsUpdate(doc));
    await atrium.documents.createVersion(room, "minutes", name);
  }
  const components = await buildComponents(service.url);
  const windows: Page[] = [];
  for (const { token } of people) {
    const given = { room, known: JSON.stringify(known), document: "minutes" };
    const look = { viewport: { width: COMPONENTS.width, height: 1_400 }, deviceScaleFactor: 2, given };
    const { page } = await components.open(browser, token, 19, look);
    await page.getByText("Connected").waitFor();
    windows.push(page);
  }
  const [ada, bo, cleo] = windows;
  if (ada === undefined || bo === undefined || cleo === undefined) return;
  const takePart = async (name: string, part: string, edge = EDGE) => {
    const box = await ada.locator(part).first().boundingBox();
    if (box === null) throw new Error(`${part} is not shown`);
    const { x, y, width, height } = box;
    const clip = { x: x - edge, y: y - edge, width: width + 2 * edge, height: height + 2 * edge };
    await take(ada, `component-${name}`, { clip });
  };
  const { identity } = people[0] ?? {};
  const subject = { kind: "$invoice", subjectId: "7", data: { amount: 12 } } as const;
  if (identity) await atrium.triggerInboxNotification({ identityId: identity.id, ...subject });
  await bo.locator("main > .atrium-composer").getByRole("textbox").fill("Who brings tea on Friday, @ad");
  await bo.getByRole("option", { name: "Ada" }).click();
  await bo.keyboard.press("Enter");
  await cleo.getByRole("textbox", { name: "Reply" }).fill("I do!");
  await cleo.keyboard.press("Enter");
  await bo.getByText("I do!").last().waitFor();
  await bo.getByRole("button", { name: "Add reaction" }).last().click();
  await bo.getByRole("button", { name: "😄" }).click();
  await ada.getByRole("button", { name: "😄 1, by Bo" }).waitFor();
  await ada.getByText("Cleo and Bo commented").waitFor();
  await ada.getByRole("button", { name: "Show changes" }).first().click();
  await ada.getByText("Decided: tea comes").waitFor();
  await bo.mouse.move(230, 64);
  await cleo.mouse.move(330, 74);
  for (const place of ["230px, 64px", "330px, 74px"])
    await ada.locator(`.atrium-cursor[style*="translate(${place})"]`).waitFor();
  await takePart("cursors", ".people");
  for (const page of [bo, cleo]) await page.mouse.move(230, 5);
  await takePart("avatar-stack", ".atrium-avatars");
  await takePart("connection-status", ".atrium-status");
  await takePart("inbox-notification-list", ".atrium-inbox");
  await takePart("inbox-notification", ".atrium-inbox li:last-child .atrium-comment", EDGE / 2);
  await takePart("version-history", ".atrium-versions");
  await takePart("thread", ".atrium-thread");
  await takePart("comment", ".atrium-thread li:last-child", EDGE / 2);
  const composer = ada.locator("main > .atrium-composer");
  await composer.locator("input[type=file]").setInputFiles(path.join(PICTURES, "overview.webp"));
  await composer.locator(".atrium-attachments img").waitFor();
  await composer.getByRole("textbox").fill("Here is the plan for Friday.");
  await takePart("composer", "main > .atrium-composer");
  await components.remove();
}

/** What can be taken alone: `npm run dev -- screenshots movie`. */
const TAKES: Readonly<Record<string, (browser: Browser, service: Service) => Promise<void>>> = {
  quickstarts: takeQuickstarts,
  components: takeComponents,
  parts: takeParts,
  dashboard: (browser, { url }) => takeDashboard(browser, url),
  movie: (browser, { url }) => takeMovie(browser, url, path.join(PICTURES, "two-windows.webp")),
};

const { values, positionals: named } = parseArgs({
  allowPositionals: true,
  options: { pages: { type: "string" } },
});
await mkdir(PICTURES, { recursive: true });
const service = await startService();
const browser = await launchChromium();
try {
  if (values.pages !== undefined) await takePages(browser, service, path.resolve(values.pages));
  else
    for (const [name, take] of Object.entries(TAKES))
      if (named.length === 0 || named.includes(name)) await take(browser, service);
} finally {
  await browser.close();
  await service.kill();
}
