/** Rules for every route: an endpoint in the API's table of contents is tested without further lines. */
import { createExecutionContext } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { CHANNELS } from "@atrium/contract/resources/notification-settings.ts";
import { isOfRooms } from "@atrium/contract/resources/permissions.ts";
import { afterAll, beforeAll, describe, expect, inject, it, vi } from "vitest";
import { app } from "../../src/app.ts";
import { loadEndpoints } from "../../src/endpoints.ts";
import { openRequestLogs } from "../../src/features/request-log/request-log-object.ts";
import { markDeleted } from "../../src/features/rooms/statements.ts";
import type { AnyEndpoint } from "../../src/http/endpoint.ts";
import { isRepeatable, MAX_BODY_BYTES, MAX_DEPTH } from "../../src/http/request-input.ts";
import { openTenant } from "../../src/platform/d1/databases.ts";
import type { EndpointRight } from "../../src/platform/d1/rights.ts";
import { networkOf } from "../../src/platform/network.ts";
import { joinRoom } from "../room/support/join.ts";
import {
  type Account,
  type Answer,
  Api,
  account,
  bearer,
  formOf,
  makeGuest,
  narrowedKey,
  ORIGIN,
  refusalOf,
} from "../support/api.ts";
import { addMember, type DashboardBrowser } from "../support/person.ts";

const ENDPOINTS = await loadEndpoints();

type EnvelopeEndpoint = AnyEndpoint & { readonly kind: "envelope" };

/** IDs of one organization's things, for the placeholders of routes. */
type Things = Readonly<Record<string, string>>;

/** Shared by all tests, which take as long as the machine has other things to do. */
const LONG = { ttl: 24 * 60 * 60 };

const UNKNOWN: Things = new Proxy(
  {},
  { get: (_, name) => (name === "secret" ? "UNKNOWN" : "00000000-0000-4000-8000-000000000000") },
);

const pathOf = (endpoint: AnyEndpoint, things: Things): string => {
  const path = endpoint.path.replaceAll(/[:*](\w+)/g, (_, name) => things[name] ?? "");
  return endpoint.kind === "envelope" && "roomId" in (endpoint.query?.shape ?? {})
    ? `${path}?roomId=${things.roomId}`
    : path;
};

const withQuery = (path: string, query: string): string => path + (path.includes("?") ? "&" : "?") + query;

/** Fields of an example that must name an existing thing, and the thing. */
const OWN_IDS: Readonly<Record<string, string>> = {
  roomId: "roomId",
  userId: "userId",
  identityId: "identityId",
  secret: "linkSecret",
  key: "fileKey",
  confirm: "organizationName",
};

/** The fields of an example that are entries by the ID of such a thing. */
const BY_ID: Readonly<Record<string, string>> = {
  groupsAccesses: "groupId",
  identitiesAccesses: "identityId",
};

const repeatable = (endpoint: EnvelopeEndpoint, name: string) => isRepeatable(endpoint.query?.shape[name]);

/** Values that are valid for these fields, among values that most fields refuse. */
const RIGHT: Readonly<Record<string, (value: unknown) => boolean>> = {
  all: (value) => value === true,
  value: (value) => typeof value !== "string" || value.length < 196_607,
  anchor: (value) => typeof value !== "string" || value.length < 4_095,
  metadata: (value) => typeof value !== "string" || value.length < 32_767,
  presence: (value) => value === null || (typeof value === "object" && !Array.isArray(value)),
  data: (value) => typeof value !== "string" || value.length < 65_535,
  resolved: (value) => typeof value === "boolean",
  on: (value) => typeof value === "boolean",
  ifVersion: (value) => typeof value === "number",
  seq: (value) => typeof value === "number",
  mentions: Array.isArray,
  base: (value) => typeof value === "number",
  accept: Array.isArray,
  defaultAccesses: Array.isArray,
  expirationTime: (value) => typeof value === "number",
  maxUses: (value) => typeof value === "number",
  groupsAccesses: (value) => typeof value === "object" && !Array.isArray(value),
  identitiesAccesses: (value) => typeof value === "object" && !Array.isArray(value),
  limits: (value) => typeof value === "object" && !Array.isArray(value),
  userIds: Array.isArray,
  enabled: (value) => typeof value === "boolean",
  httpTrigger: (value) => typeof value === "boolean",
};

/** `from` and `to` are numbers of versions in the history of documents, not times. */
const isVersion = ({ operation }: EnvelopeEndpoint, name: string, value: unknown): boolean =>
  (operation === "compareDocumentVersions" || operation === "rollBackDocument") &&
  (name === "from" || name === "to") &&
  Number.isSafeInteger(value);

/** A channel whose settings stay as they are. */
const isChannel = (field: string, value: unknown): boolean =>
  CHANNELS.some((channel) => channel === field) && JSON.stringify(value) === "{}";

/** Whether a value is valid in one body only: a workflow with an HTTP trigger needs no events. */
const isRight = (endpoint: EnvelopeEndpoint, field: string, value: unknown): boolean =>
  (RIGHT[field]?.(value) ?? false) ||
  isVersion(endpoint, field, value) ||
  isChannel(field, value) ||
  (endpoint.operation === "updateWorkflow" && field === "events" && Array.isArray(value)) ||
  (endpoint.operation === "createSuggestion" && field === "edits" && Array.isArray(value)) ||
  (endpoint.operation === "identify" && field === "groups" && Array.isArray(value));

/** The body that the endpoint's own description gives as an example, about these things. */
function exampleBody(endpoint: EnvelopeEndpoint, things: Things): Record<string, unknown> | undefined {
  const example = endpoint.body?.meta()?.example as Record<string, unknown> | undefined;
  return example && about(example, things);
}

const about = (example: object, things: Things): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(example).map(([name, value]) => {
      const thing = OWN_IDS[name];
      if (thing !== undefined) return [name, things[thing]];
      const named = BY_ID[name];
      if (named !== undefined) return [name, { [things[named] ?? ""]: "editor" }];
      return [name, name === "data" ? about(value, things) : value];
    }),
  );

/** A room's and a user's worth of form; only these two fields matter to who may send it. */
const exampleForm = ({ roomId = "", userId = "" }: Things): FormData =>
  formOf({ roomId, userId }, new File(["Hello"], "hello.txt", { type: "text/plain" }));

const initFor = (endpoint: AnyEndpoint, things: Things): RequestInit => {
  if (endpoint.kind === "envelope" && endpoint.form !== undefined) return { body: exampleForm(things) };
  if (endpoint.operation === "appendToStream")
    return { body: "x", headers: { "Content-Type": "text/plain" } };
  const body = endpoint.kind === "envelope" ? exampleBody(endpoint, things) : undefined;
  return body === undefined
    ? {}
    : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
};

const call = (api: Api, endpoint: AnyEndpoint, things: Things) =>
  api.send(endpoint.method, pathOf(endpoint, things), initFor(endpoint, things));

