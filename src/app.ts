/** Every route of the service: the endpoints of all features, the pages and the documents. */
import { type Context, Hono } from "hono";
import { compose, healthChecks, healthWarnings } from "./composition.ts";
import { dashboardPage } from "./dashboard/routes.ts";
import { DEMO_ENDPOINTS, demoPage, handleVisitor } from "./demo/routes.ts";
import { guidePage, noSuchPage, searchIndex } from "./docs/guides.ts";
import { referencePage } from "./docs/reference.ts";
import { ENDPOINTS } from "./endpoints.ts";
import type { Env } from "./env.ts";
import { operatorResponse } from "./features/backup/routes.ts";
import { unsubscribeResponse } from "./features/inbox/unsubscribe.ts";
import { createMcp } from "./features/mcp/routes.ts";
import { memberPageEndpoints } from "./features/members/dashboard-routes.ts";
import { handleDashboardRequest } from "./features/people/dashboard-pipeline.ts";
import { peopleEndpoints } from "./features/people/routes.ts";
import { personPrivacyEndpoints } from "./features/privacy/routes.ts";
import { hocuspocusEndpoint, isUpgrade } from "./features/room-content/documents/routes-document-sockets.ts";
import { WEBHOOK_EVENTS } from "./features/webhooks/event-docs.ts";
import { pathOf } from "./http/endpoint.ts";
import { description, failure } from "./http/envelope.ts";
import { healthResponse, metricsResponse } from "./http/monitoring.ts";
import { readDocument } from "./http/openapi/described.ts";
import { type ApiDocument, buildDocument } from "./http/openapi/openapi.ts";
import { createPipeline } from "./http/pipeline.ts";
import { preflight, withoutCors } from "./http/security.ts";
import { AppError } from "./platform/errors.ts";

const handleRequest = createPipeline(compose);

export const app = new Hono<{ Bindings: Env }>();

const callOf = ({ req, env, executionCtx }: Context<{ Bindings: Env }>) => ({
  request: req.raw,
  env,
  execution: executionCtx,
  params: req.param(),
});

app.get(pathOf(hocuspocusEndpoint, { segment: ":$1", rest: ":$1{.+}" }), (c, next) =>
  isUpgrade(c.req.raw) ? handleRequest(hocuspocusEndpoint, callOf(c)) : next(),
);

for (const endpoint of ENDPOINTS) {
  app.on(endpoint.method, pathOf(endpoint, { segment: ":$1", rest: ":$1{.+}" }), (c) =>
    handleRequest(endpoint, callOf(c)),
  );
}

/** Built by the first request for it, so that it does not delay the start of an isolate. */
let document: ApiDocument | undefined;
const apiDocument = (): ApiDocument => {
  document ??= buildDocument(ENDPOINTS, WEBHOOK_EVENTS);
  return document;
};

const handleMcp = createMcp(ENDPOINTS, () => readDocument(apiDocument()), handleRequest);
app.post("/mcp", (c) => handleMcp(c.req.raw, c.env, c.executionCtx));
app.on(["GET", "DELETE"], "/mcp", () => new Response(null, { status: 405, headers: { Allow: "POST" } }));
app.options("/mcp", () => preflight(crypto.randomUUID()));

app.get("/v1/openapi.json", () => description(apiDocument(), crypto.randomUUID()));
app.on(
  "GET",
  ["/docs/reference", "/docs/reference/*"],
  (c) => referencePage(apiDocument(), new URL(c.req.url)) ?? noSuchPage(),
);
app.get("/docs/search.json", (c) => searchIndex(c.req.raw, c.env, apiDocument()));
app.on("GET", ["/docs/*", "/llms.txt"], (c) => guidePage(c.req.raw, c.env));
for (const endpoint of DEMO_ENDPOINTS)
  app.on(endpoint.method, endpoint.path, (c) => handleVisitor(endpoint, callOf(c), handleRequest));
app.get("/demo/:file?", (c) => demoPage(c.req.raw, c.env));
app.post("/operator/:purpose/:accountId/:operation", (c) =>
  operatorResponse(c.req.raw, c.env, c.req.param()),
);
app.on(["GET", "POST"], "/unsubscribe", (c) => unsubscribeResponse(c.req.raw, c.env));
app.get("/health", (c) =>
  healthResponse(healthChecks(c.env), () => healthWarnings(c.env), crypto.randomUUID()),
);
app.get("/metrics", (c) => metricsResponse(c.req.raw, c.env));
app.get("/", (c) => c.redirect("/docs"));

/** Every endpoint of the dashboard's own pages. */
export const DASHBOARD_ENDPOINTS = [...peopleEndpoints, ...memberPageEndpoints, ...personPrivacyEndpoints];
for (const endpoint of DASHBOARD_ENDPOINTS) {
  app.on(endpoint.method, `/dashboard/api${endpoint.path}`, (c) =>
    handleDashboardRequest(endpoint, callOf(c)),
  );
}
app.all("/dashboard/api/*", () => withoutCors(noSuchEndpoint()));
app.get("/dashboard/*", (c) => dashboardPage(c.req.raw, c.env));

app.options("/v1/*", () => preflight(crypto.randomUUID()));

const noSuchEndpoint = () =>
  failure(
    new AppError("Server", "NOT_FOUND", "This endpoint does not exist; see /docs for all endpoints"),
    crypto.randomUUID(),
  );
app.notFound((c) => (c.req.path.startsWith("/v1/") ? noSuchEndpoint() : withoutCors(noSuchEndpoint())));
