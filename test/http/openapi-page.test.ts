/** The API reference shows the whole description, page by page, and nothing in it can become markup or load anything. */
import { env, exports } from "cloudflare:workers";
import { entriesOf, readDocument } from "@atrium/contract/openapi/described.ts";
import { type SearchEntry, searchIndexOf } from "@atrium/docs/browser/search-index.ts";
import { readPage } from "@atrium/docs/reference.ts";
import { parseTarGzip } from "nanotar";
import { describe, expect, it } from "vitest";
import { loadEndpoints } from "../../src/endpoints.ts";
import { createApiKey } from "../../src/features/accounts/api-key.ts";
import { type ApiDocument, buildDocument } from "../../src/http/openapi/openapi.ts";
import { account, freshAddress, ORIGIN } from "../support/api.ts";

const ENDPOINTS = await loadEndpoints();

const described = readDocument(buildDocument(ENDPOINTS));
const REFERENCE = "/docs/reference";
const ADDRESSES = [
  REFERENCE,
  ...entriesOf(described).map(({ operation }) => `${REFERENCE}/${operation.operationId}`),
  `${REFERENCE}/schemas`,
  `${REFERENCE}/rights`,
  ...Object.keys(described.components?.schemas ?? {}).map((name) => `${REFERENCE}/schemas/${name}`),
];

const get = (path: string, headers: HeadersInit = {}): Promise<Response> =>
  exports.default.fetch(new Request(`${ORIGIN}${path}`, { redirect: "manual", headers }));

function pageOf(document: ApiDocument, path: string): string {
  const page = readPage(readDocument(document), path);
  if (page === null) throw new Error(`There is no page ${path}`);
  return page;
}

/** Visible text of a page, with the entities that it uses resolved. */
const visibleTextOf = (page: string): string =>
  page
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");

/** The document with `mark` at the end of every text in it, but of signatures: they are no prose. */
const doctor = (document: ApiDocument, mark: string): ApiDocument =>
  JSON.parse(JSON.stringify(document), (key, value: unknown) =>
    typeof value === "string" && key !== "x-sdk" ? value + mark : value,
  );

describe("the API reference", () => {
  it("lists every operation, and shows each on a page with its path and a sample", async () => {
    const overview = await (await get(REFERENCE)).text();
    for (const { path, operation } of entriesOf(described)) {
      expect(visibleTextOf(overview)).toContain(operation.summary);
      const text = visibleTextOf(await (await get(`${REFERENCE}/${operation.operationId}`)).text());
      expect(text).toContain(path);
      expect(text).toContain(operation.summary);
      expect(text).toMatch(/curl |new WebSocket/);
    }
  });

  it("says of every operation which right it needs, and which credentials open it", async () => {
    const page = await (await get(`${REFERENCE}/rights`)).text();
    const rows = [...page.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = ""]) =>
      visibleTextOf(row.replaceAll(/<\/t[hd]>/g, "|")),
    );
    const rowOf = (summary: string) => rows.find((row) => row.startsWith(`${summary}|`));
    for (const { operation } of entriesOf(described)) expect(rowOf(operation.summary)).toBeDefined();
    expect(rowOf("Operation")).toBe(
      "Operation|Right|API key|API key, narrowed|Owner|Member|Editor|Commenter|Viewer|Reading token|Identity itself|",
    );
    expect(rowOf("Edit, resolve or reopen a comment")).toMatch(
      /comments:write\|yes\|if granted\|yes\|yes\|yes\|yes\|–\|–\|–\|$/,
    );
    expect(rowOf("List a room's threads")).toMatch(/read\|yes\|yes\|yes\|yes\|yes\|yes\|yes\|yes\|–\|$/);
    expect(rowOf("Create an API key")).toMatch(/owner\|yes\|–\|yes\|–\|–\|–\|–\|–\|–\|$/);
  });

  it("has no other pages", async () => {
    for (const path of ["/none", "/schemas/none", "/schemas/constructor", "/createRoom/more"])
      expect([path, (await get(REFERENCE + path)).status]).toEqual([path, 404]);
  });

  it("has the credentials that its pages link to", async () => {
    const page = await (await get(REFERENCE)).text();
    for (const name of Object.keys(described.components?.securitySchemes ?? {}))
      expect(page).toContain(`id="credential-${name}"`);
  });

  it("offers to try what answers with JSON, and no sockets or files", async () => {
    const untried: string[] = [];
    for (const { operation } of entriesOf(described)) {
      const page = await (await get(`${REFERENCE}/${operation.operationId}`)).text();
      if (!page.includes('<details class="try" hidden')) untried.push(operation.operationId);
    }
    const sockets = ["openSocketByCustomId", "openSocket", "openDocumentSocket"];
    const streams = ["readStream", "appendToStream", "createStream", "deleteStream", "readChanges"];
    expect(untried).toEqual(["openInboxSocket", "readFile", ...sockets, ...streams, "downloadStore"]);
  });
});

