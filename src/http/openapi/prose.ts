/** The texts of the OpenAPI document that are not derived from endpoints and schemas. */
import type { ErrorCode, Module } from "@atrium/contract/errors.ts";
import { MAX_BODY_BYTES, MAX_DEPTH } from "../request-input.ts";

export const INTRODUCTION = `Rooms, users and live presence for collaborative applications.

**Envelope.** Every response is \`{ type, success, description, data, error, requestId }\`. On failure, \`data\` is \`{}\` and
\`error\` holds \`module\`, \`code\` and \`message\`. The request ID is also in the \`X-Request-Id\` header.
If you send an \`X-Request-Id\` or a \`traceparent\` (W3C Trace Context) of your own, the request log finds the request by
it, and webhooks get the \`traceparent\`.

**Authentication.** Send \`Authorization: Bearer <Base64 of accountId:apiKey>\`, in standard or URL-safe Base64, with or
without padding. Some endpoints also accept a user's JWT; they say so. Create API keys in the dashboard, or create an
organization with its first key by \`npm run account -- create NAME\`. A key with \`permissions\` or \`rooms\` is for the
content of rooms alone; one with \`rooms\` finds the room in the path or in \`?roomId=\`. Without the header, the dashboard's session cookie
authenticates a member of the organization; changes are then accepted from the service's own pages only.

**Input.** Except for uploads, bodies are JSON in UTF-8, up to ${MAX_BODY_BYTES} bytes and ${MAX_DEPTH} levels deep. An
unknown field is refused with \`VALIDATION_ERROR\`, and the last value of a duplicate key counts. Numbers are those of
JavaScript: one beyond \`1.7976931348623157e308\` is refused with \`VALIDATION_ERROR\`, integers beyond 2^53 lose digits, and
\`-0\` becomes \`0\`. Strings are well-formed
Unicode without NUL; their length is counted in code points. Unknown query parameters are ignored. Only parameters that
are lists may be repeated.

**Retries.** A POST with an \`Idempotency-Key\` header (1 to 255 visible ASCII characters) is done only once. For 24 hours,
the same request with the same key returns the first response, with \`Idempotency-Replayed: true\`. A different request with
the same key returns \`CONFLICT\`. Refused requests change nothing, so their keys can be used again.

**Rate limits.** Requests are counted per organization and per credential. Above the limit, the response is
\`RATE_LIMITED\` with \`Retry-After\` in seconds.

**Agents.** \`POST /mcp\` offers the same operations as tools of the Model Context Protocol, with the same credential.

**Health.** \`GET /health\` needs no credential. It returns 200 with \`{ "status": "ok" }\` if the database and the rooms
respond, and otherwise 503 with \`{ "status": "unavailable", "failed": [...] }\`, both without the envelope.`;

/** Each code with its cause and with what the caller does then. */
export const ERRORS: Readonly<Record<ErrorCode, readonly [cause: string, remedy: string]>> = {
  BAD_REQUEST: [
    "The path or a parameter is missing, invalid or repeated, or the body is not JSON, too large or nested too deep.",
    "Correct what `error.message` names. The same request fails again.",
  ],
  VALIDATION_ERROR: [
    "The body does not match its schema.",
    "Correct the field that `error.message` names. The same request fails again.",
  ],
  UNAUTHORIZED: [
    "The credential is missing, malformed, unknown or expired.",
    "Check the `Authorization` header. An expired token is replaced by a new one.",
  ],
  FORBIDDEN: [
    "The credential is valid but does not permit this request, or a quota is used up.",
    "Use an API key or a user with the role that `error.message` names, or raise the quota.",
  ],
  NOT_FOUND: [
    "The resource does not exist or belongs to another organization.",
    "Check the IDs in the path, and the organization of the credential.",
  ],
  CONFLICT: [
    "The `Idempotency-Key` was used for another request, or that request's response is shown only once.",
    "Send a key of its own with each request, and the same key with its retries alone.",
  ],
  GONE: [
    "The event log no longer has the position of the cursor, or the offset is of an earlier stream of the name.",
    "Read the present state by the API, then go on without the cursor; read a stream from the beginning.",
  ],
  UNSUPPORTED_MEDIA_TYPE: [
    "The body has a `Content-Encoding`, or a part of a form a `Content-Transfer-Encoding`.",
    "Send the content as it is, without compression.",
  ],
  RATE_LIMITED: [
    "The organization or the credential sends more requests than it may.",
    "Wait as many seconds as `Retry-After` says, then send the request again.",
  ],
  INTERNAL_ERROR: [
    "The service failed.",
    "Send the request again, a POST with the same `Idempotency-Key`. If it keeps failing, search the logs for the request ID.",
  ],
};

export const TAGS: Partial<Record<Module, string>> = {
  Accounts: "An organization's API keys, members and invitations.",
  Rooms: "Rooms, their live stats and their content.",
  Identities: "Your end users in all rooms, groups of them, and guests who come by links.",
  Access: "What identities and groups may do in rooms.",
  Inbox: "The notifications of each identity, and how far they are read.",
  Users: "The users of a room and their tokens.",
  Files: "Files that the users of a room upload. Anyone who knows a file's key can read it.",
  Webhooks: "URLs of yours that receive events, signed, with retries.",
  Workflows: "Functions of yours that run in the service when an event occurs, once per event.",
  Events: "The log of what happened, which can be read again.",
};

export const CREDENTIALS = {
  apiKey:
    "The organization's credential: `accountId:apiKey` in Base64. In a shell: `printf %s \"$ACCOUNT_ID:$API_KEY\" | base64 | tr -d '\\n'`. A key with `permissions` needs the right that an operation names, and one with `permissions` or `rooms` never has `organization`.",
  session:
    "The dashboard's session cookie of a member of the organization. Requests that change something need the service's own `Origin`.",
  userToken:
    "A user's token, as returned by its creation. It gives access to the user's own room only. An identity's token acts as its user in a room, and opens the paths under `/me`.",
} as const;
