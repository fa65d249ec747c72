/** The front page: a page for browsers, with a live board only where there is a demo, and the way to the documentation for clients. */
import { env } from "cloudflare:workers";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { askDemo } from "../demo/visit.ts";
import { ORIGIN } from "../support/api.ts";

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const ask = (accountId: string | undefined, accept?: string, method = "GET") =>
  askDemo(accountId, new Request(`${ORIGIN}/`, { method, ...(accept && { headers: { Accept: accept } }) }));

it("leads clients of the API to the documentation, as it does caches that keep both answers apart", async () => {
  for (const accept of [undefined, "*/*", "application/json"]) {
    const { status, headers } = await ask("some-organization", accept);
    expect([status, headers.get("Location"), headers.get("Vary")]).toEqual([302, "/docs", "Accept"]);
  }
  expect((await ask("some-organization", BROWSER)).headers.get("Vary")).toBe("Accept");
});

it("can frame this service only, and cannot be framed", async () => {
  const { status, headers } = await ask("some-organization", BROWSER);
  const policy = headers.get("Content-Security-Policy")?.split("; ");
  expect([status, headers.get("Content-Type")]).toEqual([200, "text/html; charset=utf-8"]);
  expect(policy).toEqual(
    expect.arrayContaining(["default-src 'none'", "frame-src 'self'", "frame-ancestors 'none'"]),
  );
  expect(headers.get("X-Frame-Options")).toBe("DENY");
  const head = await ask("some-organization", BROWSER, "HEAD");
  expect([head.status, await head.text()]).toEqual([200, ""]);
});

const filesOf = (page: string): string[] =>
  [...page.matchAll(/(?:src|href)="(\/assets\/[^"]*)"/g)].map(([, file = ""]) => file);

it("consists of existing files, which together weigh less than 60 KiB", async () => {
  const page = await (await ask("some-organization", BROWSER)).text();
  let bytes = gzipSync(page).length;
  for (const file of filesOf(page)) {
    const response = await env.ASSETS.fetch(ORIGIN + file);
    expect([file, response.status]).toEqual([file, 200]);
    bytes += gzipSync(new Uint8Array(await response.arrayBuffer())).length;
  }
  expect(bytes).toBeLessThan(60 * 1024);
});

it("shows a picture where there is no demo, and names none", async () => {
  const page = await (await ask(undefined, BROWSER)).text();
  expect(page).not.toContain("/demo");
  expect(page).not.toContain("front.js");
  expect(page).toContain('href="/docs"');
  const [picture] = filesOf(page).filter((file) => file.endsWith(".webp"));
  const response = await env.ASSETS.fetch(`${ORIGIN}${picture}`);
  await response.body?.cancel();
  expect([response.status, response.headers.get("Content-Type")]).toEqual([200, "image/webp"]);
});
