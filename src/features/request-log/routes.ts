/** The endpoints that read the request log. */

import { exactly, flag, paging } from "@atrium/contract/rest/lists.ts";
import { ApiRequest } from "@atrium/contract/rest/request-log.ts";
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { getRequest, listRequests, type RequestLogContext } from "./queries.ts";

const { endpoint } = endpointsFor<RequestLogContext>({ module: "Accounts" });

const MAX_FILTER_CHARS = 255;

const CURSOR_EXAMPLE = "4711";

const Cursor = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, "must be the `cursor` of an earlier page")
  .transform(Number)
  .optional()
  .meta({
    description: "The `cursor` of an earlier page: the requests before it, with the same filters.",
    override: { type: "string", example: CURSOR_EXAMPLE },
  });

export const endpoints = [
  endpoint({
    method: "GET",
    path: "/requests",
    operation: "listRequests",
    sdk: "requests.list(filter?: RequestFilter): data",
    summary: "List API requests",
    details:
      "Newest first, about a second late: the latest 20,000 requests of the last 7 days, unless the operator of the service has set another time. Failures are all logged; where there are more than some dozen requests a second, successes are sampled, and `weight` says how many requests each stands for. Successful reads of this log are not in it.",
    query: z.object({
      limit: paging.limit,
      after: Cursor,
      failed: z
        .enum(["true", "false"])
        .default("false")
        .meta({ description: "`true`: only requests with a status of 400 or more." }),
      byMember: flag("Only requests by members, as the dashboard makes them, or only the others."),
      operation: exactly(MAX_FILTER_CHARS, "Only requests to this operation."),
      credentialId: exactly(MAX_FILTER_CHARS, "Only requests with this API key, or by this member or user."),
      roomId: exactly(MAX_FILTER_CHARS, "Only requests about this room."),
    }),
    done: "Requests retrieved",
    data: z.object({
      requests: z.array(ApiRequest),
      cursor: z.string().nullable().meta({
        description: "Goes into `after` to read the page that follows; null on the last one.",
        example: CURSOR_EXAMPLE,
      }),
    }),
    handle: (ctx, { query }) =>
      listRequests(ctx, {
        limit: query.limit,
        before: query.after ?? null,
        failedOnly: query.failed === "true",
        isByMember: query.byMember,
        operation: query.operation ?? null,
        credentialId: query.credentialId ?? null,
        roomId: query.roomId ?? null,
      }),
  }),
  endpoint({
    method: "GET",
    path: "/requests/:requestId",
    operation: "getRequest",
    sdk: "requests.get(requestId): request",
    summary: "Get an API request by its request ID",
    details:
      "The ID is in the envelope of every response, and in its `X-Request-Id` header. An `X-Request-Id` or a trace ID (W3C `traceparent`) that the client has sent finds the latest request with it.",
    errors: ["NOT_FOUND"],
    done: "Request retrieved",
    data: z.object({ request: ApiRequest }),
    handle: (ctx, { params }) => getRequest(ctx, params.requestId),
  }),
];
