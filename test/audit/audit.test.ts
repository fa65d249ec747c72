/** The audit log: each administrative change leaves one entry, in the batch of the change; nothing else leaves any. */

import { env } from "cloudflare:workers";
import { AUDIT_RESOURCES } from "@atrium/contract/resources/audit-names.ts";
import type { AuditEntry } from "@atrium/contract/rest/audit.ts";
import { beforeAll, describe, expect, it } from "vitest";
import guide from "../../docs/guides/operating.md?raw";
import { loadEndpoints } from "../../src/endpoints.ts";
import { purgeAuditEntries } from "../../src/features/audit/queries.ts";
import { auditEntries } from "../../src/http/audit/table.ts";
import { build, statement } from "../../src/platform/d1/d1.ts";
import { openTenant } from "../../src/platform/d1/databases.ts";
import { WorkBudget } from "../../src/platform/flow/work-budget.ts";
import { runScheduledTasks } from "../../src/scheduled.ts";
import { type Account, type Answer, type Api, account } from "../support/api.ts";
import { addMember, invite, signUp } from "../support/person.ts";

const ENDPOINTS = await loadEndpoints();

interface Log {
  readonly entries: AuditEntry[];
  readonly cursor: string | null;
}

const logOf = async (api: Api, query = ""): Promise<Log> => (await api.get<Log>(`/audit${query}`)).data;

/** The log's entries for an answer. */
const entriesOf = async (api: Api, { requestId }: Pick<Answer, "requestId">) =>
  (await logOf(api)).entries.filter((entry) => entry.request_id === requestId);

/** Changes that are not for the audit log: content of rooms, and requests that only ask for work. */
const CONTENT = [
  "addParticipant",
  "appendToStream",
  "broadcast",
  "checkRoomAccess",
  "createComment",
  "createDocumentVersion",
  "createIdentityToken",
  "createRoom",
  "createStream",
  "createSuggestion",
  "createTextMention",
  "createToken",
  "createUser",
  "deleteComment",
  "deleteDocument",
  "deleteDocumentVersion",
  "deleteEntry",
  "deleteInboxNotification",
  "deleteInboxNotifications",
  "deleteOwnInboxNotification",
  "deleteOwnInboxNotifications",
  "deletePushSubscription",
  "deleteStream",
  "deleteTextMention",
  "deleteThread",
  "editDocument",
  "editSuggestion",
  "markInboxNotificationsAsRead",
  "markOwnInboxNotificationsAsRead",
  "markThreadAsRead",
  "reactToComment",
  "reconcileRoom",
  "redeemLink",
  "redeliverWebhookDeliveries",
  "redeliverWebhookDelivery",
  "removeParticipant",
  "replayWebhookEvents",
  "restoreDocumentVersion",
  "reviewSuggestion",
  "rollBackDocument",
  "runWorkflow",
  "setEntry",
  "subscribeToPush",
  "subscribeToThread",
  "testWebhook",
  "triggerInboxNotification",
  "triggerWorkflow",
  "unsubscribeFromPush",
  "unsubscribeFromThread",
  "updateComment",
  "updateDocument",
  "updateDocumentVersion",
  "updateEntry",
  "updateNotificationSettings",
  "updateOwnNotificationSettings",
  "updateRoom",
  "updateSubscriptionSettings",
  "updateThread",
  "updateUser",
  "uploadFile",
  "withdrawSuggestion",
  "writeStores",
];

it("the endpoints that change something each say how the audit log records them, or are about what is in rooms", () => {
  const changing = ENDPOINTS.filter(({ method }) => method !== "GET");
  const silent = changing.filter((endpoint) => endpoint.kind === "raw" || endpoint.audit === undefined);
  expect(silent.map(({ operation }) => operation).sort()).toEqual(CONTENT);
});

it("the operating guide lists the operations of each resource", () => {
  const rows = [...guide.matchAll(/^\| `([a-z_]+)` \| (`.*`) \|$/gm)];
  const listed = Object.fromEntries(
    rows.map(([, resource = "", operations = ""]) => [resource, operations.slice(1, -1).split("`, `")]),
  );
  expect(Object.keys(listed)).toEqual(AUDIT_RESOURCES);
  for (const endpoint of ENDPOINTS)
    if (endpoint.kind !== "raw" && endpoint.audit !== undefined)
      expect(listed[endpoint.audit.resource]).toContain(endpoint.operation);
});

