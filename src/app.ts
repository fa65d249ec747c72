/** Every route of the service: the endpoints of all features, the pages and the documents. */

import { AppError } from "@atrium/contract/errors.ts";
import { type Context, Hono } from "hono";
import { accepts } from "hono/accepts";
import { compose, healthChecks, healthWarnings } from "./composition.ts";
import { dashboardPage } from "./dashboard/routes.ts";
import { loadEndpoints, partsAt } from "./endpoints.ts";
import type { Env } from "./env.ts";
import { setupCode } from "./features/people/links.ts";
import { ACCOUNT_PATH, pathOf } from "./http/endpoint.ts";
import { description, failure } from "./http/envelope.ts";
import { healthResponse, metricsResponse } from "./http/monitoring.ts";
import type { ApiDocument } from "./http/openapi/openapi.ts";
import { createPipeline } from "./http/pipeline.ts";
import { isOfApi, preflight, withoutCors } from "./http/security.ts";
import { isUpgrade } from "./http/upgrades.ts";
import { lazily } from "./platform/lazily.ts";

type ServiceContext = Context<{ Bindings: Env }>;
type Routes = Hono<{ Bindings: Env }>;

const handleRequest = createPipeline(compose);

const callOf = ({ req, env, executionCtx }: ServiceContext) => ({
  request: req.raw,
  env,
  execution: executionCtx,
  params: req.param(),
});

const noSuchEndpoint = () =>
  failure(
    new AppError("Server", "NOT_FOUND", "Nothing is at this address; /docs lists all pages and endpoints"),
    crypto.randomUUID(),
  );

const loadDocs = lazily(() => import("./docs/routes.ts"));
const loadFront = lazily(() => import("./front/routes.ts"));

const JSON_FIRST = {
  header: "Accept" as const,
  supports: ["application/json", "text/html"],
  default: "application/json",
};

const prefersPages = (c: ServiceContext): boolean => accepts(c, JSON_FIRST) === "text/html";

/** Answers a browser outside of the API with a page, and everyone else with an error. */
async function notFound(c: ServiceContext): Promise<Response> {
  if (isOfApi(c.req.path)) return noSuchEndpoint();
  const isRead = c.req.method === "GET" || c.req.method === "HEAD";
  if (!isRead || !prefersPages(c)) return withoutCors(noSuchEndpoint());
  return (await loadDocs()).missingPage(new URL(c.req.url));
}

/** Errors reach the Worker, which logs them and answers. */
const newRoutes = (): Routes =>
  new Hono<{ Bindings: Env }>().notFound(notFound).onError((error) => {
    throw error;
  });

const loaded = new Map<string, Routes>();

/** Responds by routes that are loaded at the first request for them, and not when the isolate begins. */
async function respondBy(name: string, load: () => Promise<Routes>, c: ServiceContext): Promise<Response> {
  const routes = loaded.get(name) ?? (await load());
  loaded.set(name, routes);
  return routes.fetch(c.req.raw, c.env, c.executionCtx);
}

const PATTERN = { segment: ":$1", wildcard: ":$1{.+}" };

async function routesOf(parts: ReturnType<typeof partsAt>): Promise<Routes> {
  const routes = newRoutes();
  for (const endpoint of await loadEndpoints(parts))
    routes.on(endpoint.method, pathOf(endpoint, PATTERN), (c) => handleRequest(endpoint, callOf(c)));
  return routes;
}

/** Built by the first request for it. */
let document: ApiDocument | undefined;
async function apiDocument(): Promise<ApiDocument> {
  const { buildDocument } = await import("./http/openapi/openapi.ts");
  const { describeEvents } = await import("./features/webhooks/event-docs.ts");
  document ??= buildDocument(await loadEndpoints(), describeEvents());
  return document;
}

async function mcpRoutes(): Promise<Routes> {
  const { createMcp } = await import("./features/mcp/routes.ts");
  const { readDocument } = await import("@atrium/contract/openapi/described.ts");
  const handle = createMcp(loadEndpoints, async () => readDocument(await apiDocument()), handleRequest);
  return newRoutes().post("/mcp", (c) => handle(c.req.raw, c.env, c.executionCtx));
}

