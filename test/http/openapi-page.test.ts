/** The API reference shows the whole description, and nothing in it can become markup or load anything. */
import { exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { ENDPOINTS } from "../../src/app.ts";
import { entriesOf, readDocument } from "../../src/http/docs/model.ts";
import { referencePage } from "../../src/http/docs/reference.ts";
import { type ApiDocument, buildDocument } from "../../src/http/openapi/openapi.ts";
import { ORIGIN } from "../support/api.ts";

const readPage = () => exports.default.fetch(new Request(`${ORIGIN}/docs/reference`));

/** The page of any document. */
const pageOf = (document: ApiDocument): Response =>
  referencePage(document, new URL("/docs/reference", ORIGIN));

/** What a reader sees, with the entities that the page uses resolved. */
const visibleTextOf = (page: string): string =>
  page
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");

/** The document with `mark` at the end of every text in it. */
const doctor = (document: ApiDocument, mark: string): ApiDocument =>
  JSON.parse(JSON.stringify(document), (_, value: unknown) =>
    typeof value === "string" ? value + mark : value,
  );

describe("GET /docs/reference", () => {
  it("shows every operation with its path and summary", async () => {
    const text = visibleTextOf(await (await readPage()).text());
    for (const { path, operation } of entriesOf(readDocument(buildDocument(ENDPOINTS)))) {
      expect(text).toContain(path);
      expect(text).toContain(operation.summary);
    }
  });

  it("links only to places that exist, on the page or in this service", async () => {
    const page = await (await readPage()).text();
    const ids = [...page.matchAll(/\sid="([^"]*)"/g)].map((match) => `#${match[1]}`);
    expect(new Set(ids).size).toBe(ids.length);
    const targets = new Set([...page.matchAll(/<a [^>]*href="([^"]*)"/g)].map((match) => match[1]));
    expect(targets.size).toBeGreaterThan(ENDPOINTS.length);
    const elsewhere = ["/docs", "/docs/reference", "/v1/openapi.json"];
    for (const target of targets) expect([...ids, ...elsewhere]).toContain(target);
  });

  it("has no inline script or style, and headers that would stop one", async () => {
    const response = await readPage();
    const page = await response.text();
    expect(page.match(/<script.*?>/g)).toEqual(['<script type="module" src="/docs/assets/docs.js">']);
    expect(page).not.toMatch(/<style|\sstyle=|\son\w+=/);
    const policy = response.headers.get("Content-Security-Policy");
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).not.toContain("unsafe");
    expect(response.headers.get("X-Content-Type-Options")).toBe("nosniff");
    expect(response.headers.get("Referrer-Policy")).toBe("no-referrer");
    expect(response.headers.get("Content-Type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("Cache-Control")).toBe("public, max-age=300");
  });
});

describe("the page of a document whose texts are markup", () => {
  const MARKUP = `"'><img onerror=alert(1)>`;

  it.each(ENDPOINTS.map((endpoint) => [endpoint.operation, endpoint] as const))(
    "shows it as text in the summary and description of %s",
    async (_, endpoint) => {
      const page = await pageOf(buildDocument([{ ...endpoint, summary: MARKUP, details: MARKUP }])).text();
      expect(page).not.toContain("<img");
      expect(visibleTextOf(page).split(MARKUP).length).toBeGreaterThan(2);
    },
  );

  it("shows it as text wherever it stands", async () => {
    const page = await pageOf(doctor(buildDocument(ENDPOINTS), MARKUP)).text();
    expect(page).not.toContain("<img");
    expect(page).toContain("&quot;&#39;&gt;&lt;img onerror=alert(1)&gt;");
  });

  it("renders the little Markdown that it knows inside of escaped text", async () => {
    const details = "A **<b>bold</b>** and `<i>code</i>`, an open ` and **.\n\nAnother paragraph.";
    const page = await pageOf(
      buildDocument(ENDPOINTS.slice(0, 1).map((one) => ({ ...one, details }))),
    ).text();
    expect(page).toContain(
      "<p>A <strong>&lt;b&gt;bold&lt;/b&gt;</strong> and <code>&lt;i&gt;code&lt;/i&gt;</code>,",
    );
    expect(page).toContain("an open ` and **.</p><p>Another paragraph.</p>");
  });
});
