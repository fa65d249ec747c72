/** The dashboard's page: which path serves what, and what the page may do. */
import { describe, expect, it } from "vitest";
import { dashboardPage } from "../../src/dashboard/routes.ts";

/** Files as the build writes them; other paths have none. */
const FILES: Readonly<Record<string, string>> = {
  "/dashboard/": "<!doctype html>",
  "/dashboard/assets/app-1a2b.js": "void 0;",
};

const ASSETS = {
  fetch: async (input: RequestInfo | URL) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    const text = FILES[pathname];
    return text === undefined ? new Response("none", { status: 404 }) : new Response(text);
  },
} as Fetcher;

const get = (path: string, origin = "https://atrium.test") =>
  dashboardPage(new Request(origin + path), { ASSETS });

describe("the dashboard's page", () => {
  it.each(["/dashboard", "/dashboard/", "/dashboard/rooms/1", "/dashboard/invitations/a.b"])(
    "is one for all of its views: %s",
    async (path) => {
      const response = await get(path);
      expect([response.status, await response.text()]).toEqual([200, "<!doctype html>"]);
      expect(response.headers.get("Cache-Control")).toBe("no-cache");
    },
  );

  it("has files with hashed names that browsers cache forever", async () => {
    const response = await get("/dashboard/assets/app-1a2b.js");
    expect(await response.text()).toBe("void 0;");
    expect(response.headers.get("Cache-Control")).toBe("public, max-age=31536000, immutable");
    expect((await get("/dashboard/assets/app-0000.js")).status).toBe(404);
  });

  it("can load, run and reach this service only, and cannot be framed", async () => {
    const { headers } = await get("/dashboard");
    expect(headers.get("Content-Security-Policy")?.split("; ").toSorted()).toEqual([
      "base-uri 'none'",
      "connect-src 'self' wss://atrium.test",
      "default-src 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "img-src 'self' blob: data:",
      "media-src 'self' blob:",
      "script-src 'self'",
      "style-src 'self'",
    ]);
    expect(headers.get("X-Frame-Options")).toBe("DENY");
    expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
    expect(headers.get("Referrer-Policy")).toBe("no-referrer");
    expect(headers.get("Cross-Origin-Opener-Policy")).toBe("same-origin");
    expect(headers.get("Cross-Origin-Resource-Policy")).toBe("same-origin");
    expect(headers.get("Access-Control-Allow-Origin")).toBeNull();
  });

  it("reaches its WebSockets when it is served without TLS", async () => {
    const { headers } = await get("/dashboard", "http://localhost:8787");
    expect(headers.get("Content-Security-Policy")).toContain("connect-src 'self' ws://localhost:8787;");
  });
});