/** A request in the organization's log, which is off in these tests. Returns its ID. */
async function loggedRequest(accountId: string): Promise<string> {
  const id = crypto.randomUUID();
  await openRequestLogs(env)(accountId).append([
    {
      ...{ id, at: Date.now(), method: "GET", route: "/rooms", operation: "listRooms", status: 200 },
      ...{ durationMs: 4, credential: "key", credentialId: null, roomId: null, address: null, weight: 1 },
      ...{ errorCode: null, errorMessage: null, clientRequestId: null, traceId: null },
    },
  ]);
  return id;
}

/** Makes things of an organization in which there are others already, and returns their ids. */
type Furnishing = (owner: Account, things: Things) => Promise<Things>;

/** Creates the things that placeholders name, row by row in this order; all of a row at once. */
const FURNISHINGS: readonly (readonly [names: readonly string[], make: Furnishing])[] = [
  [
    ["keyId"],
    async ({ api }) => {
      const { data } = await api.post<{ api_key: { id: string } }>("/api-keys", { name: "Second" });
      return { keyId: data.api_key.id };
    },
  ],
  [
    ["commentId", "threadId"],
    async ({ api }, { roomId, userId }) => {
      const comment = { text: "Hello", userId };
      const { data } = await api.post<{ comment: { id: string } }>(`/rooms/${roomId}/comments`, comment);
      return { commentId: data.comment.id, threadId: data.comment.id };
    },
  ],
  [
    ["store", "key"],
    async ({ api }, { roomId }) => {
      await api.put(`/rooms/${roomId}/stores/tasks/first`, { value: {} });
      return { store: "tasks", key: "first" };
    },
  ],
  [
    ["webhookId", "deliveryId"],
    async ({ api, id }) => {
      const url = `http://127.0.0.1:${inject("receiver").port}/ok/${id}`;
      const { data } = await api.post<{ webhook: { id: string } }>("/webhooks", {
        url,
        events: ["user.created"],
      });
      const webhookId = data.webhook.id;
      const tested = await api.post<{ delivery: { id: string } }>(`/webhooks/${webhookId}/test`);
      return { webhookId, deliveryId: tested.data.delivery.id };
    },
  ],
  [
    ["workflowId", "executionId", "secret"],
    async ({ api }, { roomId }) => {
      const { data } = await api.post<{ workflow: { id: string } }>("/workflows", {
        name: "A workflow",
        code: "export default () => 1;",
        events: ["session.started"],
        httpTrigger: true,
      });
      const workflowId = data.workflow.id;
      await api.put(`/workflows/${workflowId}/secrets/TOKEN`, { value: "a secret" });
      const run = { event: "session.started", data: { roomId } };
      const ran = await api.post<{ execution: { id: string } }>(`/workflows/${workflowId}/run`, run);
      return { workflowId, executionId: ran.data.execution.id, secret: "TOKEN" };
    },
  ],
  [
    ["identityId", "groupId"],
    async ({ api, id }) => {
      const ada = { name: "Ada", customId: `identity-${id}` };
      const { data } = await api.post<{ identity: { id: string } }>("/identities", ada);
      const team = { name: "Designers", customId: `group-${id}` };
      const made = await api.post<{ group: { id: string } }>("/groups", team);
      const [identityId, groupId] = [data.identity.id, made.data.group.id];
      await api.put(`/groups/${groupId}/members/${identityId}`);
      return { identityId, groupId };
    },
  ],
  [
    ["identityToken", "notificationId"],
    async ({ api }, { identityId }) => {
      const { data } = await api.post<{ token: string }>(`/identities/${identityId}/tokens`, LONG);
      const kept = { kind: "$invoice", subjectId: "invoice" };
      await api.post("/inbox-notifications/trigger", { identityId, ...kept });
      const path = `/identities/${identityId}/inbox-notifications`;
      const inbox = await api.get<{ notifications: { id: string }[] }>(path);
      return { identityToken: data.token, notificationId: inbox.data.notifications[0]?.id ?? "" };
    },
  ],
  [
    ["linkId", "linkSecret"],
    async ({ api }, { roomId }) => {
      const made = await api.post<{ link: { id: string }; secret: string }>(`/rooms/${roomId}/links`, {
        permissions: "viewer",
      });
      return { linkId: made.data.link.id, linkSecret: made.data.secret };
    },
  ],
  [
    ["document"],
    async ({ api }, { roomId }) => {
      const path = `/rooms/${roomId}/documents/notes`;
      await api.put(path, { update: "AQEBAAQBAXQBYQA=" });
      await api.post(`${path}/versions`, { name: "Draft" });
      await api.put(path, { update: "AQECAAQBAXQBYgA=" });
      return { document: "notes" };
    },
  ],
  [
    ["suggestionId"],
    async ({ api }, { roomId }) => {
      const suggestion = { edits: [{ at: "end", insert: "A beginning." }], root: "t" };
      const path = `/rooms/${roomId}/documents/notes/suggestions`;
      const { data } = await api.post<{ suggestion: { id: string } }>(path, suggestion);
      return { suggestionId: data.suggestion.id };
    },
  ],
  [
    ["stream"],
    async ({ api }, { roomId }) => {
      await api.raw("PUT", `/rooms/${roomId}/streams/answer`, { headers: { "Content-Type": "text/plain" } });
      return { stream: "answer" };
    },
  ],
  [
    ["invitationId"],
    async ({ api }) => {
      const { data } = await api.post<{ invitation: { id: string } }>("/invitations");
      return { invitationId: data.invitation.id };
    },
  ],
  [["personId"], async ({ id }) => ({ personId: (await addMember(id, "member")).id })],
  [
    ["fileKey"],
    async ({ api }, { roomId = "", userId = "" }) => {
      const hello = new File(["Hello"], "hello.txt", { type: "text/plain" });
      const { data } = await api.upload({ roomId, userId }, hello);
      return { fileKey: data.file.key };
    },
  ],
  [["requestId"], async ({ id }) => ({ requestId: await loggedRequest(id) })],
];

/** Whether the path or the example of the body names such a thing. */
const names = (endpoint: AnyEndpoint, name: string): boolean => {
  if (endpoint.right === "identity" && name.startsWith("identity")) return true;
  const body = endpoint.kind === "envelope" ? (exampleBody(endpoint, { [name]: "named" }) ?? {}) : {};
  return new RegExp(`[:*]${name}\\b`).test(endpoint.path) || JSON.stringify(body).includes('"named"');
};

/**
 * An organization with a room and a user in it, and one of everything else or of the things that an endpoint
 * names.
 */
async function furnished(
  endpoint?: AnyEndpoint,
): Promise<Account & { things: Things; token: string; browser: DashboardBrowser }> {
  const owner = await account();
  const room = await owner.api.createRoom({ customId: `room-${owner.id}` });
  const user = await owner.api.createUser(room.id, { customId: `user-${owner.id}` });
  const { browser } = await addMember(owner.id);
  let things: Things = {
    roomId: room.id,
    userId: user.id,
    customId: `${user.custom_id}`,
    mentionId: "mention",
    version: "1",
    organizationName: "An organization",
    downloadId: crypto.randomUUID(), // none is open: only a socket that has joined begins one
  };
  for (const [made, make] of FURNISHINGS)
    if (endpoint === undefined || made.some((name) => names(endpoint, name)))
      things = { ...things, ...(await make(owner, things)) };
  return { ...owner, things, token: user.token, browser };
}

