/** Generates the OpenAPI 3.1 document from the endpoints and schemas that serve the API. */
import { createDocument, type ZodOpenApiOverrideContext, type ZodOpenApiPathsObject } from "zod-openapi";
import type { AnyEndpoint } from "../endpoint.ts";
import { SESSION_COOKIE } from "../security/csrf.ts";
import { type DocumentedEvents, sendEvents, webhooksOf } from "./events.ts";
import { documentedPath, operationOf } from "./operation.ts";
import { describeDefaults, openObjects } from "./portable.ts";
import { CREDENTIALS, INTRODUCTION, TAGS } from "./prose.ts";

/** Drops what zod adds for its own checks: the bounds of safe integers, and the pattern behind a format. */
function dropChecks({ jsonSchema }: Pick<ZodOpenApiOverrideContext, "jsonSchema">): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.format === "uuid") delete jsonSchema.pattern;
}

/** Builds the whole document. */
export function buildDocument(endpoints: readonly AnyEndpoint[], events: DocumentedEvents = {}) {
  const paths: ZodOpenApiPathsObject = {};
  for (const endpoint of endpoints) {
    const path = documentedPath(endpoint);
    paths[path] = {
      ...paths[path],
      [endpoint.method.toLowerCase()]: operationOf(endpoint),
    };
  }
  const document = createDocument(
    {
      openapi: "3.1.1",
      info: {
        title: "Atrium",
        version: "1.0.0",
        description: INTRODUCTION,
        contact: { name: "The Atrium authors" },
        license: { name: "MIT", identifier: "MIT" },
      },
      servers: [{ url: "/", description: "The service that serves this document" }],
      tags: [...new Set(endpoints.map((endpoint) => endpoint.module))].map((name) => {
        const description = TAGS[name];
        return description === undefined ? { name } : { name, description };
      }),
      paths,
      webhooks: webhooksOf(events),
      components: {
        securitySchemes: {
          apiKey: { type: "http", scheme: "bearer", description: CREDENTIALS.apiKey },
          session: {
            type: "apiKey",
            in: "cookie",
            name: SESSION_COOKIE,
            description: CREDENTIALS.session,
          },
          userToken: {
            type: "http",
            scheme: "bearer",
            bearerFormat: "JWT",
            description: CREDENTIALS.userToken,
          },
        },
      },
    },
    { override: dropChecks },
  );
  sendEvents(document.webhooks);
  // zod-openapi calls no override where a schema is a `$ref`, so these rules apply to what it has made.
  openObjects(document);
  describeDefaults(document.components?.schemas);
  return document;
}

export type ApiDocument = ReturnType<typeof buildDocument>;
