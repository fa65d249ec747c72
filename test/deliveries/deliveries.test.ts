/** Deliveries over REST: lists, redelivery, sample events and rotated secrets. */
import { env } from "cloudflare:workers";
import { Event, EventName } from "@atrium/contract/resources/events.ts";
import type { Delivery } from "@atrium/contract/rest/webhook-deliveries.ts";
import {
  type Webhook,
  WebhookBackloggedEvent,
  type WebhookWithSecret,
} from "@atrium/contract/rest/webhooks.ts";
import { Webhook as Verifier } from "standardwebhooks";
import { beforeEach, describe, expect, inject, it } from "vitest";
import { loggedHeaders } from "../../src/features/webhooks/attempt.ts";
import { type Account, account } from "../support/api.ts";
import type { Received } from "../support/receiver.ts";

const { port } = inject("receiver");
const RECEIVER = `http://127.0.0.1:${port}`;

let owner: Account;
/** The last part of the webhook's URL, under which the receiver records its requests. */
let name: string;

beforeEach(async () => {
  owner = await account();
  name = crypto.randomUUID();
});

const create = async (path = "ok", body: object = {}): Promise<WebhookWithSecret> => {
  const whole = { url: `${RECEIVER}/${path}/${name}`, events: ["user.created"], ...body };
  return (await owner.api.post<{ webhook: WebhookWithSecret }>("/webhooks", whole)).data.webhook;
};
const test = async (id: string): Promise<Delivery> =>
  (await owner.api.post<{ delivery: Delivery }>(`/webhooks/${id}/test`)).data.delivery;
const list = async (id: string, query = "") =>
  (
    await owner.api.get<{ deliveries: Delivery[]; total: number; cursor: string | null }>(
      `/webhooks/${id}/deliveries${query}`,
    )
  ).data;
const received = async (): Promise<readonly Received[]> =>
  (await fetch(`${RECEIVER}/received/${name}`)).json();