/** The caller of an endpoint: the organization or, where it has to be one, its identity. */
const callerOf = ({ api, things }: { api: Api; things: Things }, { right }: AnyEndpoint): Api =>
  right === "identity" ? api.as(things.identityToken ?? "") : api;

/** The operations that create something; all others answer 200, but for one that only accepts (202). */
const CREATIONS: readonly string[] = [
  "createApiKey",
  "createGroup",
  "createIdentity",
  "createComment",
  "createDocumentVersion",
  "createInvitation",
  "createPasswordLink",
  "createRoom",
  "createIdentityToken",
  "createRoomLink",
  "createSuggestion",
  "createToken",
  "createUser",
  "createWebhook",
  "createWorkflow",
  "uploadFile",
];

/** A suggestion is edited by its author alone, which the organization's key is here. */
function expectOpen(endpoint: AnyEndpoint, answer: Answer<unknown>): void {
  if (endpoint.operation === "editSuggestion")
    expect(answer.error?.message).toBe("Only its author writes into a suggestion");
  else expectSuccess(endpoint, answer);
}

/** Asserts that the endpoint succeeded, with the very status and description that it documents. */
function expectSuccess(endpoint: AnyEndpoint, answer: Answer<unknown>): void {
  if (endpoint.kind === "raw") {
    expect(answer.error).toBeNull();
    expect(Object.keys(endpoint.answers)).toContain(`${answer.status}`);
    return;
  }
  const accepted = endpoint.operation === "triggerWorkflow";
  const status = CREATIONS.includes(endpoint.operation) ? 201 : accepted ? 202 : 200;
  expect([answer.status, answer.success, answer.description, answer.error]).toEqual([
    status,
    true,
    endpoint.done,
    null,
  ]);
}

/** Number of organizations in turn that keeps each below its rate limit, however quick the machine is. */
const SHARED_IN_TURN = 6;

/** Gives the same few organizations to all tests, one after the other. */
function sharing(make = () => furnished()): () => ReturnType<typeof furnished> {
  const shared: ReturnType<typeof furnished>[] = [];
  let uses = 0;
  return () => {
    const turn = uses % SHARED_IN_TURN;
    uses += 1;
    shared[turn] ??= make();
    return shared[turn];
  };
}

/** An organization for requests that are refused or only read, and so leave it as it is. */
const undisturbed = sharing();

/** Lets no test of the block disturb one of the shared organizations: the last one compares all that can be read of them. */
function leavesUndisturbed(share: ReturnType<typeof sharing>): void {
  let owners: Awaited<ReturnType<typeof furnished>>[];
  let before: readonly unknown[];
  const snapshots = () => Promise.all(owners.map((owner) => snapshot(owner, owner.things)));
  beforeAll(async () => {
    owners = await Promise.all(Array.from({ length: SHARED_IN_TURN }, share));
    before = await snapshots();
  });
  afterAll(async () => expect(await snapshots()).toEqual(before));
}

/** Another one, for requests of the one that are about the other. */
const undisturbedNeighbour = sharing();

/** An organization for a request that succeeds: one of its own, unless the request only reads. */
const organizationFor = (endpoint: AnyEndpoint) =>
  endpoint.method === "GET" ? undisturbed() : furnished(endpoint);

/** The ids of one organization's things, as the endpoint's path names them: several kinds have a customId. */
function thingsFor(endpoint: AnyEndpoint, { id, things }: { id: string; things: Things }): Things {
  const [, kind] = /(room|identit|group)\w+\/custom/.exec(endpoint.path) ?? [];
  return kind === undefined ? things : { customId: `${kind === "identit" ? "identity" : kind}-${id}` };
}

/** Fields that follow from the joins of a room, some seconds later. */
const OF_JOINS = ["active_participants", "duration_seconds", "last_active_at"];

/** All that can be read of an organization, to tell whether anything was disturbed. */
async function snapshot(owner: Account, things: Things): Promise<unknown> {
  const answers = await Promise.all(
    [
      "/rooms",
      `/rooms/${things.roomId}`,
      `/rooms/${things.roomId}/stores/tasks`,
      `/rooms/${things.roomId}/comments`,
      `/rooms/${things.roomId}/streams`,
      `/files?roomId=${things.roomId}`,
      `/users/${things.userId}?roomId=${things.roomId}`,
      "/webhooks",
      `/webhooks/${things.webhookId}/deliveries`,
      "/workflows",
      `/workflows/${things.workflowId}/executions`,
      `/workflows/${things.workflowId}/versions`,
      `/workflows/${things.workflowId}/secrets`,
      "/identities",
      "/groups",
      `/groups/${things.groupId}/members`,
      `/rooms/${things.roomId}/access`,
      "/access/default",
      `/rooms/${things.roomId}/links`,
      "/members",
      "/invitations",
    ].map((path) => owner.api.get(path)),
  );
  const keys = await owner.api.get<{ api_keys: { id: string }[] }>("/api-keys");
  const state = [answers.map((answer) => answer.data), keys.data.api_keys.map((key) => key.id)];
  return JSON.parse(
    JSON.stringify(state, (name, value) => (OF_JOINS.includes(name) ? undefined : value)),
  ) as unknown;
}

const title = (endpoint: AnyEndpoint) => `${endpoint.method} ${endpoint.path}`;
const cases = (keep: (endpoint: AnyEndpoint) => boolean) =>
  ENDPOINTS.filter(keep).map((endpoint) => [title(endpoint), endpoint] as const);
const envelopeCases = (keep: (endpoint: EnvelopeEndpoint) => boolean) =>
  ENDPOINTS.filter((endpoint) => endpoint.kind === "envelope")
    .filter(keep)
    .map((endpoint) => [title(endpoint), endpoint] as const);

const each = <Endpoint extends AnyEndpoint>(
  of: readonly (readonly [title: string, endpoint: Endpoint])[],
  title: string,
  test: (endpoint: Endpoint) => Promise<void>,
) => it.each(of)(title, (_, endpoint) => test(endpoint));

const EVERY = cases(() => true);
const CLOSED = cases((endpoint) => endpoint.right !== "public");
const OF_BROWSERS = cases(({ right }) => right !== "public" && right !== "identity");
const OF_ORGANIZATIONS = cases(({ right }) => right === "organization" || right === "owner");
/** An identity's token as a subprotocol (test/access/identity-joins.test.ts). */
const asksForToken = ({ operation }: AnyEndpoint): boolean => operation === "openSocketByCustomId";
const PUBLIC = cases((endpoint) => endpoint.right === "public");
const WITH_PLACEHOLDERS = cases((endpoint) => /[:*]/.test(endpoint.path));
const ENVELOPES = cases((endpoint) => endpoint.kind === "envelope");
const PATCHES = envelopeCases((endpoint) => endpoint.method === "PATCH");
const OF_MEMBERS = cases(({ right }) => isOfRooms(right));

