/** Hostile files in a real browser that is signed in on the same origin: none runs or reads the cookie. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { BrowserContext, Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sharedService } from "../cli/shared-service.ts";
import { Customer } from "../stories/client.ts";
import { openBrowser } from "./browser.ts";

/** A hostile script, which sends the cookie to this test. */
const STEAL = "fetch('/stolen?' + encodeURIComponent(document.cookie)).catch(()=>{});";
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>${STEAL}</script></svg>`;
/** Both an image and a script: `GIF89a` is a valid variable name. */
const GIF_SCRIPT = `GIF89a/*${"\u0000".repeat(8)}*/=1;${STEAL}`;
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

const HOSTILE = [
  ["page.html", "text/html", `<!doctype html><script>${STEAL}</script>`],
  [
    "page.xhtml",
    "application/xhtml+xml",
    `<html xmlns="http://www.w3.org/1999/xhtml"><script>${STEAL}</script></html>`,
  ],
  ["image.svg", "image/svg+xml", SVG],
  ["feed.xml", "text/xml", `<x><script xmlns="http://www.w3.org/1999/xhtml">${STEAL}</script></x>`],
  ["script.gif", "image/gif", GIF_SCRIPT],
  ["page.gif", "image/gif", `<!doctype html><script>${STEAL}</script>`],
  ["page", "", `<!doctype html><script>${STEAL}</script>`],
  ["script.js", "text/javascript", STEAL],
  ["worker.js", "application/javascript", "fetch('/stolen?worker');"],
  ["style.css", "text/css", "@import '/stolen?style'; body { background: url(/stolen?background) }"],
] as const;

let context: BrowserContext;
let page: Page;
let stolen: string[];
const urls = new Map<string, string>();

const service = await sharedService();
const customer = new Customer(service, service);
const ada = await customer.createUser((await customer.createRoom()).id, "Ada");
for (const [name, type, content] of [...HOSTILE, ["dot.png", "image/png", PNG] as const]) {
  const form = new FormData();
  form.append("roomId", ada.room_id);
  form.append("userId", ada.id);
  form.append("file", new File([content], name, { type }));
  const headers = { Authorization: `Bearer ${service.bearer}` };
  const response = await fetch(`${customer.base}/upload`, { method: "POST", headers, body: form });
  const { data } = (await response.json()) as { data: { file: { url: string } } };
  urls.set(name, data.file.url);
}
const browser = await openBrowser();

beforeEach(async () => {
  stolen = [];
  context = await browser.newContext({ acceptDownloads: true });
  await context.addCookies([{ name: "session", value: "secret", url: service.url }]);
  await context.route("**/stolen?*", (route) => {
    stolen.push(decodeURIComponent(route.request().url()));
    return route.fulfill({ status: 204 });
  });
  page = await context.newPage();
});
afterEach(() => context.close());

/** Opens a page on the service's origin with this body and without a Content-Security-Policy. */
async function openOurs(body: string): Promise<void> {
  const contentType = "text/html";
  await context.route("**/ours", (route) =>
    route.fulfill({ contentType, body: `<!doctype html><title>Ours</title>${body}` }),
  );
  await page.goto(`${service.url}/ours`);
}

/** Fails if anything was stolen before the probe request, which comes last. */
async function expectNothingStolen(): Promise<void> {
  const probe = await context.newPage();
  await probe.goto(`${service.url}/health`);
  const answered = probe.waitForResponse("**/stolen?probe");
  await probe.goto(`${service.url}/stolen?probe`).catch(() => {}); // a 204 response does not navigate
  await answered;
  expect(stolen).toEqual([`${service.url}/stolen?probe`]);
}

describe("the same content on an unprotected page", () => {
  it("runs, so these tests can fail", async () => {
    await openOurs(`<script>${STEAL}</script>`);
    await expect.poll(() => stolen.join()).toContain("session=secret");
  });

  it("runs as a script when its headers permit it, even the image", async () => {
    const contentType = "text/javascript";
    await context.route("**/polyglot", (route) => route.fulfill({ contentType, body: GIF_SCRIPT }));
    await openOurs('<script src="/polyglot"></script>');
    await expect.poll(() => stolen.join()).toContain("session=secret");
  });
});

describe.each(HOSTILE.map(([name]) => name))("%s", (name) => {
  const url = () => urls.get(name) ?? "";
  const isPicture = name.endsWith(".gif");

  it("runs nothing when it is opened", async () => {
    if (isPicture) await page.goto(url());
    else {
      const download = page.waitForEvent("download");
      await page.goto(url()).catch(() => {}); // a download does not navigate
      expect((await download).suggestedFilename()).toBe(name);
    }
    await expectNothingStolen();
  });

  it("runs nothing when it is embedded in a page of the same origin", async () => {
    const embedding = [
      `<script src="${url()}"></script>`,
      `<script type="module" src="${url()}"></script>`,
      `<link rel="stylesheet" href="${url()}">`,
      `<img src="${url()}">`,
      `<iframe src="${url()}"></iframe>`,
      `<object data="${url()}"></object>`,
      `<embed src="${url()}">`,
    ];
    await openOurs(embedding.join(""));
    const attempts = [
      `navigator.serviceWorker.register("${url()}")`,
      `import("${url()}")`,
      `new Promise((_, reject) => { new Worker("${url()}").onerror = reject; })`,
    ];
    for (const attempt of attempts) {
      expect(await page.evaluate(`${attempt}.then(() => "ran", () => "refused")`)).toBe("refused");
    }
    await expectNothingStolen();
  });
});

describe("a picture", () => {
  let elsewhere: Server;
  let policy: Record<string, string>;

  beforeEach(async () => {
    policy = {};
    elsewhere = createServer((_, response) => {
      response.writeHead(200, { "Content-Type": "text/html", ...policy });
      response.end(`<!doctype html><img src="${urls.get("dot.png")}">`);
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, resolve));
  });
  afterEach(() => elsewhere.close());

  const openElsewhere = () => page.goto(`http://localhost:${(elsewhere.address() as AddressInfo).port}/`);

  it.each([{}, { "Cross-Origin-Embedder-Policy": "require-corp" }])(
    "is displayed in a page of another origin with %o",
    async (headers) => {
      policy = headers;
      await openElsewhere();
      const width = await page
        .locator("img")
        .evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalWidth));
      expect(width).toBe(1);
    },
  );

  it("can be read by scripts of another origin, with ranges and headers", async () => {
    await openElsewhere();
    const read = await page.evaluate(async (url) => {
      const response = await fetch(url, { headers: { Range: "bytes=0-7" } });
      const { size } = await response.blob();
      return [response.status, size, response.headers.get("Content-Range"), response.headers.has("ETag")];
    }, urls.get("dot.png") ?? "");
    expect(read).toEqual([206, 8, `bytes 0-7/${PNG.byteLength}`, true]);
  });

  it("opens inline", async () => {
    const response = await page.goto(urls.get("dot.png") ?? "");
    expect(response?.status()).toBe(200);
    expect(await page.locator("img").count()).toBe(1);
  });
});