describe("the page of a document whose texts are markup", () => {
  const MARKUP = `"'><img onerror=alert(1)>`;

  it("shows it as text wherever it stands", async () => {
    const document = doctor(buildDocument(ENDPOINTS), MARKUP);
    const ids = ENDPOINTS.map(({ operation }) => `/${operation}${MARKUP}`);
    const schemas = Object.keys(described.components?.schemas ?? {}).map((name) => `/schemas/${name}`);
    for (const path of ["", "/schemas", ...ids, ...schemas]) {
      const page = pageOf(document, REFERENCE + path);
      expect(page).not.toContain("<img");
      expect(page).toContain("&quot;&#39;&gt;&lt;img onerror=alert(1)&gt;");
    }
  });

  it("renders the little Markdown that it knows inside of escaped text", async () => {
    const details = "A **<b>bold</b>** and `<i>code</i>`, an open ` and **.\n\nAnother paragraph.";
    const [first] = ENDPOINTS;
    if (first === undefined) throw new Error("There are no endpoints");
    const page = pageOf(buildDocument([{ ...first, details }]), `${REFERENCE}/${first.operation}`);
    expect(page).toContain(
      "<p>A <strong>&lt;b&gt;bold&lt;/b&gt;</strong> and <code>&lt;i&gt;code&lt;/i&gt;</code>,",
    );
    expect(page).toContain("an open ` and **.</p><p>Another paragraph.</p>");
  });
});

// The service serves its documentation at /docs: pages without inline code, links that lead somewhere, and a search.

const readIndex = async (): Promise<SearchEntry[]> => (await get("/docs/search.json")).json();

const pathsIn = (page: string, attribute: "href" | "src"): string[] =>
  [...page.matchAll(new RegExp(`${attribute}="(/[^"]*)"`, "g"))].map(([, path = ""]) => path);

/** Addresses of all pages that the index names, and of those of the reference. */
async function listPages(): Promise<string[]> {
  const addresses = (await readIndex()).map(({ url }) => url.split("#")[0] ?? "");
  return [...new Set([...addresses, ...ADDRESSES])];
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

  it("has the list of a folder at the address of the folder", async () => {
    const home = await (await get("/docs")).text();
    for (const [path, list] of [
      ["/docs/quickstarts", "quickstarts"],
      ["/docs/quickstarts/", "quickstarts"],
      ["/docs/guides", "basics"],
    ]) {
      const { status, headers } = await get(path ?? "");
      expect([path, status, headers.get("Location")]).toEqual([path, 302, `/docs#${list}`]);
      expect(home).toContain(`id="${list}"`);
    }
  });

  it("names the version of the API, which links to headings carry", async () => {
    const page = await (await get("/docs/guides/stores")).text();
    expect(page).toContain(`data-version="${described.info.version}"`);
  });

  const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
  const MISSING = ["/docs/guides/none", "/docs/reference/none", "/none", "/demo/none"];

  it.each(MISSING)("shows a browser a page with a search instead of %s", async (path) => {
    const response = await get(path, { Accept: BROWSER });
    expect(response.status).toBe(404);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": expect.stringContaining("default-src 'none'"),
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    });
    expect(response.headers.has("Access-Control-Allow-Origin")).toBe(false);
    const page = await response.text();
    expect(page).toContain("<h1>Page not found</h1>");
    expect(page).toContain('role="search"');
    expect(pathsIn(page, "href")).toContain("/docs");
  });

  it.each([
    ["/docs/guides/none", "*/*"],
    ["/none", "application/json, text/html"],
    ["/none", "text/html;q=0.5, application/json"],
    ["/v1/none", BROWSER],
  ])("has an error at %s for %s", async (path, accept) => {
    const response = await get(path, { Accept: accept });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ success: false, error: { code: "NOT_FOUND" } });
  });

  it("serves pages without inline scripts and styles, under a policy that refuses them", async () => {
    for (const path of await listPages()) {
      const response = await get(path);
      const page = await response.text();
      expect([path, response.status]).toEqual([path, 200]);
      expect(page.match(/<script.*?>/g)).toEqual([
        '<script src="/assets/docs/theme.js">',
        '<script type="module" src="/assets/docs/docs.js">',
      ]);
      expect(page).not.toMatch(/<style|<[^>]*\s(style|on\w+)=/);
      const policy = response.headers.get("Content-Security-Policy");
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
      expect(policy).toContain("form-action 'none'");
      expect(policy).not.toContain("unsafe");
      expect(Object.fromEntries(response.headers)).toMatchObject({
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "content-type": "text/html; charset=utf-8",
        "cache-control": path.startsWith(REFERENCE)
          ? "public, max-age=300"
          : "public, max-age=0, must-revalidate",
      });
    }
  });

  it("links only to addresses that the service has", async () => {
    const links = new Set<string>();
    for (const path of await listPages()) {
      const page = await (await get(path)).text();
      const ids = [...page.matchAll(/\sid="([^"]*)"/g)].map((match) => match[1]);
      expect([path, new Set(ids).size]).toEqual([path, ids.length]);
      for (const link of [...pathsIn(page, "href"), ...pathsIn(page, "src")])
        links.add(link.split("#")[0] ?? "");
      const source = path === "/docs" ? "/docs/index.md" : `${path}.md`;
      const isGuide = !path.startsWith(REFERENCE);
      expect([path, page.match(/href="[^"#]*\.md[^"]*"/g)]).toEqual([
        path,
        isGuide ? [`href="${source}"`] : null,
      ]);
    }
    expect(links.size).toBeGreaterThan(20);
    const missing: string[] = [];
    for (const link of links) {
      const { status } = await (link.startsWith("/assets/") ? env.ASSETS.fetch(ORIGIN + link) : get(link));
      if (status === 404 && link !== "/demo") missing.push(link); // the tests configure no demo
    }
    expect(missing).toEqual([]);
  });

  it("answers HEAD for the search index without its content", async () => {
    const request = new Request(`${ORIGIN}/docs/search.json`, { method: "HEAD" });
    const response = await exports.default.fetch(request);
    expect([response.status, await response.text()]).toEqual([200, ""]);
  });

  it("shows samples in several languages as one group", async () => {
    const page = await (await get("/docs/guides/stores")).text();
    const [group = ""] = /<div class="languages">.*?<\/div>/s.exec(page) ?? [];
    expect([...group.matchAll(/<figcaption>(.*?)<\/figcaption>/g)].map(([, name]) => name)).toEqual([
      "curl",
      "TypeScript",
    ]);
    expect(page).not.toContain("<!-- tour");
  });
});

