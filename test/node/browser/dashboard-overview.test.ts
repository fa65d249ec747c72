/** The overview: who is online among many rooms, samples that run as they are, and metrics over a time. */

import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { AtriumServer } from "atrium/server";
import type { Locator, Page } from "playwright-core";
import { afterAll, expect, it } from "vitest";
import { bundleDashboard } from "../../../src/cli/bundle/dashboard-bundle.ts";
import { run } from "../cli/processes.ts";
import { openDesk } from "./browser.ts";
import { Desk, newAddress, PASSWORD } from "./dashboard.ts";

/** The largest limit of a quota. */
const LARGEST = 999_999_999_999_999;

const { service, browser, desk } = await openDesk();

const chooseTab = async (name: string) => {
  await desk.page.getByRole("tab", { name, exact: true }).click();
  await desk.page.getByRole("tabpanel", { name, exact: true }).waitFor();
};

it("fills in the samples for React, TypeScript and a server, and the one for curl runs as it is", async () => {
  const known = desk.requested.length;
  await desk.enter();
  await desk.heading("Connect your application").waitFor();
  const steps = desk.page.getByRole("region", { name: "Get started in three steps" });
  const step = (title: string) => steps.getByRole("listitem").filter({ hasText: title }).getByText("done");
  await steps.waitFor();
  const sessions = desk.requested.slice(known).filter((url) => url.endsWith("/session"));
  const untaken = await desk.page.evaluate(() => [...(globalThis.earlyAnswers?.keys() ?? ["none"])]);
  expect([sessions.length, untaken]).toEqual([1, []]);
  expect(await step("").count()).toBe(0);
  expect(await desk.page.locator(".stats, table").count()).toBe(0);
  await desk.page.locator(".sample .hljs-string").first().waitFor();
  await desk.button("Create a test user").click();
  await step("Create a room").waitFor();
  await desk.page.getByText('authToken="ey').waitFor();
  const [, token = ""] = /authToken="([^"]+)"/.exec(await desk.copy("the React sample")) ?? [];
  await chooseTab("TypeScript");
  expect(await desk.copy("the TypeScript sample")).toContain(`authToken: "${token}"`);
  await chooseTab("Server");
  await desk.button("Create an API key").click();
  await desk.button("Create an API key").waitFor({ state: "detached" });
  const sample = await desk.copy("the Server sample");
  const [, apiKey = ""] = /apiKey: "([^"]+)"/.exec(sample) ?? [];
  expect(sample).toContain(`serverUrl: "${service.url}"`);
  const atrium = new AtriumServer({ serverUrl: service.url, accountId: desk.accountId, apiKey });
  expect((await atrium.rooms.list()).total).toBe(1);
  await step("Call the API").waitFor();
  await chooseTab("curl");
  await desk.page.getByText("Waiting for your first connection").waitFor();
  const { stdout } = await run("sh", ["-c", await desk.copy("the curl sample")]);
  expect(JSON.parse(stdout)).toMatchObject({ success: true });
  await desk.heading("Connect your application").waitFor({ state: "detached" });
  await steps.waitFor({ state: "detached" });
  await desk.row("My first room").getByText("1 here").waitFor();
  await desk.row("My first room").getByTitle("Ada").waitFor();
});

it("tells rooms of one name apart by their custom IDs, on their pages as well", async () => {
  for (const customId of ["of-the-tour", "of-a-server"])
    await desk.createRoom({ name: "Weekly planning", customId });
  await desk.enter();
  await desk.row("of-a-server").getByRole("link", { name: "Weekly planning" }).click();
  const head = desk.page.locator(".page-head", { hasText: "Weekly planning" });
  await head.getByText("of-a-server", { exact: true }).waitFor();
  expect(await head.getByText("of-the-tour").count()).toBe(0);
});

it("opens after signing in again, although the requests before it had no session any more", async () => {
  const email = newAddress();
  const person = await Desk.signedUp(browser, service.url, { email });
  const context = person.page.context();
  const cookies = await context.cookies();
  await person.page.evaluate(() => fetch("/dashboard/api/sign-out", { method: "POST" }));
  await context.addCookies(cookies);
  await person.enter();
  await person.field("Email").fill(email);
  await person.field("Password").fill(PASSWORD);
  const kept = await person.page.evaluate(async () => {
    const answers = [...(globalThis.earlyAnswers ?? [])];
    return Promise.all(answers.map(async ([, answer]) => (await answer).status));
  });
  expect(kept).toEqual([401, 401]);
  await person.button("Sign in").click();
  await person.heading("Connect your application").waitFor();
  expect(await person.button("Sign in").count()).toBe(0);
  await person.close();
});

