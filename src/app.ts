/** The API's table of contents: one mount per feature, and what answers beside them. */
import { Hono } from "hono";
import { accountEndpoints } from "./accounts/routes.ts";
import { demoPage, receiveVisitor } from "./demo/routes.ts";
import type { Env } from "./env.ts";
import { AppError } from "./errors.ts";
import { fileEndpoints } from "./files/routes.ts";
import { docsPage } from "./http/docs/page.ts";
import { type Endpoint, pathOf } from "./http/endpoint.ts";
import { description, failure, preflight } from "./http/envelope.ts";
import { type ApiDocument, buildDocument } from "./http/openapi.ts";
import { serve } from "./http/serve.ts";
import { realtimeEndpoints } from "./realtime/routes.ts";
import { roomEndpoints } from "./rooms/routes.ts";
import { userEndpoints } from "./users/routes.ts";
import { webhookEndpoints } from "./webhooks/routes.ts";
import { workflowEndpoints } from "./workflows/routes.ts";

/** Every endpoint under `/v1/accounts/:accountId`: what is here is routed, described and tested. */
export const ENDPOINTS: readonly Endpoint[] = [
  ...accountEndpoints,
  ...roomEndpoints,
  ...userEndpoints,
  ...fileEndpoints,
  ...realtimeEndpoints,
  ...webhookEndpoints,
  ...workflowEndpoints,
];

export const app = new Hono<{ Bindings: Env }>();

for (const endpoint of ENDPOINTS) {
  app.on(endpoint.method, pathOf(endpoint, { segment: ":$1", rest: ":$1{.+}" }), (c) =>
    serve(endpoint, { request: c.req.raw, env: c.env, execution: c.executionCtx, params: c.req.param() }),
  );
}

/** Made when first asked for, so that no other request waits for it. */
let document: ApiDocument | undefined;
const apiDocument = (): ApiDocument => {
  document ??= buildDocument(ENDPOINTS);
  return document;
};

app.get("/v1/openapi.json", () => description(apiDocument(), crypto.randomUUID()));
app.get("/docs", () => docsPage(apiDocument()));
app.get("/demo/:file?", (c) => demoPage(c.req.raw, c.env));
app.post("/demo/visitors", (c) => receiveVisitor(c.req.raw, c.env, c.executionCtx));
app.get("/", (c) => c.redirect("/docs"));

app.options("/v1/*", () => preflight(crypto.randomUUID()));

app.notFound(() =>
  failure(
    new AppError("Server", "NOT_FOUND", "No such endpoint; /docs lists the ones there are"),
    crypto.randomUUID(),
  ),
);