describe("a change by an API key", () => {
  let owner: Account;
  let roomId: string;

  beforeAll(async () => {
    owner = await account();
    roomId = (await owner.api.createRoom()).id;
  });

  /** A thing that the organization owns, and its ID. */
  const webhook = { url: "https://hooks.example.com/s3cret-path", events: ["user.created"], enabled: false };
  const workflow = { name: "W", code: "export default () => 1;", events: ["session.started"] };
  const made = async (path: string, body: object, kind: string) => {
    const { data } = await owner.api.post<Record<string, { id: string }>>(path, body);
    return data[kind]?.id ?? "";
  };
  const webhookId = () => made("/webhooks", webhook, "webhook");
  const workflowId = () => made("/workflows", workflow, "workflow");
  const userId = async () => (await owner.api.createUser(roomId)).id;
  const identityId = () => made("/identities", { name: "Ada" }, "identity");
  const memberId = async () => (await addMember(owner.id, "member")).id;
  const fileKey = async () => {
    const fields = { roomId, userId: await userId() };
    return (await owner.api.upload(fields, new File(["Hello"], "a.txt"))).data.file.key;
  };
  const keyId = () => made("/api-keys", {}, "api_key");
  const invitationId = () => made("/invitations", {}, "invitation");
  const newRoomId = async () => (await owner.api.createRoom()).id;
  const none = async () => null;

  it.each<[string, string, () => Promise<string | null>, string, unknown, string, object]>([
    ["updateOrganization", "PATCH", none, "/organization", { name: "New" }, "organization", { name: "New" }],
    ["updateMember", "PATCH", memberId, "/members/:id", { role: "owner" }, "member", { role: "owner" }],
    ["createPasswordLink", "POST", memberId, "/members/:id/password-link", {}, "member", {}],
    ["removeMember", "DELETE", memberId, "/members/:id", undefined, "member", {}],
    ["revokeApiKey", "DELETE", keyId, "/api-keys/:id", undefined, "api_key", {}],
    ["deleteInvitation", "DELETE", invitationId, "/invitations/:id", undefined, "invitation", {}],
    [
      "updateWebhook",
      "PATCH",
      webhookId,
      "/webhooks/:id",
      { enabled: false, url: webhook.url },
      "webhook",
      { enabled: false, url: null },
    ],
    ["rotateWebhookSecret", "POST", webhookId, "/webhooks/:id/rotate-secret", {}, "webhook", {}],
    ["deleteWebhook", "DELETE", webhookId, "/webhooks/:id", undefined, "webhook", {}],
    ["updateWorkflow", "PATCH", workflowId, "/workflows/:id", { name: "X" }, "workflow", { name: "X" }],
    [
      "restoreWorkflowVersion",
      "POST",
      workflowId,
      "/workflows/:id/versions/1/restore",
      {},
      "workflow",
      { version: "1" },
    ],
    ["deleteWorkflow", "DELETE", workflowId, "/workflows/:id", undefined, "workflow", {}],
    ["endTokens", "DELETE", userId, "/users/:id/tokens?roomId=:room", undefined, "user", {}],
    ["endAllTokens", "DELETE", none, "/tokens", undefined, "tokens", {}],
    ["deleteUser", "DELETE", userId, "/users/:id?roomId=:room", undefined, "user", {}],
    ["erasePersonalData", "DELETE", userId, "/users/:id/personal-data?roomId=:room", undefined, "user", {}],
    ["eraseIdentityData", "DELETE", identityId, "/identities/:id/personal-data", undefined, "identity", {}],
    ["deleteFile", "DELETE", fileKey, "/upload", { key: ":id" }, "file", {}],
    ["deleteRoom", "DELETE", newRoomId, "/rooms/:id", undefined, "room", {}],
  ])("is recorded once: %s", async (operation, method, make, path, body, type, changes) => {
    const id = await make();
    const fill = (text: string) => text.replace(":id", id ?? "").replace(":room", roomId);
    const init = body === undefined ? {} : { body: fill(JSON.stringify(body)) };
    const headers = body === undefined ? {} : { "Content-Type": "application/json" };
    const answer = await owner.api.send(method, fill(path), { ...init, headers });
    expect(answer).toMatchObject({ success: true });
    expect(await entriesOf(owner.api, answer)).toEqual([
      {
        id: expect.any(String),
        at: expect.any(String),
        actor: { type: "key", id: owner.keyId, name: "Tests" },
        operation,
        resource: { type, id },
        changes,
        address: expect.stringMatching(/^198\.51\.\d+\.0\/24$/),
        request_id: answer.requestId,
      },
    ]);
  });

  it.each<[string, string, object, string, object]>([
    ["createApiKey", "/api-keys", { name: "CI" }, "api_key", { name: "CI" }],
    [
      "createInvitation",
      "/invitations",
      { email: "bo@example.com" },
      "invitation",
      { role: "member", email: "bo@example.com" },
    ],
    ["createWebhook", "/webhooks", webhook, "webhook", { url: null, events: null, enabled: false }],
    ["createWorkflow", "/workflows", workflow, "workflow", { name: "W", code: null, events: null }],
  ])(
    "is recorded with the ID of what it creates, and without its secrets: %s",
    async (operation, path, body, type, changes) => {
      const answer = await owner.api.post<Record<string, { id: string }>>(path, body);
      const [entry, ...others] = await entriesOf(owner.api, answer);
      expect(others).toEqual([]);
      expect(entry).toMatchObject({ operation, resource: { type, id: answer.data[type]?.id }, changes });
    },
  );

  it("is not recorded again when its request is retried", async () => {
    const headers = { "Idempotency-Key": crypto.randomUUID() };
    const first = await owner.api.post("/workflows", workflow, { headers });
    const again = await owner.api.post("/workflows", workflow, { headers });
    expect(again.headers.get("Idempotency-Replayed")).toBe("true");
    expect(await entriesOf(owner.api, first)).toHaveLength(1);
    expect(await entriesOf(owner.api, again)).toEqual([]);
  });

  it("is not recorded when it is refused, or finds nothing to change", async () => {
    const unknown = "00000000-0000-4000-8000-000000000000";
    const answers = [
      await owner.api.delete(`/webhooks/${unknown}`),
      await owner.api.patch(`/webhooks/${unknown}`, { enabled: false }),
      await owner.api.delete(`/rooms/${unknown}`),
      await owner.api.delete(`/api-keys/${owner.keyId}`),
      await owner.api.patch("/organization", { name: 1 }),
    ];
    for (const answer of answers) {
      expect(answer.success).toBe(false);
      expect(await entriesOf(owner.api, answer)).toEqual([]);
    }
  });

  it("is not recorded when a user of a room makes it", async () => {
    const user = await owner.api.createUser(roomId);
    const { data } = await owner.api.upload({ roomId, userId: user.id }, new File(["Hello"], "a.txt"));
    const answer = await owner.api.as(user.token).deleteFile(data.file.key);
    expect(answer.success).toBe(true);
    expect(await entriesOf(owner.api, answer)).toEqual([]);
  });
});