describe("the search", async () => {
  const search = searchIndexOf(await readIndex());
  const addressesFor = (query: string) => search(query, 5).map(({ url }) => url);

  it.each([
    ["presence", "/docs/guides/presence"],
    ["create a room", "/docs/reference/createRoom"],
    ["post /rooms", "/docs/reference/createRoom"],
    ["atrium.rooms.reconcile", "/docs/reference/reconcileRoom"],
    ["retries", "/docs/guides/webhooks#retries"],
    ["kick a user", "/docs/guides/rooms-and-users#remove-a-user"],
    ["who is online", "/docs/guides/presence#watching"],
    ["undo", "/docs/guides/stores#undo-and-redo"],
    ["RATE_LIMITED", "/docs/guides/rest-api#errors"],
    ["presense", "/docs/guides/presence"],
  ])("finds %s", (query, address) => {
    expect(addressesFor(query)).toContain(address);
  });

  it.each([
    ["CORS", "/docs/guides/rest-api#browsers"],
    ["Next.js", "/docs/quickstarts/cursors-next"],
    ["Vue", "/docs/guides/connecting"],
    ["install", "/docs/quickstarts/cursors#what-you-need"],
  ])("finds %s first", (query, address) => {
    expect(addressesFor(query)[0]).toBe(address);
  });

  it.each(["rate limit", "store write"])(
    "shows decisions last for %s, and replaced ones behind all",
    (query) => {
      const places = search(query, 1000).map(({ page, url }) => {
        if (!url.startsWith("/docs/decisions/")) return 0;
        return page.includes("replaced") ? 2 : 1;
      });
      expect(new Set(places)).toEqual(new Set([0, 1, 2]));
      expect(places).toEqual([...places].sort());
    },
  );

  it("finds nothing for a word that no entry has, nor for none", () => {
    expect(addressesFor("zeppelin")).toEqual([]);
    expect(addressesFor(" ")).toEqual([]);
  });
});

/** The failed authentications that a client may have in ten seconds, as wrangler.toml has them. */
const FAILURES = 100;