it("keeps the samples until a back end has called, and goes to the server's unless the person has chosen one", async () => {
  const newcomer = await Desk.signedUp(browser, service.url);
  const { page } = newcomer;
  const beside = await page.context().newPage();
  const samples = (one: Page) => one.getByRole("heading", { name: "Connect your application" });
  const isShown = (one: Page, name: string) =>
    one.getByRole("tab", { name, exact: true, selected: true }).waitFor();
  for (const one of [page, beside]) await one.goto(`${service.url}/dashboard/${newcomer.accountId}`);
  await beside.getByRole("tab", { name: "TypeScript", exact: true }).click();
  await isShown(page, "React");
  const roomId = await newcomer.createRoom({ name: "First" });
  const { user } = await newcomer.ask<{ user: { id: string } }>("POST", "/users", { name: "Bo", roomId });
  await newcomer.ask("PUT", `/rooms/${roomId}/participants/${user.id}`, { presence: {}, ttl: 3600 });
  for (const one of [page, beside]) await one.getByText("joined First").waitFor();
  await isShown(page, "Server");
  await isShown(beside, "TypeScript");
  const webhook = { url: "https://hooks.example.com/atrium", events: ["user.created"] };
  await newcomer.ask("POST", "/webhooks", webhook);
  for (const one of [page, beside]) await samples(one).waitFor({ state: "detached" });
  expect(newcomer.complaints).toEqual([]);
  await newcomer.close();
});

it("names the room of someone online behind more than a hundred newer rooms, and leads to all that are online", async () => {
  const takePart = async (roomId: string) => {
    const { user } = await desk.ask<{ user: { id: string } }>("POST", "/users", { name: "Bo", roomId });
    await desk.ask("PUT", `/rooms/${roomId}/participants/${user.id}`, { presence: {}, ttl: 3600 });
  };
  await takePart(await desk.createRoom({ name: "Behind all others" }));
  const rooms = Array.from({ length: 110 }, (_, index) => ({ name: `Newer ${index + 1}` }));
  const newer = await Promise.all(rooms.map((room) => desk.createRoom(room)));
  await desk.enter();
  await desk.row("Behind all others").getByText("1 here").waitFor();
  expect(await desk.page.getByText("No one is online").count()).toBe(0);
  await Promise.all(newer.slice(0, 25).map(takePart));
  await desk.page.getByRole("link", { name: /^Show all \d+ rooms online$/ }).click();
  await desk.link("Newer 25").waitFor();
  await desk.button("Next").click();
  await desk.link("Behind all others").waitFor();
});

it("lets the time in use of a room go on while someone is there", async () => {
  const roomId = await desk.createRoom({ name: "In use" });
  const { user } = await desk.ask<{ user: { id: string } }>("POST", "/users", { name: "Bo", roomId });
  await desk.ask("PUT", `/rooms/${roomId}/participants/${user.id}`, { presence: {}, ttl: 3600 });
  await desk.enter(`/rooms/${roomId}`);
  const time = desk.page.getByText(/ in use$/);
  await time.waitFor();
  await desk.page.route("**/rooms/*", () => {}); // the room is not read again
  const before = await time.textContent();
  await expect.poll(() => time.textContent()).not.toBe(before);
  await desk.page.unrouteAll({ behavior: "ignoreErrors" });
});

it("says that it searches until all answers are there; Enter takes nothing before", async () => {
  await desk.enter();
  await desk.link("All quotas").waitFor();
  const held = Promise.withResolvers<void>();
  await desk.page.route("**/v1/**", async (route) => {
    await held.promise;
    await route.fallback();
  });
  await desk.page.keyboard.press("Control+k");
  await desk.dialog().locator("input:focus").waitFor();
  await desk.field("Page, room, person or file").fill("Nowhere to be found");
  await desk.dialog().getByText("Searching…").waitFor();
  await desk.page.keyboard.press("Enter");
  expect(await desk.dialog().getByText("No results.").count()).toBe(0);
  held.resolve();
  await desk.dialog().getByText("No results.").waitFor();
  await desk.page.unrouteAll({ behavior: "wait" });
  await desk.page.keyboard.press("Escape");
  await desk.dialog().waitFor({ state: "detached" });
});

it("shows usage of an hour, a day, 7 and 30 days, and the way to quotas of which little is used", async () => {
  await desk.enter();
  await desk.link("All quotas").waitFor();
  await desk.chooseEachRange(desk.page.locator("#main"), async (range, { usage }) => {
    expect(usage).toMatchObject({ range });
    expect(await desk.page.getByRole("list", { name: "Quotas" }).count()).toBe(0);
    await desk.page.locator("figcaption", { hasText: /^[1-9]\d* events/ }).waitFor();
  });
});

it("shows the use of each quota with its limit, and the rate of the requests that were just made", async () => {
  const quotas = desk.page.getByRole("list", { name: "Quotas" }).getByRole("listitem");
  const entryOf = (quota: string) => quotas.filter({ has: desk.page.getByText(quota, { exact: true }) });
  const shown = async () => {
    await desk.enter("/settings/quotas");
    return await entryOf("Requests per second").textContent();
  };
  await shown();
  for (const [quota, limit] of [
    ["Waiting events", "50,000,000"],
    ["Waiting events, size", "50 GiB"],
    ["Requests per second", "1,000"],
  ] as const)
    await entryOf(quota).getByText(` of ${limit}`).waitFor();
  const request = () => desk.ask("GET", "/rooms");
  await Promise.all(Array.from({ length: 60 }, request));
  await expect.poll(shown, { interval: 1_000 }).toMatch(/second[1-9]/);
});