describe("what people do", () => {
  it("is recorded under their names, from the creation of the organization on", async () => {
    const owner = await signUp({ name: "Ada", organization: "Engines" });
    const api = owner.api;
    const member = await invite(owner);
    await api.delete(`/members/${member.id}`);
    const { entries } = await logOf(api);
    const person = (id: string, name: string) => ({ type: "person", id, name });
    expect(entries).toMatchObject([
      {
        operation: "removeMember",
        actor: person(owner.id, "Ada"),
        resource: { type: "member", id: member.id },
      },
      { operation: "acceptInvitation", actor: person(member.id, "Bo"), changes: { role: "member" } },
      { operation: "createInvitation", actor: person(owner.id, "Ada"), changes: { role: "member" } },
      { operation: "createOrganization", actor: person(owner.id, "Ada"), changes: { name: "Engines" } },
    ]);
  });

  it("is for owners to read", async () => {
    const owner = await account();
    const { browser } = await addMember(owner.id, "member");
    expect(await browser.api(owner.id).get("/audit")).toMatchObject({ status: 403 });
  });
});

describe("the audit log", () => {
  /** An organization with entries at these times. */
  const withEntries = async (times: readonly number[]): Promise<Account> => {
    const owner = await account();
    const rows = times.map((at, index) => ({
      ...({
        id: `${owner.id.slice(0, -2)}${10 + index}`,
        accountId: owner.id,
        at,
        actorType: "key",
        actorId: `key-${index % 2}`,
      } as const),
      ...({ operation: "deleteRoom", resource: "room", resourceId: `room-${index}`, changes: "{}" } as const),
      changesBefore: 0,
    }));
    const { db } = openTenant(env, owner.id);
    for (const row of rows) await db.run([statement(build.insert(auditEntries).values(row))]);
    return owner;
  };

  it("is read page by page, newest first, also where entries have the same time", async () => {
    const { api } = await withEntries([3, 3, 3, 2, 1]);
    const read: (string | null)[] = [];
    let cursor: string | null = null;
    do {
      const page: Log = await logOf(api, `?limit=2${cursor === null ? "" : `&after=${cursor}`}`);
      read.push(...page.entries.map(({ resource }) => resource.id));
      cursor = page.cursor;
    } while (cursor !== null);
    expect(read).toEqual(["room-2", "room-1", "room-0", "room-3", "room-4"]);
  });

  it("is filtered by actor, operation, resource and time", async () => {
    const { api } = await withEntries([1_000, 2_000, 3_000]);
    const idsOf = async (query: string) =>
      (await logOf(api, query)).entries.map(({ resource }) => resource.id);
    expect(await idsOf("?actorId=key-0")).toEqual(["room-2", "room-0"]);
    expect(await idsOf("?resource=room&resourceId=room-1")).toEqual(["room-1"]);
    expect(await idsOf("?resource=webhook")).toEqual([]);
    expect(await idsOf("?operation=deleteRoom&from=1970-01-01T00:00:02Z")).toEqual(["room-2", "room-1"]);
  });

  it("forgets what is older than it keeps, and all of an organization that is deleted", async () => {
    const now = Date.now();
    const owner = await withEntries([now - 3_000, now]);
    const later = now + 90 * 24 * 60 * 60 * 1000 - 2_000;
    await runScheduledTasks(env, later);
    expect((await logOf(owner.api)).entries).toHaveLength(1);
    expect(await purgeAuditEntries(openTenant(env, owner.id), new WorkBudget(1))).toBe(true);
    expect((await logOf(owner.api)).entries).toEqual([]);
  });
});