describe("the finished folder of a quickstart", () => {
  const at = (path: string, headers: HeadersInit = {}) => get(`/docs/quickstarts/${path}`, headers);

  async function filesOf(response: Response): Promise<ReadonlyMap<string, string>> {
    const files = await parseTarGzip(await response.arrayBuffer());
    return new Map(files.map(({ name, text }) => [name, text]));
  }

  it("has what the page shows, for the service that it came from", async () => {
    const response = await at("cursors.tgz");
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "application/gzip",
      "cache-control": "private, no-store",
      "content-disposition": 'attachment; filename="cursors.tgz"',
    });
    const files = await filesOf(response);
    expect([...files.keys()].sort()).toEqual(
      [
        ...[".env", ".gitignore", "App.tsx", "Cursors.tsx", "cursors.css", "index.html", "main.tsx"],
        ...["package.json", "tsconfig.json", "vite.config.ts"],
      ].map((name) => `cursors/${name}`),
    );
    const page = (await (await at("cursors.md")).text()).replaceAll("http://localhost:8787", ORIGIN);
    for (const [name, text] of files)
      if (name !== "cursors/.gitignore")
        expect(page).toContain(` ${name.slice("cursors/".length)}\n${text}\`\`\``);
    expect(files.get("cursors/main.tsx")).toContain("<Cursors>"); // of two, the later one
    expect(files.get("cursors/.env")).toContain("API_KEY=...\n");
    expect(files.get("cursors/package.json")).toContain(`"${ORIGIN}/atrium.tgz"`);
  });

  it("ends as tar expects, whatever its size", async () => {
    for (const name of [
      "agent",
      "comments",
      "cursors",
      "cursors-javascript",
      "cursors-next",
      "editor",
      "list",
      "server",
    ]) {
      const { body } = await at(`${name}.tgz`);
      const tar = await new Response(body?.pipeThrough(new DecompressionStream("gzip"))).bytes();
      expect([name, tar.slice(-1024).every((byte) => byte === 0)]).toEqual([name, true]);
    }
  });

  const authorized = (Authorization: string, address = freshAddress()) =>
    at("server.tgz", { Authorization, "CF-Connecting-IP": address });
  const basic = (text: string): string => `Basic ${btoa(text)}`;

  it("has the API key that the request brings, and refuses what is none as the API does", async () => {
    const { id, apiKey: key } = await account();
    const files = await filesOf(await authorized(basic(`${id}:${key}`)));
    expect(files.get("server/.env")).toBe(`ATRIUM_URL=${ORIGIN}\nACCOUNT_ID=${id}\nAPI_KEY=${key}\n`);
    const unknown = createApiKey();
    const pairs = ["ACCOUNT_ID:API_KEY", `${id}:${unknown}`, `other:${key}`, `${id}:`, ":", "none"];
    const malformed = [
      "Bearer x",
      "Basic",
      "Basic A===",
      "Basic A",
      "Basic AA=A",
      "Basic YTpi====",
      "Basic é",
    ];
    for (const authorization of [...pairs.map(basic), ...malformed]) {
      const response = await authorized(authorization);
      const { error } = await response.json<{ error: object }>();
      expect([authorization, response.status, error]).toEqual([
        authorization,
        401,
        expect.objectContaining({ module: "Auth", code: "UNAUTHORIZED" }),
      ]);
      expect(response.headers.get("Access-Control-Allow-Origin")).toBeNull();
    }
  });

  it("lets no one guess keys faster than the API does", async () => {
    const address = freshAddress();
    // A window may end between the first guesses and the last.
    const guesses = Array.from({ length: 2 * FAILURES + 1 }, () =>
      authorized(basic(`a:${createApiKey()}`), address),
    );
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
  });

  it("is there for a name that has one, and none else", async () => {
    expect((await at("none.tgz")).status).toBe(404);
    expect((await get("/atrium.tgz")).status).toBe(404); // the tests have built none
  });
});

describe("for agents", () => {
  it("each page is there as Markdown, whose links lead to Markdown", async () => {
    const { headers, text } = await read("/llms.txt");
    expect(headers.get("Content-Type")).toContain("text/plain");
    const pages = [...text.matchAll(/\]\((\/docs\/[^)#]+\.md)/g)].map(([, address = ""]) => address);
    expect(pages).toEqual(expect.arrayContaining(["/docs/guides/stores.md", "/docs/protocol.md"]));
    for (const address of pages) {
      const page = await read(address);
      expect([address, page.headers.get("Content-Type")]).toEqual([
        address,
        expect.stringContaining("text/markdown"),
      ]);
      expect(page.text.startsWith("# ")).toBe(true);
    }
  });

  async function read(path: string) {
    const response = await get(path);
    expect([path, response.status]).toEqual([path, 200]);
    return { headers: response.headers, text: await response.text() };
  }
});