/** The parts of this that are outside of what the window shows of it, by their text. */
const cutOffIn = (whole: Locator) =>
  whole.evaluate((one) => {
    const right = Math.min(one.getBoundingClientRect().right, innerWidth);
    return [...one.querySelectorAll("*")]
      .filter((part) => part.getBoundingClientRect().right > right || part.scrollWidth > part.clientWidth)
      .map((part) => part.textContent || part.tagName);
  });

it("shows quotas as a whole on a phone, also the largest that an operator can set", async () => {
  await desk.ask("POST", "/rooms", { name: "With one room, the overview shows those that are half used" });
  const storageState = await desk.page.context().storageState();
  const context = await browser.newContext({ viewport: { width: 360, height: 740 }, storageState });
  const page = await context.newPage();
  await page.route("**/v1/**/quotas", async (route) => {
    const response = await route.fetch();
    const { data, ...rest } = await response.json();
    const quotas = data.quotas.map((quota: object) => ({ ...quota, used: LARGEST, limit: LARGEST }));
    await route.fulfill({ response, json: { ...rest, data: { ...data, quotas } } });
  });
  for (const path of ["/settings/quotas", ""]) {
    await page.goto(`${service.url}/dashboard/${desk.accountId}${path}`);
    const quotas = page.locator("#main :is(ul, table)").filter({ has: page.locator("meter") });
    await quotas.getByText(LARGEST.toLocaleString("en")).first().waitFor();
    expect(await cutOffIn(quotas)).toEqual([]);
  }
  await context.close();
});

it("copies where the browser offers pages no clipboard, as over plain HTTP", async () => {
  const context = await browser.newContext({ storageState: await desk.page.context().storageState() });
  await context.addInitScript("delete Navigator.prototype.clipboard");
  const page = await context.newPage();
  await page.goto(`${service.url}/dashboard/${desk.accountId}/settings`);
  expect(await page.evaluate(() => "clipboard" in navigator)).toBe(false);
  await page.getByRole("button", { name: "Copy the account ID" }).click();
  await page.getByText("Copied the account ID").waitFor({ state: "attached" });
  await page.goto(`${service.url}/dashboard/${desk.accountId}/rooms`);
  await page.getByRole("searchbox").press("Control+v");
  await expect.poll(() => page.getByRole("searchbox").inputValue()).toBe(desk.accountId);
  await context.close();
});

// The download size of the dashboard.

const FIRST_LOAD_LIMIT_BYTES = 57_500;
/** Of all pages together, without what they load on demand. */
const PAGES_LIMIT_BYTES = 208_000;
const YJS_LIMIT_BYTES = 40 * 1024;

/** Bytes by name, gzipped. */
const sizes = new Map<string, number>();

const outdir = await mkdtemp(path.join(tmpdir(), "atrium-dashboard-"));
await bundleDashboard(outdir);
for (const entry of await readdir(outdir, { recursive: true, withFileTypes: true }))
  if (entry.isFile())
    sizes.set(entry.name, gzipSync(await readFile(path.join(entry.parentPath, entry.name))).length);

afterAll(() => rm(outdir, { recursive: true, force: true }));

/** What pages load on demand, by the start of its name. */
const sizeOf = (part: string): number =>
  [...sizes].filter(([name]) => name.startsWith(`${part}-`)).reduce((sum, [, size]) => sum + size, 0);

const PAGES = [
  ...["overview-page", "rooms-page", "room-page", "files-page", "webhooks-page", "webhook-page"],
  ...["people-page", "identity-page", "group-page"],
  ...["workflows-page", "workflow-page", "logs-page", "settings-page"],
];
/** What pages load on demand: the code editor, the palette, the colors of samples, QR codes, streams, changes, and Yjs, which reads documents. */
const ON_DEMAND = [
  "code-editor",
  "finder",
  "highlight",
  "qr-code",
  "read-document",
  "watch-document",
  "document-part",
  "server-streams",
  "room-changes",
];

const readPage = () => readFile(path.join(outdir, "dashboard/index.html"), "utf8");

it("loads no page, and nothing that a page loads on demand, before it is opened", async () => {
  const html = await readPage();
  for (const part of [...PAGES, ...ON_DEMAND]) {
    expect([part, sizeOf(part)]).not.toEqual([part, 0]);
    expect(html).not.toContain(`/${part}-`);
  }
  const first = [...sizes].filter(([name]) => name === "index.html" || html.includes(name));
  expect(first.length).toBeGreaterThan(2);
  expect(first.reduce((sum, [, size]) => sum + size, 0)).toBeLessThan(FIRST_LOAD_LIMIT_BYTES);
});

it("stays small on all pages together", () => {
  const onDemand = ON_DEMAND.reduce((sum, part) => sum + sizeOf(part), 0);
  const all = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  expect(all - onDemand).toBeLessThan(PAGES_LIMIT_BYTES);
  expect(sizeOf("read-document")).toBeLessThan(YJS_LIMIT_BYTES);
});

it("has no inline scripts or styles", async () => {
  expect(await readPage()).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\son\w+=/);
});
