/** The starter of a chat, installed from its own lock: an answer survives a reload in its middle, and everyone sees it grow. */
import { rm } from "node:fs/promises";
import path from "node:path";
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
const starter = await Starter.install("chat", dist, await sharedService(), "locked");
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
  expect(complaints.flat()).toEqual([]);
});
