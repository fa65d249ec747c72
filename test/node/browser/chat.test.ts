/** The starter of a chat, installed from its own lock: an answer survives a reload in its middle, and everyone sees it grow. */
import { rm } from "node:fs/promises";
import path from "node:path";
import { AtriumServer } from "atrium/server";
import type { Page } from "playwright-core";
import { afterAll, expect, it } from "vitest";
import { ROOT } from "../cli/processes.ts";
import { sharedService } from "../cli/shared-service.ts";
import { openBrowser } from "./browser.ts";
import { complaintsOf } from "./chromium.ts";
import { buildPackage, Starter } from "./starter.ts";

const TSC = path.join(ROOT, "node_modules/typescript/bin/tsc");
const VITE = "node_modules/vite/bin/vite.js";
const END = "That is all. 🚀";

const browser = await openBrowser();
const dist = await buildPackage();
const service = await sharedService();
const starter = await Starter.install("chat", dist, service, "locked");
await starter.run(TSC, "-p", ".");
await starter.run(VITE, "build");
const url = await starter.start([VITE, "preview"]);

afterAll(async () => {
  await starter.remove();
  await rm(dist, { recursive: true, force: true });
});

const complaints: string[][] = [];

async function open(): Promise<Page> {
  const page = await browser.newPage();
  complaints.push(complaintsOf(page));
  await page.goto(url);
  await page.getByText("connected", { exact: true }).waitFor();
  return page;
}

const messages = (page: Page): Promise<string[]> => page.getByRole("listitem").allTextContents();

async function ask(page: Page, question: string): Promise<void> {
  await page.getByLabel("Question").fill(question);
  await page.getByRole("button", { name: "Ask" }).click();
}

/** Waits until the page shows the whole answer. */
const answers = (page: Page, question: string): Promise<void> =>
  page
    .getByRole("listitem")
    .filter({ hasText: `You asked “${question}”` })
    .filter({ hasText: END })
    .waitFor();

/** Waits for the text of the page's status. */
const says = (page: Page, text: string): Promise<void> => page.getByRole("status").getByText(text).waitFor();

const shows = (page: Page, count: number): Promise<void> =>
  expect.poll(async () => (await messages(page)).filter((text) => text.endsWith(END)).length).toBe(count);

it("shows an answer to both while it grows, after a reload in its middle, and to a third one later", async () => {
  const [ada, bo] = [await open(), await open()];
  await ask(ada, "What is this?");
  for (const page of [ada, bo]) await page.getByText("word by word").waitFor();
  await ada.reload();
  await ada.getByText("word by word").waitFor();
  expect((await messages(ada)).join()).not.toContain(END);
  for (const page of [ada, bo]) await shows(page, 1);

  await ask(bo, "And now?");
  for (const page of [ada, bo]) await shows(page, 2);
  const cleo = await open();
  await shows(cleo, 2);
  const all = await messages(bo);
  expect(all).toHaveLength(4);
  expect([all[0], all[2]]).toEqual(["What is this?", "And now?"]);
  expect(all[3]).toMatch(/^You asked “And now\?”\. This answer is written .* word by word\. Reload /);
  for (const page of [ada, cleo]) expect(await messages(page)).toEqual(all);

  await Promise.all([ask(ada, "One?"), ask(bo, "Two?")]);
  for (const page of [ada, bo, cleo]) await shows(page, 4);
  for (const page of [ada, bo]) expect(await messages(page)).toEqual(await messages(cleo));
  expect(complaints.flat()).toEqual([]);
});

it("can be asked after a question has failed, and after an answer was deleted", async () => {
  const page = await open();
  await page.route("**/ask", (route) => route.fulfill({ status: 500, body: "No luck" }), { times: 1 });
  await ask(page, "Lost?");
  await says(page, "The answer has failed: No luck");
  await ask(page, "Once more?");
  await answers(page, "Once more?");

  const atrium = new AtriumServer({ ...service, serverUrl: service.url });
  const { room } = await atrium.rooms.getByCustomId("chat");
  const { streams } = await atrium.streams.list(room.id, { limit: 100 });
  const latest = streams.reduce((a, b) => (a.created_at > b.created_at ? a : b));
  await (await atrium.stream(room.id, latest.name)).delete();
  await page.reload();
  await says(page, "The answer has failed: Stream not found");
  await ask(page, "Better?");
  await answers(page, "Better?");
});

it("ends an answer whose back end was killed when it starts again", async () => {
  const [ada, bo] = [await open(), await open()];
  await ask(ada, "Will you stop?");
  for (const page of [ada, bo]) await page.getByText("You asked “Will you stop?”. This").waitFor();
  await starter.stop();
  await starter.start([VITE, "preview"], Number(new URL(url).port));
  for (const page of [ada, bo]) await says(page, "The answer has failed: The back end has stopped");
  await ask(bo, "Are you back?");
  for (const page of [ada, bo]) await answers(page, "Are you back?");
});
