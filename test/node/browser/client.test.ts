/** The bundled client in a real browser: two pages in one room see each other. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { AtriumError } from "atrium/client";
import type { Page } from "playwright-core";
import { afterAll, expect, it } from "vitest";
import { startService } from "../cli/service.ts";
import { preparedState } from "../cli/shared-service.ts";
import { Customer } from "../stories/client.ts";
import { openBrowser } from "./browser.ts";
import { ClientSite } from "./client-site.ts";
import { AWAY } from "./visitor.ts";

const site = await ClientSite.start();
const persistTo = await mkdtemp(path.join(tmpdir(), "atrium-client-"));
let service = await startService({ persistTo, preparedState: await preparedState() });
const browser = await openBrowser();

afterAll(async () => {
  await site.stop();
  await service.kill();
  await rm(persistTo, { recursive: true, force: true });
});

/** A page whose user has joined, and its errors and warnings. */
async function open(token: string): Promise<{ page: Page; complaints: string[] }> {
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(site.url);
  await page.evaluate(
    async ({ serverUrl, authToken }) => {
      window.client = new window.Client({ serverUrl, authToken });
      window.states = [];
      await window.client.connect();
      await window.client.join();
      await window.client.store("notes").sync();
      window.client.presence.sync("*", () => {});
      for (const event of ["reconnecting", "reconnected"] as const)
        window.client.socket.on(event, () => window.states.push(event));
    },
    { serverUrl: service.url, authToken: token },
  );
  return { page, complaints };
}

it("an upload from a page of another origin reports progress and can be aborted", async () => {
  const customer = new Customer(service, service);
  const { id: roomId } = await customer.createRoom();
  const { page, complaints } = await open((await customer.createUser(roomId, "Ada")).token);
  const { told, url } = await page.evaluate(async () => {
    const file = new File([new Uint8Array(24 * 1024 * 1024)], "large.bin");
    const told: number[] = [];
    const onProgress = ({ loaded, total }: { loaded: number; total: number }) => told.push(loaded / total);
    const { url } = await window.client.storage.upload({ file, onProgress });
    return { told, url };
  });
  expect(told.some((share) => share > 0 && share < 1)).toBe(true);
  expect(told).toEqual(told.toSorted((a, b) => a - b));
  expect(told.at(-1)).toBe(1);
  expect((await (await fetch(url)).arrayBuffer()).byteLength).toBe(24 * 1024 * 1024);

  const ended = await page.evaluate(async () => {
    const controller = new AbortController();
    // Far too large to be stored before the page can react to the first progress.
    const file = new File([new Uint8Array(96 * 1024 * 1024)], "ended.bin");
    const onProgress = () => controller.abort("enough");
    const outcome = await window.client.storage
      .upload({ file, onProgress, signal: controller.signal })
      .catch((reason: unknown) => reason);
    return { outcome, left: (await window.client.storage.getAll()).map(({ filename }) => filename) };
  });
  expect(ended).toEqual({ outcome: "enough", left: ["large.bin"] });

  const picture = await page.evaluate(async () => {
    const canvas = new OffscreenCanvas(3, 2);
    canvas.getContext("2d")?.fillRect(0, 0, 3, 2);
    const { url } = await window.client.storage.upload({
      file: await canvas.convertToBlob(),
      filename: "p.png",
    });
    const image = new Image();
    image.src = url;
    await image.decode();
    return [image.naturalWidth, image.naturalHeight];
  });
  expect(picture).toEqual([3, 2]);
  expect(complaints).toEqual([]);
});

it("an upload that cannot even load its part of the SDK fails as one without a network", async () => {
  const customer = new Customer(service, service);
  const { id: roomId } = await customer.createRoom();
  const { token } = await customer.createUser(roomId, "Ada");
  const upload = (page: Page) =>
    page.evaluate(() =>
      window.client.storage.upload({ file: new Blob(["Hello"]), filename: "hello.txt" }).then(
        () => "stored",
        ({ name, code, retryable }: AtriumError) => [name, code, retryable],
      ),
    );
  const { page } = await open(token);
  await page.route(/over-rest/, (route) => route.abort());
  expect(await upload(page)).toEqual(["AtriumError", "UNREACHABLE", true]);
  // Some browsers load a part that has failed again, others with the next page.
  expect(await upload((await open(token)).page)).toBe("stored");
});

