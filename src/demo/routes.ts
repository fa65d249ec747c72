/** The demo's page and the endpoints for its visitors, all outside the API. */
import * as z from "zod";
import type { Env } from "../env.ts";
import { wholeNumber } from "../features/room-content/documents/schema.ts";
import { Token } from "../features/users/schema.ts";
import { limitDemoVisitors } from "../http/authenticate.ts";
import { type Endpoint, endpointsFor } from "../http/endpoint.ts";
import { failure, toAppError } from "../http/envelope.ts";
import type { RequestHandler } from "../http/pipeline.ts";
import { withoutCors, withPageHeaders } from "../http/security.ts";
import { AppError } from "../platform/errors.ts";
import { logError } from "../platform/log.ts";
import { readSetting } from "../platform/settings.ts";
import { Name, text } from "../platform/text.ts";
import { Timestamp } from "../platform/time.ts";
import { admitHelpers, createVisitor, type DemoContext, listHistory, renewVisitor } from "./commands.ts";
import {
  changeSharing,
  createGuestLink,
  GuestLinkCreation,
  getSharing,
  revokeGuestLink,
  Sharing,
  SharingChange,
} from "./sharing.ts";

const { endpoint } = endpointsFor<DemoContext>({ module: "Users" });

/** Names a board in links: what follows `?room=`. */
const BoardCode = text(4, 32).regex(/^[a-z0-9-]*$/, "must consist of lower-case letters, digits and hyphens");

/** With the token of an identity, the query names the board. */
const OfBoard = z.object({ roomId: z.uuid().optional() });
const ofBoard = { access: "member", errors: ["NOT_FOUND"], query: OfBoard } as const;

/** Runs through the same request pipeline as the API's endpoints, for the demo organization. */
const visitors = endpoint({
  method: "POST",
  path: "/demo/visitors",
  operation: "createDemoVisitor",
  access: "public",
  summary: "Become a visitor of a board of the demo",
  errors: ["NOT_FOUND", "FORBIDDEN"],
  query: z.object({ name: Name.optional(), room: BoardCode.optional() }),
  status: 201,
  done: "Visitor created",
  data: z.object({ token: Token, room: BoardCode }),
  handle: (ctx, { query }) => createVisitor(ctx, query),
});

const tokens = endpoint({
  method: "POST",
  path: "/demo/tokens",
  operation: "renewDemoVisitor",
  summary: "Renew a visitor's token",
  ...ofBoard,
  status: 201,
  done: "Token renewed",
  data: z.object({ token: Token }),
  handle: (ctx) => renewVisitor(ctx),
});

const helpers = endpoint({
  method: "POST",
  path: "/demo/helpers",
  operation: "admitDemoHelpers",
  summary: "Get the tokens of the board's helpers",
  ...ofBoard,
  status: 201,
  done: "Helpers admitted",
  data: z.object({ tokens: z.array(Token) }),
  handle: (ctx) => admitHelpers(ctx),
});

const HistoryPage = z.object({
  changes: z.array(
    z.object({
      seq: z.int(),
      at: Timestamp,
      store: z.string().nullable().meta({ description: "Null for a comment, whose ID is the key." }),
      key: z.string(),
      value: z
        .unknown()
        .meta({ description: "The entry or comment after the change; null when it was deleted." }),
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
  access: "member",
  summary: "List the changes of the visitor's board",
  errors: ["NOT_FOUND"],
  query: OfBoard.extend({ after: wholeNumber.default(0) }),
  done: "History retrieved",
  data: HistoryPage,
  handle: (ctx, { query }) => listHistory(ctx, query.after),
});

const sharing = endpoint({
  method: "GET",
  path: "/demo/sharing",
  operation: "getDemoSharing",
  summary: "Get who may do what on the visitor's board",
  ...ofBoard,
  done: "Sharing retrieved",
  data: Sharing,
  handle: (ctx) => getSharing(ctx),
});

const sharingChange = endpoint({
  method: "PUT",
  path: "/demo/sharing",
  operation: "changeDemoSharing",
  summary: "Change who may do what on the visitor's board",
  ...ofBoard,
  body: SharingChange,
  done: "Sharing changed",
  data: Sharing,
  handle: (ctx, { body }) => changeSharing(ctx, body),
});

const linkCreation = endpoint({
  method: "POST",
  path: "/demo/links",
  operation: "createDemoLink",
  summary: "Create a link for guests of the visitor's board",
  ...ofBoard,
  body: GuestLinkCreation,
  status: 201,
  done: "Link created",
  data: Sharing.extend({ secret: z.string() }),
  handle: (ctx, { body }) => createGuestLink(ctx, body),
});

const linkRevocation = endpoint({
  method: "DELETE",
  path: "/demo/links/:linkId",
  operation: "revokeDemoLink",
  summary: "Revoke a link for guests of the visitor's board",
  ...ofBoard,
  done: "Link revoked",
  data: Sharing,
  handle: (ctx, { params }) => revokeGuestLink(ctx, params.linkId),
});

/** The endpoints beside the page. */
export const DEMO_ENDPOINTS = [
  visitors,
  tokens,
  helpers,
  history,
  sharing,
  sharingChange,
  linkCreation,
  linkRevocation,
];

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

/** `visitors` gives anyone a token, at a rate that keeps a single client from filling the demo; the others take one. */
export const handleVisitor = (
  endpoint: Endpoint<DemoContext>,
  call: Parameters<RequestHandler<DemoContext>>[1],
  handleRequest: RequestHandler<DemoContext>,
): Promise<Response> =>
  respond(async () => {
    const accountId = requireDemo(call.env);
    if (endpoint === visitors) await limitDemoVisitors(call.env, call.request);
    return handleRequest(endpoint, { ...call, params: { ...call.params, accountId } });
  });

/** The page and its files. Their headers let them load, run and reach this service only. */
export const demoPage = (request: Request, env: Env): Promise<Response> =>
  respond(async () => {
    requireDemo(env);
    const asset = await env.ASSETS.fetch(request);
    if (asset.status === 404)
      throw new AppError("Server", "NOT_FOUND", "The demo has no file with this name");
    return withPageHeaders(asset, new URL(request.url));
  });