describe("who may call", () => {
  each(CLOSED, "%s asks for a credential", async (endpoint) => {
    const { id, apiKey, things } = await undisturbed();
    const stranger = await account();
    const typo = apiKey.slice(0, -1) + (apiKey.endsWith("0") ? "1" : "0");
    const authorizations = [
      null,
      "",
      "Bearer",
      "Bearer ",
      `Basic ${btoa(`${id}:${apiKey}`)}`,
      `Bearer ${apiKey}`,
      `Bearer ${btoa(apiKey)}`,
      `Bearer ${btoa(`${id}:`)}`,
      `Bearer ${btoa(`:${apiKey}`)}`,
      bearer(id, typo),
      bearer(id, stranger.apiKey),
      bearer(stranger.id, apiKey),
      `Bearer ${btoa(`${id}:${apiKey}`)} x`,
      "Bearer a.b.c",
      "Bearer eyJhbGciOiJub25lIn0.e30.",
    ];
    for (const authorization of authorizations) {
      const answer = await call(new Api(id, authorization), endpoint, things);
      expect(refusalOf(answer), `with ${authorization}`).toEqual([401, "Auth", "UNAUTHORIZED"]);
    }
  });

  each(CLOSED, "%s refuses another account's path", async (endpoint) => {
    const [mine, theirs] = [await undisturbed(), await undisturbedNeighbour()];
    for (const credential of [bearer(mine.id, mine.apiKey), `Bearer ${mine.token}`]) {
      for (const accountId of [theirs.id, crypto.randomUUID()]) {
        const answer = await call(new Api(accountId, credential), endpoint, theirs.things);
        expect([answer.status, answer.error?.code]).toEqual([403, "FORBIDDEN"]);
      }
    }
  });

  each(OF_ORGANIZATIONS, "%s is closed to a user's token", async (endpoint) => {
    const { api, things, token } = await undisturbed();
    const answer = await call(api.as(token), endpoint, things);
    expect(refusalOf(answer)).toEqual([403, "Auth", "FORBIDDEN"]);
  });

  each(OF_MEMBERS, "%s opens a user's own room only", async (endpoint) => {
    const { api, things, token } = await furnished(endpoint);
    const other = await api.createRoom();
    expectOpen(endpoint, await call(api.as(token), endpoint, things));
    const fileKey = things.fileKey?.replace(things.roomId ?? "", other.id) ?? "";
    const answer = await call(api.as(token), endpoint, { ...things, roomId: other.id, fileKey });
    expect([answer.status, answer.error?.code]).toEqual([403, "FORBIDDEN"]);
  });

  each(OF_MEMBERS, "%s refuses a deleted user's token", async (endpoint) => {
    const { api, things, token } = await furnished(endpoint);
    await api.delete(`/users/${things.userId}?roomId=${things.roomId}`);
    const answer = await call(api.as(token), endpoint, things);
    expect(refusalOf(answer)).toEqual([401, "Auth", "UNAUTHORIZED"]);
  });
});

/** The kinds of credentials, and whether the right to an operation is one of theirs. */
const KINDS: Readonly<Record<string, (right: EndpointRight) => boolean>> = {
  "an API key": (right) => right !== "identity",
  "an API key for comments alone": (right) => ["read", "own:write", "comments:write"].includes(right),
  "an API key for another room": () => false,
  "an owner's session": (right) => right !== "identity",
  "a member's session": (right) => right !== "identity" && right !== "owner",
  "an editor's token": (right) => isOfRooms(right),
  "a viewer's token": (right) => ["read", "own:write", "presence:write"].includes(right),
  "an identity's token": (right) => isOfRooms(right) || right === "identity",
  "an identity's token that only reads": (right) => ["read", "identity"].includes(right),
  "an identity's token for comments alone": (right) =>
    ["read", "own:write", "comments:write", "identity"].includes(right),
  "an agent's token": (right) => isOfRooms(right) || right === "identity",
  "a guest's token": (right) =>
    ["read", "own:write", "presence:write", "comments:write", "identity"].includes(right),
  "a token without access to the room": (right) => right === "identity",
};
type Cast = ReadonlyMap<string, Api>;

/** Waits until nothing is on its way, and turns off further consequences of users' requests. */
async function settle(api: Api, { webhookId, workflowId }: Things): Promise<void> {
  await vi.waitFor(async () => {
    const sent = await api.get<{ deliveries: { status: string }[] }>(`/webhooks/${webhookId}/deliveries`);
    const ran = await api.get<{ executions: { status: string }[] }>(`/workflows/${workflowId}/executions`);
    for (const { status } of [...sent.data.deliveries, ...ran.data.executions])
      expect(["pending", "running"]).not.toContain(status);
  }, 60_000);
  for (const path of [`/webhooks/${webhookId}`, `/workflows/${workflowId}`])
    await api.patch(path, { events: ["room.deleted"] });
}

/** One of each kind. Those of identities have joined the room, but for the last one. */
async function castOf({
  id,
  api,
  things,
  token,
  browser,
}: Awaited<ReturnType<typeof furnished>>): Promise<Cast> {
  const { roomId = "" } = things;
  await settle(api, things);
  await api.put(`/rooms/${roomId}/access`, { defaultAccesses: "editor" });
  const viewer = await api.createUser(roomId, { role: "viewer" });
  const identity = async (kind = "person") =>
    (await api.post<{ identity: { id: string } }>("/identities", { name: "Ada", kind })).data.identity.id;
  const tokenOf = async (identityId: string, terms: object = {}) =>
    (await api.post<{ token: string }>(`/identities/${identityId}/tokens`, { ...LONG, ...terms })).data.token;
  const [ada, agent, outsider] = [await identity(), await identity("agent"), await identity()];
  const { guest } = await makeGuest(api, roomId, { permissions: "commenter" });
  const joining = [await tokenOf(ada), await tokenOf(agent), guest.token];
  for (const each of joining) (await joinRoom(id, roomId, each)).close();
  const { browser: member } = await addMember(id, "member");
  const tokens = {
    "an editor's token": token,
    "a viewer's token": viewer.token,
    "an identity's token": joining[0],
    "an identity's token that only reads": await tokenOf(ada, { permissions: ["*:read"] }),
    "an identity's token for comments alone": await tokenOf(ada, { permissions: ["comments:write"] }),
    "an agent's token": joining[1],
    "a guest's token": guest.token,
    "a token without access to the room": await tokenOf(outsider, { rooms: ["elsewhere"] }),
  };
  return new Map([
    ["an API key", api],
    [
      "an API key for comments alone",
      (await narrowedKey({ id, api }, { permissions: ["comments:write"] })).api,
    ],
    ["an API key for another room", (await narrowedKey({ id, api }, { rooms: ["elsewhere"] })).api],
    ["an owner's session", browser.api(id)],
    ["a member's session", member.api(id)],
    ...Object.entries(tokens).map(([kind, each]) => [kind, api.as(each ?? "")] as const),
  ]);
}

/** An answer of MCP. */
async function mcp<Result>(api: Api, method: string, params: object = {}): Promise<Result> {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const request = new Request(`${ORIGIN}/mcp`, api.request("POST", "", { headers, body }));
  return (await exports.default.fetch(request)).json<Result>();
}

