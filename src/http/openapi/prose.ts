/** What the API's description says in words, beside what it derives from endpoints and schemas. */
import type { ErrorCode, Module } from "../../platform/error-codes.ts";
import { MAX_BODY_BYTES, MAX_DEPTH } from "../validate.ts";

/** What every caller should know, in Markdown. */
export const INTRODUCTION = `Rooms, users and live presence for collaborative applications.

**Envelope.** Every answer is \`{ type, success, description, data, error, requestId }\`. On failure \`data\` is \`{}\` and
\`error\` holds \`module\`, \`code\` and \`message\`. The request id is also in the \`X-Request-Id\` header.

**Authentication.** \`Authorization: Bearer <Base64 of accountId:apiKey>\`, standard or URL-safe, padding optional.
Endpoints that say so also take a room user's JWT in its place. Whoever signs up at \`/dashboard\` makes keys there, and
\`npm run account -- create NAME\` makes an organization with its first one. Without the header, the dashboard's session
cookie opens the organizations that its person belongs to, with changes taken from the dashboard's own pages only.

**Input.** Bodies, but for uploads, are JSON in UTF-8, at most ${MAX_BODY_BYTES} bytes and ${MAX_DEPTH} levels deep; unknown fields are
ignored, and of a duplicate key the last value counts. Strings are well-formed Unicode without NUL, their lengths are
counted in characters (code points). Unknown query parameters are ignored; a known one may be given once, a list's as often as you like.

**Retries.** A POST with an \`Idempotency-Key\` header (1 to 255 visible ASCII characters) is done once: for 24 hours the
same request with the same key is answered alike, with \`Idempotency-Replayed: true\`. Another request under the same key
is answered \`CONFLICT\`. Refused requests change nothing and leave no trace under their key.

**Rates.** Requests are counted per organization and per credential; beyond the limit the answer is \`RATE_LIMITED\`
with \`Retry-After\` in seconds.`;

/** What each error code means, at whichever endpoint. */
export const MEANINGS: Readonly<Record<ErrorCode, string>> = {
  BAD_REQUEST:
    "The address or a parameter is missing, wrong or given twice, or the body is not JSON, too large or too deep.",
  VALIDATION_ERROR: "The body breaks its schema; `error.message` names the field.",
  UNAUTHORIZED: "No credential, or one that is malformed, unknown or expired.",
  FORBIDDEN: "A good credential that does not open this.",
  NOT_FOUND: "Not there, or not the organization's.",
  CONFLICT: "It contradicts what is there already.",
  RATE_LIMITED: "Too many requests; `Retry-After` says when to try again.",
  INTERNAL_ERROR: "Something went wrong on our side.",
};

/** What a tag's endpoints are about; the linter asks for a line here when a feature brings a new one. */
export const TAGS: Partial<Record<Module, string>> = {
  Accounts: "The API keys by which an organization speaks, and the people who speak for it.",
  Rooms: "Places in which users meet, with live figures of who is there.",
  Users: "Who may join a room, each with a token of its own.",
  Files: "What a room's users have uploaded; whoever knows a file's key may read it.",
  Webhooks: "Addresses of yours that are told what happens in rooms, signed, and again until they have it.",
  Workflows: "Code of yours that runs here when something happens in a room, once for each event.",
};

const UUID = { format: "uuid" } as const;

/** What the names in paths stand for. */
export const PATH_PARAMETERS: Readonly<
  Record<string, { readonly description: string; readonly format?: string }>
> = {
  accountId: { description: "Your organization's id.", ...UUID },
  keyId: { description: "The API key's id.", ...UUID },
  personId: { description: "The member's id.", ...UUID },
  invitationId: { description: "The invitation's id.", ...UUID },
  roomId: { description: "The room's id.", ...UUID },
  userId: { description: "The user's id.", ...UUID },
  customId: { description: "Your own identifier, percent-encoded." },
  store: { description: "The store's name, percent-encoded: 1 to 128 characters." },
  key: { description: "The entry's key, percent-encoded: 1 to 255 characters." },
  fileKey: { description: "The file's key, percent-encoded; its slashes may stand as they are." },
  commentId: { description: "The comment's id.", ...UUID },
  webhookId: { description: "The webhook's id.", ...UUID },
  workflowId: { description: "The workflow's id.", ...UUID },
  deliveryId: { description: "The delivery's id.", ...UUID },
};

/** What a caller can show to say who it is. */
export const CREDENTIALS = {
  apiKey:
    "An organization's own credential: the Base64 encoding of `accountId:apiKey`. In a shell: `printf %s \"$ACCOUNT_ID:$API_KEY\" | base64 | tr -d '\\n'`.",
  session:
    "The session of a person who is signed in to the dashboard and belongs to the organization. Requests that change something need an `Origin` of this very service.",
  userToken: "A room user's token, as its creation answered it. It opens the user's own room only.",
} as const;