it("pages see each other's presence and writes, and come back after a restart without a word in the console", async () => {
  const customer = new Customer(service, service);
  const { id: roomId } = await customer.createRoom();
  const [ada, bo] = [await customer.createUser(roomId, "Ada"), await customer.createUser(roomId, "Bo")];
  const [atAda, atBo] = [await open(ada.token), await open(bo.token)];

  await atAda.page.evaluate(async () => {
    window.client.presence.update({ cursor: { x: 1, y: 2 } });
    await window.client.store("notes").set("1", { text: "Hello" });
  });
  await atBo.page.waitForFunction(
    (userId) => window.client.presence.getStates().get(userId)?.cursor !== undefined,
    ada.id,
  );
  await atBo.page.waitForFunction(() => window.client.store("notes").get("1") !== undefined);
  await atBo.page.evaluate(() => window.client.store("notes").update("1", { by: "Bo" }));
  await atAda.page.waitForFunction(
    () => Object.keys(Object(window.client.store("notes").get("1"))).length === 2,
  );
  expect(await atAda.page.evaluate(() => window.client.store("notes").get("1"))).toEqual({
    text: "Hello",
    by: "Bo",
  });
  const online = await atAda.page.evaluate(() => [...window.client.users.online.keys()]);
  expect(online.toSorted()).toEqual([ada.id, bo.id].toSorted());
  expect([...atAda.complaints, ...atBo.complaints]).toEqual([]);

  // As after a restart: the same URL and data, but every connection is closed.
  const { port } = service;
  await service.kill();
  await atAda.page.waitForFunction(() => window.client.socket.state === "reconnecting");
  const written = atAda.page.evaluate(() => window.client.store("notes").set("2", { text: "Meanwhile" }));
  service = await startService({ port, persistTo });
  await written;
  for (const { page } of [atAda, atBo]) {
    await page.waitForFunction(() => window.states.includes("reconnected"));
    await page.waitForFunction(() => window.client.store("notes").get("2") !== undefined);
    await page.waitForFunction(() => window.client.presence.getStates().size === 1);
    expect(await page.evaluate(() => window.client.store("notes").getAll())).toEqual({
      1: { text: "Hello", by: "Bo" },
      2: { text: "Meanwhile" },
    });
  }
  // What a browser itself says of connections that it could not make is not in a page's hands.
  const complaints = [...atAda.complaints, ...atBo.complaints].filter((text) => !AWAY.test(text));
  expect(complaints).toEqual([]);
});

it("a service worker shows what is pushed, each notification once, until it is read in the page", async () => {
  const customer = new Customer(service, service);
  const { data } = await customer.send<{ identity: { id: string }; token: string }>("POST", "/identify", {
    ...{ customId: "ada-1", name: "Ada" },
  });
  await customer.send("POST", "/inbox-notifications/trigger", {
    ...{ identityId: data.identity.id, kind: "$invoice", subjectId: "invoice-7" },
  });
  const context = await browser.newContext({ permissions: ["notifications"] });
  const page = await context.newPage();
  await page.goto(site.url);
  const cdp = await context.newCDPSession(page);
  const registered = new Promise<string>((resolve) => {
    cdp.on("ServiceWorker.workerRegistrationUpdated", ({ registrations: [registration] }) => {
      if (registration !== undefined) resolve(registration.registrationId);
    });
  });
  await cdp.send("ServiceWorker.enable");
  await page.evaluate(async () => {
    await navigator.serviceWorker.register("/worker.js", { type: "module" });
    await navigator.serviceWorker.ready;
  });
  const id = await page.evaluate(
    async (options) => {
      const inbox = window.openInbox(options);
      await inbox.connect();
      const { notifications } = await inbox.list();
      Object.assign(window, { read: () => inbox.markAsRead({ notificationId: notifications[0]?.id ?? "" }) });
      return notifications[0]?.id;
    },
    { serverUrl: service.url, authToken: data.token },
  );
  const push = async (atrium: object) =>
    cdp.send("ServiceWorker.deliverPushMessage", {
      ...{ origin: site.url, registrationId: await registered, data: JSON.stringify({ atrium }) },
    });
  const shown = () =>
    page.evaluate(async () => {
      const notifications = await (await navigator.serviceWorker.ready).getNotifications();
      return notifications.map(({ title, body }) => `${title}: ${body}`).sort();
    });
  // A browser that is busy can drop a push that comes right after the registration.
  const pushed = async () => {
    await push({ id, title: "Billing", body: "Invoice 7 is due", url: null });
    return shown();
  };
  await expect.poll(pushed, { interval: 1_000 }).toEqual(["Billing: Invoice 7 is due"]);
  await push({ id: "another", title: "Billing", body: "Another one", url: null });
  await push({ id, title: "Billing", body: "Invoice 7 is due today", url: null });
  await expect.poll(shown).toEqual(["Billing: Another one", "Billing: Invoice 7 is due today"]);
  await page.evaluate("read()");
  await expect.poll(shown).toEqual(["Billing: Another one"]);
  await context.close();
});