/** The operations that MCP offers, with their tools. */
async function toolsOf(api: Api): Promise<Map<string, string>> {
  type Tool = {
    readonly name: string;
    readonly inputSchema: { properties: { operation: { enum: string[] } } };
  };
  const { result } = await mcp<{ result: { tools: Tool[] } }>(api, "tools/list");
  return new Map(
    result.tools.flatMap(({ name, inputSchema }) =>
      inputSchema.properties.operation.enum.map((operation) => [operation, name] as const),
    ),
  );
}

/** The code with which MCP refuses a call: UNKNOWN for a tool or an operation that the caller is not shown. */
async function callTool(api: Api, name: string, input: object): Promise<string> {
  type Called = {
    readonly error?: object;
    readonly result?: { structuredContent?: { error?: { code: string; message: string } } };
  };
  const { error, result } = await mcp<Called>(api, "tools/call", { name, arguments: input });
  const refusal = result?.structuredContent?.error;
  if (error !== undefined || refusal?.message.startsWith("operation: ")) return "UNKNOWN";
  return refusal?.code ?? "done";
}

/** The arguments of an operation, for one who passes them all by name. */
function argumentsOf(endpoint: AnyEndpoint, things: Things): Record<string, unknown> {
  const inPath = [...endpoint.path.matchAll(/[:*](\w+)/g)].map(
    ([, name = ""]) => [name, things[name]] as const,
  );
  const isEnvelope = endpoint.kind === "envelope";
  const inQuery = isEnvelope && "roomId" in (endpoint.query?.shape ?? {}) ? { roomId: things.roomId } : {};
  return { ...Object.fromEntries(inPath), ...inQuery, ...(isEnvelope && exampleBody(endpoint, things)) };
}

describe("the table of rights", () => {
  /** Requests of one user in a row that stay within its rate limit. */
  const AT_ONCE = 150;
  /** Only authors may change these things. */
  const OF_AUTHORS = ["updateComment", "deleteComment", "deleteFile"];
  const all = CLOSED.map(([, endpoint]) => endpoint);
  const kinds = Object.entries(KINDS);

  it.each(kinds)("refuses %s what is not its right, and is changed by none of it", async (kind, has) => {
    const refused = all.filter(({ right }) => !has(right));
    const deviations: string[] = [];
    for (let from = 0; from < refused.length; from += AT_ONCE) {
      const owner = await furnished();
      const api = (await castOf(owner)).get(kind) ?? owner.api;
      const before = await snapshot(owner, owner.things);
      for (const endpoint of refused.slice(from, from + AT_ONCE)) {
        const { status, error } = await call(api, endpoint, owner.things);
        if (status !== 403 || error?.code !== "FORBIDDEN")
          deviations.push(`${title(endpoint)}: ${status} ${error?.message}`);
      }
      expect(await snapshot(owner, owner.things)).toEqual(before);
    }
    expect(deviations).toEqual([]);
  });

  it.each(kinds.filter(([kind]) => !kind.includes("session")))(
    "offers %s over MCP what is its right, and is changed by nothing else",
    async (kind, has) => {
      const owner = await furnished();
      const cast = await castOf(owner);
      const api = cast.get(kind) ?? owner.api;
      const offered = await toolsOf(api);
      const known = new Map([
        ...(await toolsOf(cast.get("an agent's token") ?? api)),
        ...(await toolsOf(owner.api)),
      ]);
      const rights = new Map(all.map((endpoint) => [endpoint.operation, endpoint]));
      const before = await snapshot(owner, owner.things);
      const deviations: string[] = [];
      for (const [operation, tool] of known) {
        const endpoint = rights.get(operation);
        if (endpoint === undefined) continue;
        if (has(endpoint.right)) {
          if (!offered.has(operation)) deviations.push(`${operation} is not offered`);
          continue;
        }
        const input = { operation, arguments: argumentsOf(endpoint, owner.things) };
        const refusal = await callTool(api, tool, input);
        if (refusal !== "FORBIDDEN" && !(refusal === "UNKNOWN" && !offered.has(operation)))
          deviations.push(`${operation}: ${refusal}`);
      }
      expect(deviations).toEqual([]);
      expect(await snapshot(owner, owner.things)).toEqual(before);
    },
  );

  it.each(kinds)("gives %s what is its right in its room", async (kind, has) => {
    const owner = await furnished();
    const api = (await castOf(owner)).get(kind) ?? owner.api;
    const isOfOrganization = /key|session/.test(kind);
    const things = isOfOrganization ? owner.things : { ...owner.things, userId: "me" };
    const deviations: string[] = [];
    for (const endpoint of all) {
      if (!isOfRooms(endpoint.right) || !has(endpoint.right)) continue;
      if (OF_AUTHORS.includes(endpoint.operation)) continue;
      const path = pathOf(endpoint, things);
      const inRoom = path.includes(things.roomId ?? "") ? path : withQuery(path, `roomId=${things.roomId}`);
      const { status, error } = await api.send(endpoint.method, inRoom, initFor(endpoint, things));
      if (status === 401 || status === 403) deviations.push(`${title(endpoint)}: ${error?.message}`);
    }
    expect(deviations).toEqual([]);
  });
});

describe("a member's session", () => {
  each(OF_BROWSERS, "%s is open to it", async (endpoint) => {
    const owner = await organizationFor(endpoint);
    const answer = await call(owner.browser.api(owner.id), endpoint, thingsFor(endpoint, owner));
    expectOpen(endpoint, answer);
  });

  each(CLOSED, "%s refuses that of another organization's member", async (endpoint) => {
    const [mine, theirs] = [await undisturbed(), await undisturbedNeighbour()];
    for (const accountId of [theirs.id, crypto.randomUUID()]) {
      const answer = await call(mine.browser.api(accountId), endpoint, theirs.things);
      expect(refusalOf(answer)).toEqual([403, "Auth", "FORBIDDEN"]);
    }
  });

  each(CLOSED, "%s refuses one that has ended, that we did not sign, or that is none", async (endpoint) => {
    const { id, things } = await undisturbed();
    const { browser } = await addMember(id, "owner", { expiresAt: Date.now() - 1 });
    const [name = "", value = ""] = browser.cookie.split("=");
    const cookies = [
      browser.cookie,
      `${name}=`,
      `${name}=x.y`,
      `${name}=%E0%A4%A.y`,
      `${name}=${value}x`,
      name,
    ];
    for (const cookie of cookies) {
      browser.cookie = cookie;
      const answer = await call(browser.api(id), endpoint, things);
      expect([answer.status, answer.error?.code], cookie).toEqual([401, "UNAUTHORIZED"]);
    }
  });

  each(CLOSED, "%s ignores the cookie when a header names another actor", async (endpoint) => {
    const { id, browser, things } = await undisturbed();
    for (const authorization of ["Basic x", "Bearer", "Bearer nothing"]) {
      const answer = await call(browser.api(id, { Authorization: authorization }), endpoint, things);
      expect([answer.status, answer.error?.code], authorization).toEqual([401, "UNAUTHORIZED"]);
    }
  });
});

