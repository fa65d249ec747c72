/** The demo's page and the endpoints for its visitors, all outside the API. */

import { AppError } from "@atrium/contract/errors.ts";
import { wholeNumber } from "@atrium/contract/rest/documents.ts";
import { Token } from "@atrium/contract/rest/users.ts";
import { Name, text } from "@atrium/contract/text.ts";
import { Timestamp } from "@atrium/contract/time.ts";
import * as z from "zod";
import type { Env } from "../env.ts";
import { limitDemoVisitors } from "../http/authenticate.ts";
import { type Endpoint, endpointsFor } from "../http/endpoint.ts";
import { failure, toAppError } from "../http/envelope.ts";
import { composed, SHOWN_ONCE } from "../http/idempotency/receipt.ts";
import type { RequestHandler } from "../http/pipeline.ts";
import { originOf, type PageNeeds, withoutCors, withPageHeaders } from "../http/security.ts";
import { logError } from "../platform/log.ts";
import { readSetting } from "../platform/settings.ts";
import {
  admitHelpers,
  changeSharing,
  createReader,
  createVisitor,
  type DemoContext,
  getSharing,
  Level,
  listHistory,
  renameBoard,
  renameVisitor,
} from "./commands.ts";

const { endpoint } = endpointsFor<DemoContext>({ module: "Users" });

/** Names a board in links: what follows `?room=`. */
const BoardCode = text(4, 32).regex(/^[a-z0-9-]*$/, "must consist of lower-case letters, digits and hyphens");

/** A name without the blanks around it, which pages do not show. */
const TrimmedName = z.string().trim().pipe(Name);

/** With the token of an identity, the query names the board. */
const OfBoard = z.object({ roomId: z.uuid().optional() });

/** Runs through the same request pipeline as the API's endpoints, for the demo organization. */
const visitors = endpoint({
  method: "POST",
  path: "/demo/visitors",
  operation: "createDemoVisitor",
  right: "public",
  summary: "Become a visitor of a board of the demo",
  errors: ["NOT_FOUND", "FORBIDDEN"],
  query: z.object({ name: TrimmedName.optional(), room: BoardCode.optional() }),
  status: 201,
  done: "Visitor created",
  data: z.object({ token: Token, room: BoardCode }),
  handle: (ctx, { query }) => createVisitor(ctx, query),
});

const readers = endpoint({
  method: "POST",
  path: "/demo/readers",
  operation: "createDemoReader",
  right: "public",
  summary: "Become a user of the room of a quickstart's page",
  errors: ["NOT_FOUND", "FORBIDDEN"],
  query: z.object({ name: TrimmedName, room: BoardCode }),
  status: 201,
  done: "Reader created",
  data: z.object({ token: Token }),
  handle: (ctx, { query }) => createReader(ctx, query),
});

const helpers = endpoint({
  method: "POST",
  path: "/demo/helpers",
  operation: "admitDemoHelpers",
  right: "read",
  summary: "Get the tokens of the board's helpers",
  errors: ["NOT_FOUND"],
  query: OfBoard,
  status: 201,
  replay: SHOWN_ONCE, // only this response contains the tokens
  done: "Helpers admitted",
  data: z.object({ tokens: z.array(Token) }),
  handle: (ctx) => admitHelpers(composed(ctx)),
});

const HistoryPage = z.object({
  changes: z.array(
    z.object({
      seq: z.int(),
      at: Timestamp,
      store: z.string(),
      key: z.string(),
      value: z.unknown().meta({ description: "The entry after the change; null when it was deleted." }),
      by: z.string().nullable().meta({ description: "The user; null for the back end." }),
    }),
  ),
  dropped_seq: z.int().meta({ description: "The latest change that is no longer kept; 0 if all are." }),
  has_more: z.boolean(),
});

const history = endpoint({
  method: "GET",
  path: "/demo/history",
  operation: "listDemoHistory",
  right: "read",
  summary: "List the changes of the notes and shapes of the visitor's board",
  errors: ["NOT_FOUND"],
  query: OfBoard.extend({ after: wholeNumber.default(0) }),
  done: "History retrieved",
  data: HistoryPage,
  handle: (ctx, { query }) => listHistory(ctx, query.after),
});

const Sharing = z.object({ everyone: Level });

