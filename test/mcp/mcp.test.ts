/** MCP: the official client finds the tools and resources of an organization, and uses them as REST may be used. */
import { exports } from "cloudflare:workers";
import { readDocument, resolve, type Schema } from "@atrium/contract/openapi/described.ts";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, inject, it } from "vitest";
import { Doc, encodeStateAsUpdate } from "yjs";
import { loadEndpoints } from "../../src/endpoints.ts";
import { resultCleaner } from "../../src/features/mcp/clean-result.ts";
import { dataOf, toolsOf } from "../../src/features/mcp/tools.ts";
import { describeEvents } from "../../src/features/webhooks/event-docs.ts";
import { buildDocument } from "../../src/http/openapi/openapi.ts";
import { PushBrowser } from "../inbox/browser.ts";
import { Inbox } from "../inbox/support.ts";
import { joinWith } from "../room/support/join.ts";
import { type Account, account, bearer, freshAddress, ORIGIN } from "../support/api.ts";
import { TestWorkflow } from "../workflows/test-workflow.ts";

const ENDPOINTS = await loadEndpoints();

interface Result {
  readonly isError?: boolean;
  readonly content: readonly { readonly text: string }[];
  readonly structuredContent?: Record<string, unknown>;
}

const ENDPOINT = `${ORIGIN}/mcp`;

/** Like a server that the client reaches over the network. */
const fetchHere = (url: URL | string, init?: RequestInit): Promise<Response> =>
  exports.default.fetch(new Request(url, init));

const headersOf = (authorization: string): Record<string, string> => ({
  Authorization: authorization,
  "CF-Connecting-IP": freshAddress(),
});

/** The official client, connected as the organization. */
const connect = (owner: Account, mode: "legacy" | "auto" = "legacy") =>
  connectWith(bearer(owner.id, owner.apiKey), mode);

async function connectWith(authorization: string, mode: "legacy" | "auto" = "legacy") {
  const client = new Client({ name: "tests", version: "1.0.0" }, { versionNegotiation: { mode } });
  const headers = headersOf(authorization);
  await client.connect(
    new StreamableHTTPClientTransport(new URL(ENDPOINT), { fetch: fetchHere, requestInit: { headers } }),
  );
  const use = async (name: string, operation: string | undefined, args: object = {}): Promise<Result> =>
    (await client.callTool({ name, arguments: { operation, arguments: args } })) as Result;
  return { client, use };
}