describe("a member's session in a page that is not ours", () => {
  leavesUndisturbed(undisturbed);

  each(
    OF_BROWSERS.filter(([, { method }]) => method !== "GET"),
    "%s is refused",
    async (endpoint) => {
      const owner = await undisturbed();
      const foreign: Record<string, string>[] = [
        { Origin: "https://elsewhere.test" },
        { Origin: "null" },
        { Origin: `${ORIGIN}.elsewhere.test` },
        { Origin: ORIGIN.replace("https", "http") },
        { Origin: `${ORIGIN}:8443` },
        { Origin: "" },
        { "Sec-Fetch-Site": "cross-site" },
        { "Sec-Fetch-Site": "same-site" },
        { "Sec-Fetch-Site": "none" },
      ];
      for (const headers of foreign) {
        const answer = await call(owner.browser.api(owner.id, headers), endpoint, owner.things);
        expect([answer.status, answer.error?.code], JSON.stringify(headers)).toEqual([403, "FORBIDDEN"]);
      }
    },
  );
});

describe("what belongs to another organization", () => {
  // A new API key names nothing: it is NOT_FOUND once its own organization was deleted. Nor does who marks all of its own.
  const NAME_NOTHING = ["createApiKey", "markOwnInboxNotificationsAsRead"];
  const findsThings = (endpoint: AnyEndpoint) =>
    endpoint.errors.includes("NOT_FOUND") &&
    !NAME_NOTHING.includes(endpoint.operation) &&
    !asksForToken(endpoint);
  leavesUndisturbed(undisturbedNeighbour);

  each(cases(findsThings), "%s answers as if it were not there, and leaves it alone", async (endpoint) => {
    const [mine, theirs] = [await undisturbed(), await undisturbedNeighbour()];
    const upgrade = endpoint.kind === "raw" ? { headers: { Upgrade: "websocket" } } : {};
    const caller = callerOf(mine, endpoint);
    const ask = (things: Things) =>
      caller.send(endpoint.method, pathOf(endpoint, things), {
        ...initFor(endpoint, things),
        ...upgrade,
      });
    const [foreign, unknown] = [await ask(theirs.things), await ask(UNKNOWN)];
    expect([unknown.status, unknown.error?.code]).toEqual([404, "NOT_FOUND"]);
    expect([foreign.status, foreign.error]).toEqual([404, unknown.error]);
  });
});

describe("what was in a deleted room, of which not all rows are removed yet", () => {
  /**
   * All but endpoints of things without a room: identities, the deliveries of all rooms, and the bytes of
   * files, which have no database.
   */
  const namesRoom = (endpoint: AnyEndpoint): boolean => {
    if (endpoint.right === "public" || /^\/(webhooks|identities|groups|me)/.test(endpoint.path)) return false;
    const named = { roomId: "@", customId: "@", fileKey: "@" };
    if (endpoint.kind === "envelope" && endpoint.form !== undefined) return true;
    const body = endpoint.kind === "envelope" ? exampleBody(endpoint, named) : undefined;
    return `${pathOf(endpoint, named)} ${JSON.stringify(body)}`.includes("@");
  };
  const withDeletedRoom = sharing(async () => {
    const owner = await furnished();
    const tenant = openTenant(env, owner.id);
    await tenant.db.run([markDeleted(tenant, owner.things.roomId ?? "", Date.now())]);
    return owner;
  });

  const found = cases((endpoint) => endpoint.errors.includes("NOT_FOUND") && namesRoom(endpoint));
  each(found, "%s answers as if it were not there", async (endpoint) => {
    const owner = await withDeletedRoom();
    const upgrade = endpoint.kind === "raw" ? { headers: { Upgrade: "websocket" } } : {};
    const ask = (things: Things) =>
      owner.api.send(endpoint.method, pathOf(endpoint, things), {
        ...initFor(endpoint, things),
        ...upgrade,
      });
    const things = thingsFor(endpoint, owner);
    const { roomId = "", customId = "", fileKey = "" } = UNKNOWN;
    const [deleted, unknown] = [await ask(things), await ask({ ...things, roomId, customId, fileKey })];
    expect([deleted.status, deleted.error]).toEqual([404, unknown.error]);
  });
});

describe("the address", () => {
  each(WITH_PLACEHOLDERS, "%s refuses a path that is no UTF-8", async (endpoint) => {
    const owner = await undisturbed();
    const { things } = owner;
    const api = callerOf(owner, endpoint);
    for (const bad of ["%E0%A4%A", "%FF", "a%00b", "%ED%A0%80"]) {
      const broken: Things = new Proxy(
        {},
        { get: (_target, name) => (name === "roomId" ? things.roomId : bad) },
      );
      const path = endpoint.path.includes(":roomId")
        ? endpoint.path.replace(":roomId", bad)
        : pathOf(endpoint, broken);
      const answer = await api.send(endpoint.method, path, initFor(endpoint, things));
      expect([answer.status, answer.error?.code], bad).toEqual([400, "BAD_REQUEST"]);
    }
  });

  const queried = envelopeCases((endpoint) => endpoint.query !== undefined);

  each(queried, "%s refuses a parameter given twice or badly encoded", async (endpoint) => {
    const owner = await undisturbed();
    const { things } = owner;
    const api = callerOf(owner, endpoint);
    for (const name of Object.keys(endpoint.query?.shape ?? {})) {
      for (const query of [
        `${name}=1&${name}=1`,
        `${name}=%FF`,
        `${name}=%`,
        `${name}=a%00b`,
        `${name}=%ED%A0%80`,
      ]) {
        if (repeatable(endpoint, name) && query.includes("&")) continue;
        const path = withQuery(pathOf(endpoint, things).split("?")[0] ?? "", query);
        const answer = await api.send(endpoint.method, path, initFor(endpoint, things));
        expect([answer.status, answer.error?.code], path).toEqual([400, "BAD_REQUEST"]);
      }
    }
  });

  each(queried, "%s refuses wrong values and names the parameter", async (endpoint) => {
    const owner = await undisturbed();
    const { things } = owner;
    const api = callerOf(owner, endpoint);
    const wrong: Readonly<Record<string, readonly string[]>> = {
      limit: ["", "0", "-1", "1.5", "1e2", "0x10", "ten", "%201", "+1", "NaN", "%D9%A1", "null", "[]"],
      offset: ["", "-1", "0.5", "1e9", "Infinity", "9007199254740992", "99999999999999999999999"],
      from: [
        "",
        "yesterday",
        "2026-02-30",
        "2026-01-01T00:00:00",
        "2026-01-01T00:00:00+01:00",
        "0",
        "2026-13-01",
      ],
      to: ["", "tomorrow", "2026-02-30", "2026-01-01T00:00", "1767225600000"],
      search: ["x".repeat(257)],
      roomId: [""],
      threadId: ["", "x".repeat(256)],
      after: ["", "x".repeat(256)],
      resolved: ["", "1", "TRUE", "yes"],
      status: ["", "done", "SUCCESS", "pending,failed"],
      mimeType: ["", "image", "/", "/png", "image/png/x", "*/*", "image/png,image/gif", "a%20b/c"],
    };
    for (const name of Object.keys(endpoint.query?.shape ?? {})) {
      for (const value of wrong[name] ?? []) {
        if (isVersion(endpoint, name, Number(value || Number.NaN))) continue;
        const path = withQuery(
          pathOf(endpoint, things).replace(/\?roomId=.*/, name === "roomId" ? "" : "$&"),
          `${name}=${value}`,
        );
        const answer = await api.send(endpoint.method, path, initFor(endpoint, things));
        expect([answer.status, answer.error?.code], path).toEqual([400, "BAD_REQUEST"]);
        expect(answer.error?.message).toContain(name);
      }
    }
  });

  const requiresRoom = ({ query }: EnvelopeEndpoint) => {
    const { roomId } = query?.shape ?? {};
    return roomId?.safeParse(undefined).success === false;
  };
  each(envelopeCases(requiresRoom), "%s asks for its roomId", async (endpoint) => {
    const owner = await undisturbed();
    const { things } = owner;
    const api = callerOf(owner, endpoint);
    const path = pathOf(endpoint, things).split("?")[0] ?? "";
    const answer = await api.send(endpoint.method, path, initFor(endpoint, things));
    expect([answer.status, answer.error?.code]).toEqual([400, "BAD_REQUEST"]);
    expect(answer.error?.message).toBe("roomId is required");
  });

  each(queried, "%s passes over parameters that it does not know", async (endpoint) => {
    const owner = await organizationFor(endpoint);
    const path = withQuery(
      pathOf(endpoint, thingsFor(endpoint, owner)),
      "constructor=1&__proto__=2&x=%FF&x=1&&=&toString",
    );
    const init = initFor(endpoint, owner.things);
    const answer = await callerOf(owner, endpoint).send(endpoint.method, path, init);
    expectSuccess(endpoint, answer);
  });
});