const sharing = endpoint({
  method: "GET",
  path: "/demo/sharing",
  operation: "getDemoSharing",
  right: "read",
  summary: "Get what everyone with the address of the visitor's board may do",
  errors: ["NOT_FOUND"],
  query: OfBoard,
  done: "Sharing retrieved",
  data: Sharing,
  handle: (ctx) => getSharing(ctx),
});

const sharingChange = endpoint({
  method: "PUT",
  path: "/demo/sharing",
  operation: "changeDemoSharing",
  right: "read",
  summary: "Change what everyone with the address of the visitor's board may do",
  errors: ["NOT_FOUND"],
  query: OfBoard,
  body: Sharing.strict(),
  done: "Sharing changed",
  data: Sharing,
  handle: (ctx, { body }) => changeSharing(ctx, body.everyone),
});

const Named = z.object({ name: TrimmedName });

const boardName = endpoint({
  method: "PUT",
  path: "/demo/board",
  operation: "renameDemoBoard",
  right: "read",
  summary: "Rename the visitor's board",
  errors: ["NOT_FOUND"],
  query: OfBoard,
  body: Named.strict(),
  done: "Board renamed",
  data: Named,
  handle: (ctx, { body }) => renameBoard(ctx, body.name),
});

const visitorName = endpoint({
  method: "PUT",
  path: "/demo/visitor",
  operation: "renameDemoVisitor",
  right: "read",
  summary: "Rename the visitor",
  errors: ["NOT_FOUND"],
  query: OfBoard,
  body: Named.strict(),
  done: "Visitor renamed",
  data: Named,
  handle: (ctx, { body }) => renameVisitor(composed(ctx), body.name),
});

/** The endpoints beside the page. */
export const DEMO_ENDPOINTS = [
  ...[visitors, readers, helpers, history],
  ...[sharing, sharingChange, boardName, visitorName],
];

const NEWCOMERS = [visitors, readers];

/** The id of the demo organization. NOT_FOUND where there is no demo. */
function requireDemo(env: Env): string {
  const accountId = readSetting(env, "DEMO_ACCOUNT_ID");
  if (accountId !== undefined) return accountId;
  throw new AppError(
    "Server",
    "NOT_FOUND",
    "This service has no demo; set the variable DEMO_ACCOUNT_ID to the id of the organization that it should belong to (`npm start` does)",
  );
}

async function respond(work: () => Promise<Response>): Promise<Response> {
  try {
    return await work();
  } catch (error) {
    const requestId = crypto.randomUUID();
    const appError = toAppError(error, "Server");
    if (appError.code === "INTERNAL_ERROR") logError("A demo request failed", { request: requestId }, error);
    return withoutCors(failure(appError, requestId));
  }
}

/**
 * FORBIDDEN for the pages of others: their visitors would come from many addresses, and the demo would be their free
 * service. Programs that are no page name no origin.
 */
function requireOwnPage(request: Request, env: Env): void {
  const [origin, site] = ["Origin", "Sec-Fetch-Site"].map((name) => request.headers.get(name));
  const isOwn = (origin ?? originOf(request, env)) === originOf(request, env);
  if (isOwn && (site == null || site === "same-origin" || site === "none")) return;
  throw new AppError("Users", "FORBIDDEN", "Only pages of this service can let people into the demo");
}

/** Newcomers get a token without one, at a rate that keeps a single client from filling the demo; the others take one. */
export const handleVisitor = (
  endpoint: Endpoint<DemoContext>,
  call: Parameters<RequestHandler<DemoContext>>[1],
  handleRequest: RequestHandler<DemoContext>,
): Promise<Response> =>
  respond(async () => {
    const accountId = requireDemo(call.env);
    if (NEWCOMERS.includes(endpoint)) {
      requireOwnPage(call.request, call.env);
      await limitDemoVisitors(call.env, call.request);
    }
    return withoutCors(await handleRequest(endpoint, { ...call, params: { ...call.params, accountId } }));
  });

/** The front page of this service frames the board. */
const NEEDS: PageNeeds = { "frame-ancestors": "'self'" };

/** The page. Its headers let it load, run and reach this service only. */
export const demoPage = (request: Request, env: Env): Promise<Response> =>
  respond(async () => {
    requireDemo(env);
    return withPageHeaders(await env.ASSETS.fetch(request), new URL(request.url), NEEDS);
  });