/** True when the message is signed with the secret. */
const isSignedWith = ({ body, headers }: Received, secret: string): boolean => {
  try {
    new Verifier(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
};

describe("testing a webhook", () => {
  it.each(EventName.options)("sends it a valid %s", async (event) => {
    const webhook = await create("ok", { events: [event] });
    const delivery = await test(webhook.id);
    expect(delivery).toMatchObject({
      webhook_id: webhook.id,
      event,
      status: "success",
      attempts: 1,
      last_attempt_at: delivery.log[0]?.attempted_at,
      next_retry_at: null,
      status_code: 200,
      error: null,
      log: [{ status_code: 200, error_class: null, error: null, answer: "ok" }],
    });
    const [message] = await received();
    expect(message?.body).toBe(delivery.payload);
    const sent = Event.parse(JSON.parse(delivery.payload));
    expect(sent).toMatchObject({ event, room: { account_id: owner.id } });
    expect(message?.headers["webhook-id"]).toBe(sent.id);
  });

  it("sends it the event that another webhook is backlogged", async () => {
    const webhook = await create("ok", { events: ["webhook.backlogged"] });
    const { payload } = await test(webhook.id);
    expect(WebhookBackloggedEvent.parse(JSON.parse(payload))).toMatchObject({ webhook: { id: webhook.id } });
  });

  it("sends nothing to a disabled webhook", async () => {
    const webhook = await create("ok", { enabled: false });
    expect(await test(webhook.id)).toMatchObject({ status: "failed", attempts: 0, status_code: null });
    expect(await received()).toEqual([]);
  });
});

it.each([
  ["by its events", { events: ["user.updated"] }],
  ["by its URL", { url: `${RECEIVER}/ok/elsewhere` }],
  ["by being enabled again", { enabled: true }],
])("a webhook that is changed while its receiver answers 410 %s stays enabled", async (_, change) => {
  const webhook = await create("gate", { url: `${RECEIVER}/gate/${name}?status=410` });
  const delivering = test(webhook.id);
  await expect.poll(async () => (await received()).length).toBe(1);
  await owner.api.patch(`/webhooks/${webhook.id}`, change);
  await fetch(`${RECEIVER}/open/${name}/now`);
  expect(await delivering).toMatchObject({ status: "failed", status_code: 410 });
  const answer = await owner.api.get<{ webhook: Webhook }>(`/webhooks/${webhook.id}`);
  expect(answer.data.webhook.enabled).toBe(true);
});

describe("the list of deliveries", () => {
  it("shows the newest first, by page and by status", async () => {
    const { id } = await create();
    expect(await list(id)).toEqual({ deliveries: [], total: 0, limit: 50, offset: 0, cursor: null });
    const first = await test(id);
    await owner.api.patch(`/webhooks/${id}`, { url: `${RECEIVER}/status/500/${name}` });
    const second = await test(id);
    expect((await list(id)).deliveries).toEqual([second, first]);
    expect(await list(id, "?limit=1&offset=1")).toEqual({
      deliveries: [first],
      total: 2,
      limit: 1,
      offset: 1,
      cursor: null,
    });
    expect(await list(id, "?status=success")).toMatchObject({ deliveries: [first], total: 1 });
    expect(await list(id, "?status=pending")).toMatchObject({ deliveries: [second], total: 1 });
    expect(await list(id, "?status=failed")).toMatchObject({ deliveries: [], total: 0 });
  });

  it("goes on behind a cursor, whatever is delivered meanwhile", async () => {
    const webhook = await create("ok", { events: ["room.created"] });
    const rooms: string[] = [];
    for (let room = 0; room < 5; room += 1) rooms.push((await owner.api.createRoom()).id);
    await expect.poll(async () => (await list(webhook.id, "?status=success")).total).toBe(5);
    for (const status of ["", "&status=success"]) {
      const all = (await list(webhook.id)).deliveries;
      const first = await list(webhook.id, `?limit=2${status}`);
      await test(webhook.id);
      const second = await list(webhook.id, `?limit=2&after=${first.cursor}${status}`);
      expect(second).toMatchObject({ deliveries: all.slice(2, 4), offset: 2 });
      const last = await list(webhook.id, `?limit=3&after=${second.cursor}${status}`);
      expect(last).toMatchObject({ deliveries: all.slice(4), offset: 4, cursor: null });
    }
  });

  it("refuses the cursor of another list", async () => {
    for (let room = 0; room < 2; room += 1) await owner.api.createRoom();
    const { cursor } = (await owner.api.get<{ cursor: string }>("/rooms?limit=1")).data;
    const { id } = await create();
    expect(await owner.api.get(`/webhooks/${id}/deliveries?after=${cursor}`)).toMatchObject({
      status: 400,
      error: { code: "BAD_REQUEST", message: expect.stringContaining("after must be the cursor") },
    });
  });

  it("shows those of one event or room", async () => {
    const webhook = await create("ok", { events: ["user.created", "room.created"] });
    const [one, other] = [await owner.api.createRoom(), await owner.api.createRoom()];
    await owner.api.createUser(one.id);
    await expect.poll(async () => (await list(webhook.id, "?status=success")).total).toBe(3);
    const shown = async (query: string) => {
      const { deliveries, total } = await list(webhook.id, query);
      return [total, deliveries.map(({ event }) => event)];
    };
    expect(await shown("?event=room.created")).toEqual([2, ["room.created", "room.created"]]);
    expect(await shown("?event=room.created&limit=1&offset=1")).toEqual([2, ["room.created"]]);
    expect(await shown(`?roomId=${other.id}&status=success`)).toEqual([1, ["room.created"]]);
    expect(await shown(`?roomId=${one.id}&event=user.created`)).toEqual([1, ["user.created"]]);
    expect(await shown(`?roomId=${one.id}&status=failed`)).toEqual([0, []]);
  });
});

describe("redelivery", () => {
  it("sends the same event with the same id, as a new delivery", async () => {
    const { id, secret } = await create();
    const first = await test(id);
    const answer = await owner.api.post<{ delivery: Delivery }>(
      `/webhooks/${id}/deliveries/${first.id}/redeliver`,
    );
    const again = answer.data.delivery;
    expect(again.id).not.toBe(first.id);
    expect(again).toMatchObject({ webhook_id: id, event: first.event, payload: first.payload });
    await expect.poll(async () => (await list(id, "?status=success")).total).toBe(2);
    const messages = await received();
    expect(messages.map(({ body }) => body)).toEqual([first.payload, first.payload]);
    expect(new Set(messages.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(messages.every((message) => isSignedWith(message, secret))).toBe(true);
  });

  it("sends several again at once, and says which are not kept", async () => {
    const webhook = await create();
    const [first, second] = [await test(webhook.id), await test(webhook.id)];
    const missing = crypto.randomUUID();
    const body = { ids: [first.id, second.id, first.id, missing] };
    const { data } = await owner.api.post<object>(`/webhooks/${webhook.id}/redeliver`, body);
    expect(data).toEqual({ redelivered: 2, missing: [missing] });
    await expect.poll(async () => (await received()).length).toBe(4);
    const ids = (await received()).map(({ headers }) => headers["webhook-id"]);
    expect(new Set(ids.slice(2))).toEqual(new Set(ids.slice(0, 2)));
    expect((await owner.api.post(`/webhooks/${webhook.id}/redeliver`, { ids: [] })).status).toBe(400);
    expect((await owner.api.post(`/webhooks/${missing}/redeliver`, body)).status).toBe(404);
  });

  it("requires a delivery of the same webhook", async () => {
    const [one, other] = [await create(), await create()];
    const { id } = await test(one.id);
    for (const path of [`${other.id}/deliveries/${id}`, `${one.id}/deliveries/${crypto.randomUUID()}`]) {
      const answer = await owner.api.post(`/webhooks/${path}/redeliver`);
      expect([answer.status, answer.error?.message]).toEqual([404, "Delivery not found"]);
    }
  });
});

describe("a rotated secret", () => {
  const rotate = async (id: string): Promise<string> =>
    (await owner.api.post<{ webhook: WebhookWithSecret }>(`/webhooks/${id}/rotate-secret`)).data.webhook
      .secret;
  const signersOf = async (id: string, secrets: readonly string[]): Promise<boolean[]> => {
    await test(id);
    const message = (await received()).at(-1);
    return secrets.map((secret) => message !== undefined && isSignedWith(message, secret));
  };

  it("keeps signing for a day, beside the new one", async () => {
    const { id, secret } = await create();
    const secrets = [secret, await rotate(id)];
    const now = Date.now();
    expect(await signersOf(id, secrets)).toEqual([true, true]);
    const row = await env.DB.prepare("SELECT previous_secret_until AS until FROM webhooks WHERE id = ?")
      .bind(id)
      .first<{ until: number }>();
    expect(Math.abs((row?.until ?? 0) - now - 86_400_000)).toBeLessThan(60_000);
    await env.DB.prepare("UPDATE webhooks SET previous_secret_until = ? WHERE id = ?").bind(now, id).run();
    expect(await signersOf(id, secrets)).toEqual([false, true]);
  });

  it("stops signing at once with a second rotation", async () => {
    const { id, secret } = await create();
    const secrets = [secret, await rotate(id), await rotate(id)];
    expect(await signersOf(id, secrets)).toEqual([false, true, true]);
  });
});

// Headers in a delivery's log: some, and never a secret.

it("keeps no credentials, cookies or signatures, in any case", () => {
  const headers = new Headers({ "Content-Type": "text/plain", "X-Request-Id": "1", Date: "today" });
  const secrets = [
    ...["Authorization", "Set-Cookie", "Proxy-Authenticate", "X-Api-Key", "webhook-signature"],
    ...["X-CSRF-Token", "X-Amz-Security-Token", "Session-Id", "Client-Secret", "X-Password"],
  ];
  for (const name of secrets) headers.set(name, "hidden");
  expect(loggedHeaders(headers)).toEqual({
    "content-type": "text/plain",
    date: "today",
    "x-request-id": "1",
  });
});

it("keeps little, however much there is", () => {
  const many = Array.from({ length: 100 }, (_, index) => [`X-${index}`, `${index}`] as const);
  expect(Object.keys(loggedHeaders(many))).toEqual(many.slice(0, 30).map(([name]) => name.toLowerCase()));
  const long = many.map(([name]) => [name, "x".repeat(10_000)] as const);
  const kept = loggedHeaders(long);
  expect(Object.values(kept)).toEqual(Array(7).fill("x".repeat(256)));
  expect(JSON.stringify(kept).length).toBeLessThan(2_300);
});