describe("the body", () => {
  const withBody = envelopeCases((endpoint) => endpoint.body !== undefined);
  /** Signed requests may send any JSON. */
  const withFields = envelopeCases(({ body, right }) => body !== undefined && right !== "signed");

  async function refused(
    endpoint: EnvelopeEndpoint,
    body: BodyInit,
    contentType: string | null,
    code: string,
  ) {
    const owner = await undisturbed();
    const { things } = owner;
    const api = callerOf(owner, endpoint);
    const headers: Record<string, string> = contentType === null ? {} : { "Content-Type": contentType };
    const answer = await api.send(endpoint.method, pathOf(endpoint, things), { body, headers });
    expect([answer.status, answer.error?.code]).toEqual([400, code]);
    return answer.error?.message ?? "";
  }

  each(withBody, "%s takes JSON and nothing else", async (endpoint) => {
    const good = JSON.stringify(exampleBody(endpoint, UNKNOWN));
    const form = new URLSearchParams({ name: "x" }).toString();
    await refused(endpoint, good, "text/plain", "BAD_REQUEST");
    await refused(endpoint, good, "application/jsonp", "BAD_REQUEST");
    await refused(endpoint, form, "application/x-www-form-urlencoded", "BAD_REQUEST");
    await refused(endpoint, new TextEncoder().encode(good), null, "BAD_REQUEST");
    for (const text of ["", "{", "{}}", "undefined", "{'a':1}", '{"a":NaN}', "\u0000", "[1,]"]) {
      await refused(endpoint, text, "application/json", "BAD_REQUEST");
    }
  });

  each(withBody, "%s refuses what is not UTF-8", async (endpoint) => {
    for (const bytes of [
      [0x7b, 0x22, 0xff, 0x22, 0x7d],
      [0xff, 0xfe, 0x7b, 0x00],
      [0x22, 0xed, 0xa0, 0x80, 0x22],
    ]) {
      expect(await refused(endpoint, new Uint8Array(bytes), "application/json", "BAD_REQUEST")).toContain(
        "UTF-8",
      );
    }
  });

  each(withBody, "%s refuses more than a mebibyte, announced or not", async (endpoint) => {
    const large = new TextEncoder().encode(JSON.stringify({ name: "x".repeat(MAX_BODY_BYTES) }));
    expect(await refused(endpoint, large, "application/json", "BAD_REQUEST")).toContain("larger");
    const unannounced = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(new Uint8Array(64 * 1024).fill(0x20));
      },
    });
    const owner = await undisturbed();
    const { things } = owner;
    const api = callerOf(owner, endpoint);
    const request = api.request(endpoint.method, pathOf(endpoint, things), {
      body: unannounced,
      headers: { "Content-Type": "application/json" },
    });
    // Called within this isolate: between two of them, workerd reports the end of reading as an error.
    const response = await app.fetch(request, env, createExecutionContext());
    const { error } = await response.json<{ error: { code: string; message: string } }>();
    expect([response.status, error.code]).toEqual([400, "BAD_REQUEST"]);
    expect(error.message).toContain("larger");
  });

  each(withBody, "%s refuses deep nesting, a million levels included", async (endpoint) => {
    for (const depth of [MAX_DEPTH + 1, 500_000]) {
      const arrays = "[".repeat(depth) + "]".repeat(depth);
      expect(await refused(endpoint, arrays, "application/json", "BAD_REQUEST")).toContain("nests");
    }
  });

  each(withFields, "%s refuses a value that is no object", async (endpoint) => {
    const deepest = "[".repeat(MAX_DEPTH) + "]".repeat(MAX_DEPTH);
    for (const value of ["null", "[]", "7", '"text"', "true", deepest]) {
      await refused(endpoint, value, "application/json", "VALIDATION_ERROR");
    }
  });

  each(withFields, "%s names the field that is wrong", async (endpoint) => {
    const owner = await undisturbed();
    const { things } = owner;
    const api = callerOf(owner, endpoint);
    const good = exampleBody(endpoint, things) ?? {};
    const shape = (endpoint.body as { shape?: Record<string, unknown> }).shape ?? {};
    expect(Object.keys(shape)).not.toEqual([]);
    const wrong = [7, true, [], {}, "", "a\u0000b", "\ud800", "x".repeat(100_000)];
    for (const field of Object.keys(shape)) {
      for (const value of wrong.filter((candidate) => !isRight(endpoint, field, candidate))) {
        const body = JSON.stringify({ ...good, [field]: value });
        const answer = await api.send(endpoint.method, pathOf(endpoint, things), {
          body,
          headers: { "Content-Type": "application/json" },
        });
        expect([answer.status, answer.error?.code], body.slice(0, 100)).toEqual([400, "VALIDATION_ERROR"]);
        expect(answer.error?.message).toContain(field);
      }
    }
  });

  each(withFields, "%s refuses __proto__, constructor and unknown fields", async (endpoint) => {
    const owner = await undisturbed();
    const { things } = owner;
    const api = callerOf(owner, endpoint);
    const good = JSON.stringify(exampleBody(endpoint, things)).slice(1);
    for (const [field, value] of [
      ["__proto__", '{"admin":true,"name":7}'],
      ["constructor", '{"prototype":{"admin":true}}'],
      ["id", '"mine"'],
    ]) {
      const answer = await api.send(endpoint.method, pathOf(endpoint, things), {
        body: `{"${field}":${value},${good}`,
        headers: { "Content-Type": "application/json; charset=UTF-8" },
      });
      expect([answer.status, answer.error?.code]).toEqual([400, "VALIDATION_ERROR"]);
      expect(answer.error?.message).toContain(`${field}: is not a known field`);
    }
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  each(PATCHES, "%s asks for at least one field", async (endpoint) => {
    for (const body of ["{}", '{"unknown":1}', '{"__proto__":{"name":"x"}}']) {
      await refused(endpoint, body, "application/json", "VALIDATION_ERROR");
    }
  });
});