async function docsRoutes(): Promise<Routes> {
  const { guidePage, packageFile, quickstartArchive, referencePage, searchIndex } = await loadDocs();
  return newRoutes()
    .on(
      "GET",
      ["/docs/reference", "/docs/reference/*"],
      async (c) => referencePage(new URL(c.req.url), await apiDocument()) ?? c.notFound(),
    )
    .get("/docs/search.json", async (c) => searchIndex(c.req.raw, c.env, await apiDocument()))
    .get("/atrium.tgz", async (c) => (await packageFile(c.req.raw, c.env)) ?? c.notFound())
    .get(
      "/docs/quickstarts/:file{[a-z-]+\\.tgz}",
      async (c) =>
        (await quickstartArchive(callOf(c), c.req.param("file").slice(0, -".tgz".length), handleRequest)) ??
        c.notFound(),
    )
    .on("GET", ["/docs/*", "/llms.txt"], async (c) => (await guidePage(c.req.raw, c.env)) ?? c.notFound());
}

async function demoRoutes(): Promise<Routes> {
  const { DEMO_ENDPOINTS, demoPage, handleVisitor } = await import("./demo/routes.ts");
  const routes = newRoutes();
  for (const endpoint of DEMO_ENDPOINTS)
    routes.on(endpoint.method, endpoint.path, (c) => handleVisitor(endpoint, callOf(c), handleRequest));
  return routes.get("/demo", (c) => demoPage(c.req.raw, c.env));
}

async function dashboardRoutes(): Promise<Routes> {
  const { DASHBOARD_ENDPOINTS } = await import("./dashboard/endpoints.ts");
  const { handleDashboardRequest } = await import("./features/people/dashboard-pipeline.ts");
  const routes = newRoutes();
  for (const endpoint of DASHBOARD_ENDPOINTS)
    routes.on(endpoint.method, `/dashboard/api${endpoint.path}`, (c) =>
      handleDashboardRequest(endpoint, callOf(c)),
    );
  return routes;
}

export const app = newRoutes();

app.get(`${ACCOUNT_PATH}/rooms/:roomId/documents`, async (c, next) => {
  if (!isUpgrade(c.req.raw)) return next();
  const { hocuspocusEndpoint } = await import("./features/room-content/documents/routes-document-sockets.ts");
  return handleRequest(hocuspocusEndpoint, callOf(c));
});
app.options("/v1/*", () => preflight(crypto.randomUUID()));
app.all(`${ACCOUNT_PATH}/*`, (c) => {
  const parts = partsAt(c.req.path);
  const name = parts.map(({ paths }) => paths.source).join();
  return parts.length === 0 ? c.notFound() : respondBy(name, () => routesOf(parts), c);
});

app.post("/mcp", (c) => respondBy("mcp", mcpRoutes, c));
app.on(["GET", "DELETE"], "/mcp", () => new Response(null, { status: 405, headers: { Allow: "POST" } }));
app.options("/mcp", () => preflight(crypto.randomUUID()));

app.get("/v1/openapi.json", async () => description(await apiDocument(), crypto.randomUUID()));
app.on("GET", ["/docs/*", "/llms.txt", "/atrium.tgz"], (c) => respondBy("docs", docsRoutes, c));
app.all("/demo/*", (c) => respondBy("demo", demoRoutes, c));
app.post("/operator/:purpose/:accountId/:operation", async (c) => {
  const { operatorResponse } = await import("./features/backup/routes.ts");
  return operatorResponse(c.req.raw, c.env, c.req.param());
});
app.on(["GET", "POST"], "/unsubscribe", async (c) => {
  const { unsubscribeResponse } = await import("./features/inbox/channels/unsubscribe.ts");
  return unsubscribeResponse(c.req.raw, c.env);
});
app.get("/health", (c) =>
  healthResponse(healthChecks(c.env), () => healthWarnings(c.env), crypto.randomUUID()),
);
app.get("/metrics", (c) => metricsResponse(c.req.raw, c.env));
app.get("/", async (c) => {
  c.header("Vary", "Accept");
  return prefersPages(c) ? (await loadFront()).frontPage(c.req.raw, c.env) : c.redirect("/docs");
});

app.all("/dashboard/api/*", (c) => respondBy("dashboard", dashboardRoutes, c));
app.get(setupCode.path, (c) => c.redirect("/dashboard/setup"));
app.get("/dashboard/*", (c) => dashboardPage(c.req.raw, c.env));
