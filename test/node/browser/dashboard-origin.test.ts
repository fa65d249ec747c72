/** The dashboard against other pages in the same browser, which can change, frame and read nothing. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDesk } from "./browser.ts";
import type { Desk } from "./dashboard.ts";

const { service, desk } = await openDesk();
const elsewhere = createServer((_, response) => {
  response.setHeader("Content-Type", "text/html");
  response.end("<!doctype html><title>Elsewhere</title><body></body>");
});
await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
const port = (elsewhere.address() as AddressInfo).port;

afterAll(async () => {
  elsewhere?.close();
});

const rooms = async (): Promise<string[]> => {
  const { rooms: found } = await desk.ask<{ rooms: { name: string }[] }>("GET", "/rooms");
  return found.map(({ name }) => name);
};

/** `localhost` is another origin of the same site, so cookies are sent; `127.0.0.1` is another site. */
describe.each(["localhost", "127.0.0.1"])("a page of %s at another port", (host) => {
  let page: Desk["page"];

  beforeAll(async () => {
    page = await desk.page.context().newPage();
    await page.goto(`http://${host}:${port}/`);
  });

  it("cannot create a room with any kind of request", async () => {
    const address = `${service.url}/v1/accounts/${desk.accountId}/rooms`;
    const outcomes = await page.evaluate(async (url) => {
      const body = JSON.stringify({ name: "Planted" });
      const tries: RequestInit[] = [
        { method: "POST", body, credentials: "include", headers: { "Content-Type": "application/json" } },
        { method: "POST", body, credentials: "include", headers: { "Content-Type": "text/plain" } },
        { method: "POST", body, credentials: "include", mode: "no-cors" },
      ];
      return Promise.all(
        tries.map((init) =>
          fetch(url, init).then(
            ({ ok }) => ok,
            () => false,
          ),
        ),
      );
    }, address);
    expect(outcomes).toEqual([false, false, false]);
    expect(await rooms()).toEqual([]);
  });

  it("cannot create a room with a form, which sends cookies", async () => {
    const form = await desk.page.context().newPage();
    await form.goto(`http://${host}:${port}/`);
    await Promise.all([
      form.waitForURL(`${service.url}/**`),
      form.evaluate((action) => {
        const element = document.createElement("form");
        Object.assign(element, { method: "POST", action, enctype: "text/plain" });
        const input = document.createElement("input");
        Object.assign(input, { name: '{"name":"Planted","x":"', value: '"}' });
        element.appendChild(input);
        document.body.appendChild(element);
        element.submit();
      }, `${service.url}/v1/accounts/${desk.accountId}/rooms`),
    ]);
    expect(await form.content()).toContain('"success":false');
    await form.close();
    expect(await rooms()).toEqual([]);
  });

  it("cannot sign a person out or read their data", async () => {
    const outcomes = await page.evaluate(
      async ([url, accountId]) => {
        const read = (path: string, init: RequestInit) =>
          fetch(`${url}${path}`, { credentials: "include", ...init }).then(
            (response) => response.text(),
            () => "refused",
          );
        return Promise.all([
          read("/dashboard/api/sign-out", { method: "POST", mode: "no-cors" }),
          read("/dashboard/api/me", {}),
          read(`/v1/accounts/${accountId}/rooms`, {}),
        ]);
      },
      [service.url, desk.accountId] as const,
    );
    expect(outcomes.join("")).toMatch(/^(refused)+$/);
    await desk.enter();
    await desk.heading("Overview").waitFor();
  });

  it("cannot show the dashboard in a frame", async () => {
    await page.evaluate((src) => {
      const frame = document.createElement("iframe");
      frame.src = src;
      document.body.appendChild(frame);
      return new Promise((resolve) => frame.addEventListener("load", resolve));
    }, `${service.url}/dashboard`);
    const inside = page.frames().filter((frame) => frame !== page.mainFrame());
    for (const frame of inside) expect(frame.url()).not.toContain("/dashboard");
  });

  it("cannot control a window that it opens", async () => {
    const [opened] = await Promise.all([
      page.context().waitForEvent("page"),
      page.evaluate((url) => void window.open(url), `${service.url}/dashboard`),
    ]);
    await opened.getByRole("heading", { name: "Overview" }).waitFor();
    expect(await opened.evaluate(() => window.opener)).toBeNull();
    await opened.close();
  });
});