describe("every answer", () => {
  each(ENVELOPES, "%s makes its own request id", async (endpoint) => {
    const owner = await organizationFor(endpoint);
    const claimed = "11111111-1111-4111-8111-111111111111";
    const init = initFor(endpoint, owner.things);
    const headers = { ...(init.headers as Record<string, string>), "X-Request-Id": claimed };
    const path = pathOf(endpoint, thingsFor(endpoint, owner));
    const answer = await callerOf(owner, endpoint).send(endpoint.method, path, { ...init, headers });
    expectSuccess(endpoint, answer);
    expect(answer.requestId).not.toBe(claimed);
    expect(answer.requestId).toMatch(/^[0-9a-f-]{36}$/);
  });

  each(EVERY, "%s lets any origin ask before it sends", async (endpoint) => {
    const response = await new Api("any", null).raw("OPTIONS", pathOf(endpoint, UNKNOWN), {
      headers: { Origin: "https://elsewhere.test", "Access-Control-Request-Method": endpoint.method },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get("Access-Control-Allow-Origin")).toBe("*");
    expect(response.headers.get("Access-Control-Allow-Methods")).toContain(endpoint.method);
    for (const header of ["Authorization", "Content-Type", "Idempotency-Key"]) {
      expect(response.headers.get("Access-Control-Allow-Headers")).toContain(header);
    }
    expect(response.headers.get("Access-Control-Allow-Credentials")).toBeNull();
  });

  each(EVERY, "%s exists under no other method or spelling", async (endpoint) => {
    const owner = await undisturbed();
    const { things } = owner;
    const api = callerOf(owner, endpoint);
    const path = pathOf(endpoint, things).split("?")[0] ?? "";
    const others = ["PUT", "POST", "PATCH"].filter(
      (method) => !ENDPOINTS.some((other) => other.method === method && other.path === endpoint.path),
    );
    for (const [method, target] of [
      ...others.slice(0, 1).map((method) => [method, path] as const),
      ["PURGE", path],
      ...(endpoint.path.includes("*") ? [] : [[endpoint.method, `${path}/`] as const]),
    ] as const) {
      const answer = await api.send(method, target);
      expect(refusalOf(answer), target).toEqual([404, "Server", "NOT_FOUND"]);
    }
  });
});

describe("failed authentications", () => {
  it("have a small allowance of their own for each address", async () => {
    const { id, apiKey } = await account();
    const unauthorized = new Api(id, "Bearer nothing");
    expect((await unauthorized.get("/rooms")).status).toBe(401);
    const key = networkOf(unauthorized.address);
    // The window may end before our request: then the next one is filled.
    const failed = async () => {
      for (let isFull = false; !isFull; ) {
        const tries = Array.from({ length: 100 }, () => env.AUTH_FAILURE_RATE_LIMIT.limit({ key }));
        isFull = (await Promise.all(tries)).some(({ success }) => !success);
      }
      return unauthorized.get("/rooms");
    };
    let last = await failed();
    while (last.status === 401) last = await failed();
    expect([last.status, last.error?.code, last.headers.get("Retry-After")]).toEqual([
      429,
      "RATE_LIMITED",
      "10",
    ]);
    expect((await new Api(id, bearer(id, apiKey)).get("/rooms")).status).toBe(200);
    expect((await new Api(id, null).get("/rooms")).status).toBe(401);
  });
});

describe("odd and oversized input", () => {
  const LONG = "x".repeat(2_000);
  /** Encoded for a path: longer than any name or key may be, in characters or in bytes, or of odd characters. */
  const ODD_NAMES = [
    LONG,
    encodeURIComponent("✨".repeat(200)),
    encodeURIComponent("✨".repeat(700)),
    "a%2Fb",
    "%2E%2E",
    "%0D%0A",
    "__proto__",
    "'%22%3B--",
    "%25",
  ];
  const ODD_HEADERS: readonly (readonly [name: string, value: string])[] = [
    ["Authorization", `Bearer ${"A".repeat(8_000)}`],
    ["Authorization", `Bearer ${"a.".repeat(4_000)}`],
    ["Cookie", "a=b; ".repeat(1_500)],
    ["Idempotency-Key", LONG],
    ["Idempotency-Key", "é"],
    ["Range", `bytes=${"0-1,".repeat(2_000)}`],
    ["Range", "bytes=99999999999999999999-"],
    ["If-None-Match", '"x", '.repeat(1_500)],
    ["If-Range", LONG],
    ["Content-Type", `application/json; charset=${LONG}`],
    ["Content-Type", `multipart/form-data; boundary=${LONG}`],
    ["Origin", LONG],
    ["X-Request-Id", LONG],
    ["Upgrade", LONG],
  ];

  /** An organization of its own for each endpoint that changes something: odd names first, which change nothing. */
  const own = new Map<AnyEndpoint, ReturnType<typeof furnished>>();
  const oddlyUsed = (endpoint: AnyEndpoint): ReturnType<typeof furnished> => {
    const organization = own.get(endpoint) ?? organizationFor(endpoint);
    own.set(endpoint, organization);
    return organization;
  };

  /** Storage paths beyond the length of R2's keys answered 500, and so did a long account in front of a short one. */
  each(WITH_PLACEHOLDERS, "%s refuses odd names without failing", async (endpoint) => {
    const owner = await oddlyUsed(endpoint);
    const things = thingsFor(endpoint, owner);
    for (const [, name = ""] of endpoint.path.matchAll(/[:*](\w+)/g)) {
      for (const odd of ODD_NAMES) {
        const value = name === "fileKey" ? `${things.fileKey}${odd}` : odd;
        const path = pathOf(endpoint, { ...things, [name]: value });
        const caller = callerOf(owner, endpoint);
        const { status } = await caller.raw(endpoint.method, path, initFor(endpoint, things));
        expect([status, status < 500], `${name}: ${odd.slice(0, 20)}`).toEqual([status, true]);
      }
    }
  });

  each(EVERY, "%s refuses odd headers without failing", async (endpoint) => {
    const owner = await oddlyUsed(endpoint);
    const things = thingsFor(endpoint, owner);
    for (const [name, value] of ODD_HEADERS) {
      const init = initFor(endpoint, things);
      const headers = { ...(init.headers as Record<string, string>), [name]: value };
      const path = pathOf(endpoint, things);
      const { status } = await callerOf(owner, endpoint).raw(endpoint.method, path, { ...init, headers });
      expect([status, status < 500], `${name}: ${value.slice(0, 20)}`).toEqual([status, true]);
    }
  });

  each(PUBLIC, "%s finds nothing in an account with an odd name", async (endpoint) => {
    const { things } = await undisturbed();
    for (const odd of ODD_NAMES.filter((name) => !name.includes("%2"))) {
      const response = await new Api(odd, null).raw(
        endpoint.method,
        pathOf(endpoint, things),
        initFor(endpoint, things),
      );
      expect(response.status, odd.slice(0, 20)).toBe(asksForToken(endpoint) ? 401 : 404);
    }
  });
});
