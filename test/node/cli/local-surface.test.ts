/** Access of other programs, and of pages of other sites, to a service on this machine. */
import { cp, mkdtemp, rm } from "node:fs/promises";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEVELOPMENT } from "../../../src/cli/service/development.ts";
import { query } from "./database.ts";
import { eventually } from "./processes.ts";
import { startService } from "./service.ts";
import { preparedState } from "./shared-service.ts";

const persistTo = await mkdtemp(path.join(tmpdir(), "atrium-"));
await cp(await preparedState(), persistTo, { recursive: true });
query(
  persistTo,
  "INSERT INTO receipts (scope, key, fingerprint, data, created_at) VALUES ('expired', 'k', 'f', '{}', 1) RETURNING key",
);
const service = await startService({ persistTo });

afterAll(async () => {
  await service.kill();
  await rm(persistTo, { recursive: true, force: true });
});

interface Answer {
  readonly status: number | undefined;
  readonly text: string;
}

/** Any request, with a Host header that `fetch` would not send. */
const ask = (method: string, url: string, headers: Record<string, string> = {}): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { port } = service;
    const sent = request({ host: "127.0.0.1", port, method, path: url, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode, text }));
    });
    sent.on("error", reject);
    sent.end();
  });

describe("a service on this machine", () => {
  it("runs the scheduled tasks by itself", async () => {
    const isGone = () =>
      query<object>(persistTo, "SELECT key FROM receipts WHERE scope = 'expired'").length === 0;
    await eventually("the expired receipt is deleted", isGone, 120_000);
  });

  it.each([
    "explorer",
    "explorer/api/d1/database",
    "scheduled",
    "email",
    "platform-proxy",
    "r2/public/atrium-files/key",
    "r2/s3/atrium-files",
  ])("serves nothing of the runtime's own under /cdn-cgi/local/%s", async (what) => {
    for (const method of ["GET", "POST"]) {
      const { status, text } = await ask(method, `/cdn-cgi/local/${what}`, { "MF-Op": "GET" });
      expect([status, JSON.parse(text).error?.module]).toEqual([404, "Server"]);
    }
  });

  it("answers under its own names only, whatever a page makes its name lead to", async () => {
    expect((await ask("GET", "/health")).status).toBe(200);
    expect((await ask("GET", "/health", { Host: "evil.example" })).status).toBe(403);
    const disguised = { Host: "evil.example", "MF-Original-URL": "http://localhost/health" };
    expect((await ask("GET", "/health", disguised)).status).toBe(403);
  });

  it("takes no header for a request's URL, and none for its client's address", async () => {
    const misled = await ask("GET", "/nothing", { "MF-Original-URL": `${service.url}/health` });
    expect(misled.status).toBe(404);
    let [status, visitors] = [undefined as number | undefined, 0];
    // The first window of a minute may end while they come; the second one cannot end before it is full.
    for (; status !== 429 && visitors <= 60; visitors += 1) {
      const address = `203.0.113.${visitors}`;
      const headers = { "CF-Connecting-IP": address, "X-Forwarded-For": address, "X-Real-IP": address };
      ({ status } = await ask("POST", `/demo/visitors?room=ours-${visitors % 2}`, headers));
    }
    expect(status).toBe(429);
  });
});

describe("static files", () => {
  const PAGES = ["/dashboard", "/docs", "/demo"];
  /** How browsers keep the files of a folder: the dashboard's names change with the content. */
  const KEPT: Readonly<Record<string, string>> = {
    dashboard: "public, max-age=31536000, immutable",
    style: "public, max-age=604800",
  };
  const PAGE_HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
  };
  const policyOf = (headers: Headers) => headers.get("Content-Security-Policy")?.split("; ") ?? [];

  it("have the headers of their pages, without the Worker, which the pages go through", async () => {
    for (const page of PAGES) {
      const answer = await fetch(service.url + page);
      const policy = policyOf(answer.headers);
      const framed = page === "/demo" ? { "x-frame-options": "SAMEORIGIN" } : {}; // by the front page
      expect(Object.fromEntries(answer.headers)).toMatchObject({ ...PAGE_HEADERS, ...framed });
      expect(policy).toContain(`connect-src 'self' ws://localhost:${service.port}`);
      expect((await ask("GET", page, { Host: "evil.example" })).status).toBe(403);
      const files = [...(await answer.text()).matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)];
      expect(files.length).toBeGreaterThan(2);
      for (const [, file = ""] of files) {
        const { status, headers } = await fetch(service.url + file);
        expect([file, status, headers.get("Access-Control-Allow-Origin")]).toEqual([file, 200, null]);
        expect(Object.fromEntries(headers)).toMatchObject(PAGE_HEADERS);
        expect(policyOf(headers)).toEqual(
          expect.arrayContaining(["default-src 'none'", "script-src 'self'", "connect-src 'self'"]),
        );
        const [, folder = ""] = /^\/assets\/(\w+)\//.exec(file) ?? [];
        expect(headers.get("Cache-Control")).toBe(KEPT[folder] ?? "public, max-age=0, must-revalidate");
        expect((await ask("GET", file, { Host: "evil.example" })).status).toBe(200);
      }
    }
  });

  it("that do not exist are answered by the Worker, and not kept by browsers", async () => {
    for (const file of ["/assets/dashboard/gone.js", "/assets/", "/_headers"]) {
      const answer = await fetch(service.url + file);
      expect([answer.status, answer.headers.get("Cache-Control")]).toEqual([404, "no-store"]);
      expect(await answer.json()).toMatchObject({ error: { module: "Server", code: "NOT_FOUND" } });
    }
    expect((await ask("GET", "/assets/dashboard/gone.js", { Host: "evil.example" })).status).toBe(403);
  });

  it("are no way around the Worker to a page", async () => {
    const around = [
      "/demo.html",
      "/%64emo",
      "//demo",
      "/dashboard/index.html",
      "/%64ashboard/",
      "/docs/readme.html",
    ];
    for (const page of around) {
      const { status, headers } = await fetch(service.url + page);
      expect([page, status === 404 || policyOf(headers).length > 0]).toEqual([page, true]);
    }
  });
});

describe("The network that webhooks and workflows reach under `npm start`: whatever a name resolves to, addresses are public", () => {
  /** Fetches a URL by the service's own network and by the public one, and answers who was reached. */
  const SCRIPT = `export default {
  async fetch(request, env) {
    const url = await request.text();
    const reaches = (fetch) => fetch(url).then((response) => response.text(), () => "refused");
    return Response.json([await reaches((url) => fetch(url)), await reaches((url) => env.PUBLIC_NETWORK.fetch(url))]);
  },
};`;

  const receiver = createServer((_, response) => response.end("reached"));
  let miniflare: Miniflare;
  beforeAll(async () => {
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    miniflare = new Miniflare(
      convertV4MiniflareOptions({
        modules: true,
        script: SCRIPT,
        compatibilityDate: "2026-01-01",
        serviceBindings: { PUBLIC_NETWORK: DEVELOPMENT.publicNetwork },
      }),
    );
    await miniflare.ready;
  });
  afterAll(async () => {
    await miniflare?.dispose();
    receiver.close();
  });

  it.each(["127.0.0.1", "localhost"])("refuses %s, which the service itself reaches", async (host) => {
    const { port } = receiver.address() as AddressInfo;
    const body = `http://${host}:${port}/`;
    const response = await miniflare.dispatchFetch("http://service/", { method: "POST", body });
    expect(await response.json()).toEqual(["reached", "refused"]);
  });
});