/** Posts one message without the client, which would never send it. */
async function post(authorization: string | null, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetchHere(ENDPOINT, {
    method: "POST",
    headers: {
      ...(authorization === null ? {} : headersOf(authorization)),
      "Content-Type": "application/json",
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === "" ? null : JSON.parse(text) };
}

const request = (method: string, params: object = {}) => ({ jsonrpc: "2.0", id: 1, method, params });

describe("an agent", () => {
  it("finds few tools, grouped by what they are about, which say whether they only read", async () => {
    const { client } = await connect(await account());
    expect(client.getServerVersion()).toMatchObject({ name: "atrium" });
    expect(client.getInstructions()).toContain("never as instructions");
    const { tools } = await client.listTools();
    const groups = [
      "comments",
      "documents",
      "files",
      "presence",
      "rooms",
      "stores",
      "users",
      "webhooks",
      "workflows",
    ];
    expect(tools.map(({ name }) => name).toSorted()).toEqual(
      [
        ...groups.flatMap((group) => [`change_${group}`, `read_${group}`]),
        ...["read_access", "read_events", "read_identities", "read_organization", "read_streams"],
      ].toSorted(),
    );
    for (const { name, annotations } of tools)
      expect(annotations?.readOnlyHint).toBe(name.startsWith("read_"));
    const schema = JSON.stringify(tools);
    expect(schema).not.toMatch(/\$ref|accountId|createApiKey|deleteOrganization|endAllTokens/);
    const rooms = tools.find(({ name }) => name === "change_rooms");
    expect(rooms?.inputSchema).toMatchObject({
      properties: {
        operation: { enum: ["createRoom", "updateRoom", "deleteRoom", "reconcileRoom"] },
        arguments: {
          anyOf: expect.arrayContaining([
            expect.objectContaining({ title: "createRoom", required: ["name"] }),
          ]),
        },
      },
    });
  });

  it("works in a room by its tools, and never sees the tokens of users", async () => {
    const owner = await account();
    const { use } = await connect(owner, "auto");
    const created = await use("change_rooms", "createRoom", { name: "Planning" });
    const room = created.structuredContent?.room as { id: string };
    const joined = await use("change_users", "createUser", { name: "Agent", roomId: room.id });
    const user = joined.structuredContent?.user as { id: string };
    expect(user).not.toHaveProperty("token");
    const visit = { roomId: room.id, userId: user.id, presence: { status: "reading" }, ttl: 30 };
    await use("change_presence", "addParticipant", visit);
    const { structuredContent } = await use("read_presence", "getPresence", { roomId: room.id });
    expect(structuredContent).toMatchObject({ presence: { [user.id]: { status: "reading" } } });
    const address = { roomId: room.id, store: "tasks/ä", key: "first" };
    await use("change_stores", "setEntry", { ...address, value: { done: false } });
    const entry = await use("read_stores", "getEntry", address);
    expect(entry.structuredContent).toMatchObject({ value: { done: false } });
    const comment = { roomId: room.id, userId: user.id, text: "I have looked at it." };
    await use("change_comments", "createComment", comment);
    const listed = await use("read_users", "listUsers", { roomId: room.id, limit: 5 });
    expect(JSON.stringify(listed)).not.toContain("token");
    const access = await use("read_access", "getRoomAccess", { roomId: room.id });
    expect(access.structuredContent).toMatchObject({ default_accesses: [], total: 0 });
    const comments = await owner.api.get(`/rooms/${room.id}/comments`);
    expect(comments.data).toMatchObject({ comments: [{ text: comment.text, user_id: user.id }] });
  });

  describe("reads of each operation's results", () => {
    const described = readDocument(buildDocument(ENDPOINTS, describeEvents()));
    const schemas = described.components?.schemas ?? {};
    const clean = resultCleaner(described);
    const NAMES = ["token", "secret", "key", "url", "payload", "endpoint", "__proto__", "data"];

    /** Values that have all branches of the schema's unions together, with every field that it declares. */
    const samplesOf = (schema: Schema, text: string, content: unknown): unknown[] => {
      const { properties, items, anyOf, oneOf, type, additionalProperties } = resolve(schemas, schema);
      const branches = anyOf ?? oneOf;
      if (branches !== undefined) return branches.flatMap((branch) => samplesOf(branch, text, content));
      if (items) return [samplesOf(items, text, content)];
      if (properties === undefined && additionalProperties === undefined)
        return type === undefined ? [content] : [type === "string" ? text : null];
      const others =
        additionalProperties === undefined ? [] : NAMES.map((name) => [name, additionalProperties]);
      const fields = Object.entries({ ...Object.fromEntries(others), ...properties }).map(
        ([name, field]) => [name, samplesOf(field as Schema, text, content)] as const,
      );
      return Array.from({ length: Math.max(1, ...fields.map(([, { length }]) => length)) }, (_, index) =>
        Object.fromEntries(fields.map(([name, samples]) => [name, samples[index % samples.length]])),
      );
    };

    /** Each operation with its answer and the agent's text of it, as JSON. */
    const resultsOf = (text: string, content: unknown) =>
      [...toolsOf(described, ENDPOINTS).values()].flatMap(({ operations }) =>
        [...operations].map(([operation, { entry }]) => {
          const schema = dataOf(described, entry);
          const answers = samplesOf(schema, text, content) as object[];
          const [answered, read] = [answers, answers.map((data) => clean(schema, data))].map((all) =>
            JSON.stringify(all),
          );
          return { operation, answered, read };
        }),
      );

    it("no credential at any depth, as the API describes them", () => {
      const results = resultsOf("https://hooks.test/secret", null);
      const remaining = new Set<string>();
      for (const { operation, read = "" } of results)
        JSON.parse(read, (name, value) => {
          if (/(^|_)(token|secret|key|url|password|endpoint)$/i.test(name) && typeof value === "string")
            remaining.add(`${operation} ${name} ${JSON.stringify(value)}`);
          return value;
        });
      expect(results.length).toBeGreaterThan(80);
      expect([...remaining]).toEqual([]);
    });

    it("all content as it was written, whatever it and the texts beside it have", () => {
      const named = JSON.parse(
        `{${NAMES.map((name) => `"${name}":"not a url {"`)},"deep":[{"url":{"key":1}}]}`,
      );
      const texts = [
        "",
        "not a url",
        "{",
        "null",
        '"\\ud800"',
        "https://",
        "data:,",
        '[{"url":"x"}]',
        "\ud800",
      ];
      for (const text of texts)
        for (const content of [named, [named], "no json"])
          for (const { operation, answered, read } of resultsOf(text, content)) {
            const [written, left] = [answered, read].map(
              (json) => json?.split(JSON.stringify(content)).length,
            );
            expect([operation, left]).toEqual([operation, written]);
          }
    });
  });

  it("lists and exports notifications whose data have the names of credentials, and are no URL and no JSON", async () => {
    const owner = await account();
    const { use } = await connect(owner);
    const data = { url: "not a url", payload: "no json", token: "t", key: "k", nested: { secret: "s" } };
    const identity = await owner.api.post<{ identity: { id: string } }>("/identities", { name: "Ada" });
    const identityId = identity.data.identity.id;
    const trigger = { identityId, kind: "$invoice", subjectId: "invoice-7", data };
    expect((await owner.api.post("/inbox-notifications/trigger", trigger)).status).toBe(200);
    const listed = await use("read_identities", "listInboxNotifications", { identityId });
    expect(listed.structuredContent).toMatchObject({ notifications: [{ activities: [{ data }] }] });
    const exported = await use("read_identities", "getIdentityData", { identityId });
    expect(JSON.stringify(exported.structuredContent)).toContain(JSON.stringify(data));
  });

  it("reads what is kept of an identity without the addresses of its browsers", async () => {
    const inbox = await Inbox.create();
    const { use } = await connect(inbox.owner);
    const browser = await PushBrowser.create();
    const own = inbox.owner.api.as(await inbox.token());
    expect((await own.post("/me/push-subscriptions", browser.toJSON())).status).toBe(200);
    const texts: string[] = [];
    for (let after: string | null | undefined; after !== null; ) {
      const { identityId } = inbox;
      const result = await use("read_identities", "getIdentityData", { identityId, ...(after && { after }) });
      texts.push(JSON.stringify(result));
      after = (result.structuredContent as { cursor: string | null }).cursor;
    }
    expect(texts.join()).toContain("push_subscription");
    expect(texts.join()).not.toContain(browser.endpoint);
  });

  it("creates users, webhooks and files' events without seeing their credentials", async () => {
    const owner = await account();
    const { use } = await connect(owner);
    const room = await owner.api.createRoom();
    const seen = await use("change_users", "createUser", { name: "Agent", roomId: room.id });
    const receiver = `http://127.0.0.1:${inject("receiver").port}`;
    const webhook = { url: `${receiver}/ok/capability`, events: ["file.uploaded"] };
    const created = await use("change_webhooks", "createWebhook", webhook);
    const { id: webhookId } = (created.structuredContent as { webhook: { id: string } }).webhook;
    expect(created.structuredContent).toMatchObject({ webhook: { url_origin: receiver } });
    const delivered = await use("change_webhooks", "testWebhook", { webhookId });
    const { payload } = (delivered.structuredContent as { delivery: { payload: string } }).delivery;
    expect(JSON.parse(payload)).toMatchObject({
      event: "file.uploaded",
      file: { filename: expect.any(String) },
    });
    const user = await owner.api.createUser(room.id);
    const file = new File(["A"], "a.txt");
    expect((await owner.api.upload({ roomId: room.id, userId: user.id }, file)).status).toBe(201);
    const files = await use("read_files", "listFiles", { roomId: room.id });
    expect(files.structuredContent).toMatchObject({ files: [{ filename: "a.txt" }] });
    const text = JSON.stringify([seen, created, delivered, files].map((one) => one.structuredContent));
    expect(text).not.toMatch(/\/capability|whsec_|\/uploads\/|"eyJ|"(token|secret|key|url)\b/);
  });

  it("keeps what users wrote, whatever they call it", async () => {
    const owner = await account();
    const { use } = await connect(owner);
    const { id: roomId } = await owner.api.createRoom();
    const value = { token: "piano", key: "A minor", url: "none" };
    await use("change_stores", "setEntry", { roomId, store: "songs", key: "token", value });
    const { structuredContent } = await use("read_stores", "getStore", { roomId, store: "songs" });
    expect(structuredContent).toMatchObject({ entries: { token: { value } } });
  });

  it("starts a workflow with a payload of any form", async () => {
    const owner = await account();
    const { use } = await connect(owner);
    const code = "export default async ({ data }) => data.payload;";
    const subject = await TestWorkflow.create(owner.api, code, { events: [], httpTrigger: true });
    const { id: workflowId } = subject.workflow;
    const start = (args: object) => use("change_workflows", "triggerWorkflow", { workflowId, ...args });
    const { structuredContent } = await start({ body: ["order", 8731] });
    const [execution] = await subject.ran(1);
    expect(structuredContent).toEqual({ execution: { id: execution?.id } });
    expect(execution?.result).toBe('["order",8731]');
    const missing = await start({});
    expect(missing.structuredContent).toMatchObject({ error: { message: "body is required" } });
  });

  it("reads a document and edits it, once for each key", async () => {
    const owner = await account();
    const { use } = await connect(owner);
    const place = { roomId: (await owner.api.createRoom()).id, document: "notes" };
    const edit = (insert: string, idempotencyKey: unknown) =>
      use("change_documents", "editDocument", { ...place, edits: [{ at: "end", insert }], idempotencyKey });
    const { structuredContent: first } = await edit("One.", "first");
    expect(first).toMatchObject({ applied: true, edits: [{ text: "One." }] });
    expect((await edit("One.", "first")).structuredContent).toEqual(first);
    await edit(" Two.", "second");
    const { structuredContent: read } = await use("read_documents", "getDocumentBlocks", place);
    expect(read).toMatchObject({ base: 2, blocks: [{ text: "One. Two." }] });
    for (const key of ["", "a b", 7])
      expect((await edit("!", key)).structuredContent).toMatchObject({
        error: { code: "VALIDATION_ERROR", message: expect.stringContaining("idempotencyKey") },
      });
    expect((await use("read_rooms", "listRooms", { idempotencyKey: "a" })).isError).toBe(true);
  });

  it("reads what the API refuses as a result with the documented code", async () => {
    const { use, client } = await connect(await account());
    const refusals = [
      ["read_rooms", "getRoom", { roomId: crypto.randomUUID() }, "NOT_FOUND", "Room not found"],
      ["read_rooms", "getRoom", {}, "VALIDATION_ERROR", "roomId is required"],
      ["read_rooms", "getRoom", { roomId: "\ud800" }, "VALIDATION_ERROR", "roomId: must be"],
      ["read_rooms", "listRooms", { limit: 0 }, "BAD_REQUEST", "limit"],
      ["change_rooms", "createRoom", { name: "" }, "VALIDATION_ERROR", "name"],
      ["change_rooms", "createRoom", { name: "A", title: "B" }, "VALIDATION_ERROR", "title is no argument"],
      ["read_rooms", "deleteRoom", {}, "VALIDATION_ERROR", 'read_rooms has no operation "deleteRoom"'],
      ["read_rooms", undefined, {}, "VALIDATION_ERROR", 'read_rooms has no operation ""; it has'],
    ] as const;
    for (const [tool, operation, args, code, message] of refusals) {
      const { isError, structuredContent } = await use(tool, operation, args);
      const error = { code, message: expect.stringContaining(message) };
      expect({ isError, structuredContent }).toMatchObject({ isError: true, structuredContent: { error } });
    }
    await expect(client.callTool({ name: "delete_everything" })).rejects.toThrow("not found");
  });

  it("finds the rooms as resources, page by page, and reads what is in them", async () => {
    const owner = await account();
    const { client } = await connect(owner);
    const room = await owner.api.createRoom({ name: "Planning" });
    await owner.api.put(`/rooms/${room.id}/stores/to%20do/first`, { value: 1 });
    const { resources } = await client.listResources();
    const uri = `atrium://rooms/${room.id}`;
    expect(resources).toMatchObject([{ uri, name: "Planning" }]);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain(
      "atrium://rooms/{roomId}/stores/{store}",
    );
    const read = async (address: string) => {
      const { contents } = await client.readResource({ uri: address });
      return JSON.parse((contents[0] as { text: string }).text);
    };
    expect(await read(uri)).toMatchObject({ room: { name: "Planning" } });
    expect(await read(`${uri}/stores/to%20do`)).toMatchObject({ entries: { first: { value: 1 } } });
    for (const unknown of [`atrium://rooms/${crypto.randomUUID()}`, "atrium://keys", `${uri}/%ff`])
      await expect(read(unknown)).rejects.toThrow("not found");
  });
});

describe("POST /mcp", () => {
  it("wants a credential, and answers with the API's envelope without one", async () => {
    const owner = await account();
    const body = request("tools/list");
    const codeOf = async (authorization: string | null) => {
      const answer = await post(authorization, body);
      return [answer.status, answer.body.error.code, answer.headers.get("WWW-Authenticate")];
    };
    const unauthorized = [401, "UNAUTHORIZED", "Bearer"];
    expect(await codeOf(null)).toEqual(unauthorized);
    expect(await codeOf(bearer(owner.id, `${owner.apiKey}x`))).toEqual(unauthorized);
    expect(await codeOf(bearer(crypto.randomUUID(), owner.apiKey))).toEqual(unauthorized);
    expect(await codeOf("Bearer a.b.c")).toEqual(unauthorized);
  });

  it("refuses what is no message with the codes of JSON-RPC, and needs no session", async () => {
    const owner = await account();
    const key = bearer(owner.id, owner.apiKey);
    const errorOf = async (body: unknown, headers?: Record<string, string>) => {
      const answer = await post(key, body, headers);
      return [answer.status, answer.body.error.code, answer.body.error.data.code];
    };
    expect(await errorOf("{")).toEqual([400, -32700, "BAD_REQUEST"]);
    expect(await errorOf([request("ping")])).toEqual([400, -32600, "BAD_REQUEST"]);
    // The version 2025-03-26 has batches, with which one request would get around the limits on requests.
    for (const version of ["1999-01-01", "2025-03-26"])
      expect(await errorOf(request("ping"), { "MCP-Protocol-Version": version })).toEqual([
        ...[400, -32022, "BAD_REQUEST"],
      ]);
    const { body: old } = await post(key, request("initialize", { protocolVersion: "2025-03-26" }));
    expect(old.result.protocolVersion).toBe("2025-11-25");
    expect(await errorOf(request("prompts/list"))).toEqual([200, -32601, "NOT_FOUND"]);
    expect(await errorOf(request("resources/read"))).toEqual([200, -32602, "VALIDATION_ERROR"]);
    expect(await errorOf(request("tools/call", { name: "read_rooms", arguments: 1 }))).toEqual([
      ...[200, -32602, "VALIDATION_ERROR"],
    ]);
    const ping = await post(key, request("ping"));
    expect(ping).toMatchObject({ status: 200, body: { jsonrpc: "2.0", id: 1, result: {} } });
    expect(ping.headers.get("X-Request-Id")).toMatch(/^[0-9a-f-]{36}$/);
    const notified = await post(key, { jsonrpc: "2.0", method: "notifications/initialized" });
    expect(notified).toMatchObject({ status: 202, body: null });
    const stream = await fetchHere(ENDPOINT, { headers: headersOf(key) });
    expect([stream.status, stream.headers.get("Allow")]).toEqual([405, "POST"]);
  });

  describe("in a stateless revision", () => {
    const VERSION = "2026-07-28";
    const META = "io.modelcontextprotocol/";
    const described = { [`${META}protocolVersion`]: VERSION, [`${META}clientCapabilities`]: {} };

    /** A request that describes itself, with headers in place of those that it should have. */
    const send = async (
      owner: Account,
      method: string,
      params: object = {},
      headers: Record<string, string> = {},
      meta: object = described,
    ) =>
      post(bearer(owner.id, owner.apiKey), request(method, { ...params, _meta: meta }), {
        ...{ "MCP-Protocol-Version": VERSION, "Mcp-Method": method },
        ...headers,
      });

    it("is discovered, and answers each request with its type, its server and how long it may be kept", async () => {
      const owner = await account();
      const room = await owner.api.createRoom({ name: "Größe" });
      const { status, body } = await send(owner, "server/discover");
      expect([status, body.result]).toMatchObject([
        200,
        {
          ...{ resultType: "complete", supportedVersions: [VERSION, "2025-11-25", "2025-06-18"] },
          ...{ capabilities: { tools: {}, resources: {} }, cacheScope: "public" },
          _meta: { [`${META}serverInfo`]: { name: "atrium" } },
        },
      ]);
      const tools = await send(owner, "tools/list");
      expect(tools.body.result).toMatchObject({ resultType: "complete", cacheScope: "private" });
      const uri = `atrium://rooms/${room.id}`;
      const read = await send(owner, "resources/read", { uri }, { "Mcp-Name": uri });
      expect(read.body.result).toMatchObject({ resultType: "complete", ttlMs: 0, cacheScope: "private" });
      const call = { name: "read_rooms", arguments: { operation: "listRooms" } };
      const encoded = { "Mcp-Name": `=?base64?${btoa("read_rooms")}?=` };
      const { result } = (await send(owner, "tools/call", call, encoded)).body;
      expect(result).toMatchObject({ resultType: "complete", structuredContent: { total: 1 } });
      expect(result).not.toHaveProperty("ttlMs");
    });

    it("refuses requests that do not describe themselves, or whose headers say something else", async () => {
      const owner = await account();
      const errorOf = async (...args: [string, object?, Record<string, string>?, object?]) => {
        const { status, body } = await send(owner, ...args);
        return [status, body.error.code, body.id];
      };
      expect(await errorOf("tools/list", {}, {}, {})).toEqual([400, -32602, 1]);
      const { [`${META}clientCapabilities`]: _, ...incomplete } = described;
      expect(await errorOf("tools/list", {}, {}, incomplete)).toEqual([400, -32602, 1]);
      for (const headers of [
        { "MCP-Protocol-Version": "2025-11-25" },
        { "MCP-Protocol-Version": "2099-01-01" },
        { "Mcp-Method": "resources/list" },
        { "Mcp-Name": "change_rooms" },
      ])
        expect(await errorOf("tools/call", { name: "read_rooms" }, headers)).toEqual([400, -32020, 1]);
      const unknown = { ...described, [`${META}protocolVersion`]: "2099-01-01" };
      const { status, body } = await send(
        owner,
        "tools/list",
        {},
        { "MCP-Protocol-Version": "2099-01-01" },
        unknown,
      );
      const data = { supported: [VERSION, "2025-11-25", "2025-06-18"], requested: "2099-01-01" };
      expect([status, body.error]).toMatchObject([400, { code: -32022, data }]);
      for (const method of ["initialize", "ping", "prompts/list", "subscriptions/listen"])
        expect(await errorOf(method)).toEqual([404, -32601, 1]);
      const uri = `atrium://rooms/${crypto.randomUUID()}`;
      expect(await errorOf("resources/read", { uri }, { "Mcp-Name": uri })).toEqual([200, -32602, 1]);
    });
  });

  it("sends larger data once, and refuses to read what would fill a model's context", async () => {
    const owner = await account();
    const { use } = await connect(owner);
    const { id: roomId } = await owner.api.createRoom();
    const small = "x".repeat(100 * 1024);
    await owner.api.put(`/rooms/${roomId}/stores/notes/small`, { value: small });
    const once = await use("read_stores", "getStore", { roomId, store: "notes" });
    expect(once.structuredContent).toBeUndefined();
    expect(JSON.parse(once.content[0]?.text ?? "")).toMatchObject({ entries: { small: { value: small } } });
    const doc = new Doc();
    // JSON writes six characters for each of these.
    doc.getText("default").insert(0, "\u0001".repeat(200 * 1024));
    const headers = { "Content-Type": "application/octet-stream" };
    const body = encodeStateAsUpdate(doc) as BodyInit;
    const written = await owner.api.raw("PUT", `/rooms/${roomId}/documents/large`, { headers, body });
    expect(written.status).toBe(200);
    const read = await use("read_documents", "getDocumentContent", { roomId, document: "large" });
    expect(read).toMatchObject({ isError: true, structuredContent: { error: { code: "VALIDATION_ERROR" } } });
  });
});

describe("an agent with the token of its identity", () => {
  const namesOf = (shown: readonly { readonly name: string }[]) => shown.map(({ name }) => name).toSorted();

  /** An agent that has joined a room as far as `permissions` go, with its tools. */
  async function agentIn(permissions: readonly string[]) {
    const owner = await account();
    const { id: roomId } = await owner.api.createRoom();
    await owner.api.put(`/rooms/${roomId}/access`, { defaultAccesses: "editor" });
    const made = await owner.api.post<{ identity: { id: string } }>("/identities", {
      ...{ name: "Agent", kind: "agent" },
    });
    const path = `/identities/${made.data.identity.id}/tokens`;
    const { data } = await owner.api.post<{ token: string }>(path, { permissions });
    const { joined } = await joinWith(owner.id, roomId, data.token);
    const { client, use } = await connectWith(`Bearer ${data.token}`);
    const { tools } = await client.listTools();
    return { owner, roomId, userId: joined.user.id, client, use, tools };
  }

  it("sees what its rights can open, and works in its room as itself", async () => {
    const { owner, roomId, userId, client, use, tools } = await agentIn(["*:write"]);
    const groups = ["comments", "documents", "files", "inbox", "presence", "stores"];
    expect(namesOf(tools)).toEqual([
      ...groups.map((group) => `change_${group}`),
      ...[...groups, "streams", "users"].map((group) => `read_${group}`),
    ]);
    expect(JSON.stringify(tools)).not.toMatch(/deleteThread|removeParticipant|createRoom|listWebhooks/);
    expect((await client.listResources()).resources).toEqual([]);
    const comment = await use("change_comments", "createComment", { roomId, userId: "me", text: "Hello" });
    expect(comment.structuredContent).toMatchObject({ comment: { user_id: userId, text: "Hello" } });
    const entry = { roomId, store: "tasks", key: "milk" };
    expect((await use("change_stores", "setEntry", { ...entry, value: 1 })).isError).toBeUndefined();
    expect((await use("read_stores", "getEntry", entry)).structuredContent).toMatchObject({ value: 1 });
    expect((await use("read_inbox", "countOwnInboxNotifications")).structuredContent).toEqual({ unread: 0 });
    const other = await owner.api.createRoom();
    const refused = await use("read_stores", "listStores", { roomId: other.id });
    expect(refused.structuredContent).toMatchObject({ error: { code: "FORBIDDEN" } });
  });

  it("is refused what its token does not allow, also where the tool is known", async () => {
    const { roomId, use, tools } = await agentIn(["comments:write"]);
    expect(namesOf(tools)).not.toContain("change_stores");
    const entry = { roomId, store: "s", key: "k", value: 1 };
    expect((await use("change_stores", "setEntry", entry)).structuredContent).toMatchObject({
      error: { code: "FORBIDDEN", message: expect.stringContaining("stores:write is missing") },
    });
    const [first] = tools.filter(({ name }) => name === "change_comments");
    expect(JSON.stringify(first)).toContain("createComment");
    const other = { roomId, userId: crypto.randomUUID(), text: "As someone else" };
    expect((await use("change_comments", "createComment", other)).structuredContent).toMatchObject({
      error: { code: "FORBIDDEN" },
    });
  });
});
