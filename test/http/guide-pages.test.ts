/** The service serves its documentation at /docs: pages without inline code, links that lead somewhere, and a search. */
import { exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { type SearchEntry, search } from "../../src/docs/browser/search-index.ts";
import { ORIGIN } from "../support/api.ts";

const get = (path: string): Promise<Response> =>
  exports.default.fetch(new Request(`${ORIGIN}${path}`, { redirect: "manual" }));

const readIndex = async (): Promise<SearchEntry[]> => (await get("/docs/search.json")).json();

const pathsIn = (page: string, attribute: "href" | "src"): string[] =>
  [...page.matchAll(new RegExp(`${attribute}="(/[^"]*)"`, "g"))].map(([, path = ""]) => path);

/** Addresses of all pages that the index names. */
async function listPages(): Promise<string[]> {
  const addresses = (await readIndex()).map(({ url }) => url.split("#")[0] ?? "");
  return [...new Set(addresses)];
}

describe("GET /docs", () => {
  it("is the start page, which lists the guides and the protocol", async () => {
    const response = await get("/docs");
    expect(response.status).toBe(200);
    const links = pathsIn(await response.text(), "href");
    expect(links).toEqual(
      expect.arrayContaining(["/docs/guides/stores", "/docs/protocol", "/docs/reference"]),
    );
  });

  it("has no page under any other address", async () => {
    const response = await get("/docs/guides/none");
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ success: false, error: { code: "NOT_FOUND" } });
  });

  it("serves pages without inline scripts and styles, under a policy that refuses them", async () => {
    for (const path of await listPages()) {
      const response = await get(path);
      const page = await response.text();
      expect([path, response.status]).toEqual([path, 200]);
      expect(page.match(/<script.*?>/g)).toEqual(['<script type="module" src="/docs/assets/docs.js">']);
      expect(page).not.toMatch(/<style|<[^>]*\s(style|on\w+)=/);
      expect(response.headers.get("Content-Security-Policy")).toContain(
        "default-src 'none'; script-src 'self'",
      );
      expect(response.headers.get("Content-Type")).toBe("text/html; charset=utf-8");
    }
  });

  it("links only to addresses that the service has", async () => {
    const links = new Set<string>();
    for (const path of await listPages()) {
      const page = await (await get(path)).text();
      for (const link of [...pathsIn(page, "href"), ...pathsIn(page, "src")])
        links.add(link.split("#")[0] ?? "");
      expect([path, page.match(/href="[^"#]*\.md[^"]*"/g)]).toEqual([path, null]);
    }
    expect(links.size).toBeGreaterThan(20);
    const missing: string[] = [];
    for (const link of links) {
      const { status } = await get(link);
      if (status === 404 && link !== "/demo") missing.push(link); // the tests configure no demo
    }
    expect(missing).toEqual([]);
  });

  it("shows samples in several languages as one group", async () => {
    const page = await (await get("/docs/guides/stores")).text();
    const [group = ""] = /<div class="languages">.*?<\/div>/s.exec(page) ?? [];
    expect([...group.matchAll(/<figcaption>(.*?)<\/figcaption>/g)].map(([, name]) => name)).toEqual([
      "Shell",
      "TypeScript",
    ]);
    expect(page).not.toContain("<!-- tour");
  });
});

describe("the search", () => {
  it("finds guides by their titles, and operations by summary and path", async () => {
    const index = await readIndex();
    expect(search(index, "presence", 5)[0]).toMatchObject({
      title: "Presence",
      url: "/docs/guides/presence",
    });
    expect(search(index, "retries", 5).map(({ url }) => url)).toContain("/docs/guides/webhooks#retries");
    expect(search(index, "create a room", 5)[0]).toMatchObject({
      url: "/docs/reference/createRoom",
    });
    expect(search(index, "post /rooms", 20).map(({ title }) => title)).toContain("Create a room");
  });

  it("finds nothing for words that no entry has, nor for none", async () => {
    const index = await readIndex();
    expect(search(index, "presence zeppelin", 5)).toEqual([]);
    expect(search(index, " ", 5)).toEqual([]);
  });
});
