/** Webhooks over REST: creating, listing, updating and deleting them, and keeping their secrets. */
import { env } from "cloudflare:workers";
import type { Webhook, WebhookWithSecret } from "@atrium/contract/rest/webhooks.ts";
import { describe, expect, it, vi } from "vitest";
import { type Account, account, ORIGIN, refusalOf } from "../support/api.ts";

const URL_EXAMPLE = "https://hooks.example.com/a";

const create = async (owner: Account, body: object = {}): Promise<WebhookWithSecret> => {
  const whole = { url: URL_EXAMPLE, events: ["user.created"], ...body };
  const answer = await owner.api.post<{ webhook: WebhookWithSecret }>("/webhooks", whole);
  expect(answer.status, answer.error?.message).toBe(201);
  return answer.data.webhook;
};

const patch = (owner: Account, id: string, body: object) =>
  owner.api.patch<{ webhook: Webhook }>(`/webhooks/${id}`, body);

const list = async (owner: Account, query: Record<string, string> = {}) =>
  (await owner.api.get<{ webhooks: Webhook[]; total: number }>(`/webhooks?${new URLSearchParams(query)}`))
    .data;

describe("creating a webhook", () => {
  it("returns it with its secret, enabled and for all rooms by default", async () => {
    const owner = await account();
    const webhook = await create(owner, { events: ["user.created", "session.closed", "user.created"] });
    expect(webhook).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      organization_id: owner.id,
      url: URL_EXAMPLE,
      events: ["user.created", "session.closed"],
      room_id: null,
      enabled: true,
      created_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      updated_at: webhook.created_at,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    const { id } = await owner.api.createRoom();
    expect(await create(owner, { roomId: id, enabled: false })).toMatchObject({
      room_id: id,
      enabled: false,
    });
    expect(await create(owner, { roomId: null })).toMatchObject({ room_id: null });
  });

  it.each(["https://user@hooks.example.com", `${ORIGIN}/v1/accounts`, "not an address"])(
    "refuses to send to %s, and says what is wrong with the url",
    async (url) => {
      const owner = await account();
      const { id } = await create(owner);
      for (const answer of [
        await owner.api.post("/webhooks", { url, events: ["user.created"] }),
        await patch(owner, id, { url }),
      ]) {
        expect(refusalOf(answer)).toEqual([400, "Webhooks", "VALIDATION_ERROR"]);
        expect(answer.error?.message).toMatch(/^url: must /);
      }
      expect(await list(owner)).toMatchObject({ total: 1, webhooks: [{ id, url: URL_EXAMPLE }] });
    },
  );
});

describe("a secret", () => {
  it("is shown where it is created, and nowhere else", async () => {
    const spoken = ["log", "error", "warn", "info", "debug"] as const;
    const spies = spoken.map((method) => vi.spyOn(console, method));
    const owner = await account();
    const { id, secret } = await create(owner);
    const rotated = await owner.api.post<{ webhook: WebhookWithSecret }>(`/webhooks/${id}/rotate-secret`);
    expect(rotated.data.webhook.secret).not.toBe(secret);
    const answers = [
      await list(owner),
      (await owner.api.get(`/webhooks/${id}`)).data,
      (await patch(owner, id, { enabled: true })).data,
      (await owner.api.post(`/webhooks/${id}/test`)).data,
      (await owner.api.get(`/webhooks/${id}/deliveries`)).data,
      spies.flatMap((spy) => spy.mock.calls.flat().map(String)),
    ];
    const seen = JSON.stringify(answers);
    for (const hidden of ["whsec_", "secret", secret.slice(6), rotated.data.webhook.secret.slice(6)]) {
      expect(seen).not.toContain(hidden);
    }
    for (const spy of spies) spy.mockRestore();
  });

  it("is not shown to a retry, nor kept for one", async () => {
    const owner = await account();
    const headers = { "Idempotency-Key": "k" };
    const body = { url: URL_EXAMPLE, events: ["user.created"] };
    const made = await owner.api.post<{ webhook: WebhookWithSecret }>("/webhooks", body, { headers });
    const { id, secret } = made.data.webhook;
    const rotation = { headers: { "Idempotency-Key": "r" } };
    const rotate = () =>
      owner.api.post<{ webhook: WebhookWithSecret }>(`/webhooks/${id}/rotate-secret`, {}, rotation);
    const rotated = await rotate();
    expect([made.status, rotated.status]).toEqual([201, 200]);
    for (const again of [await owner.api.post("/webhooks", body, { headers }), await rotate()]) {
      expect([again.status, again.error?.code]).toEqual([409, "CONFLICT"]);
    }
    expect((await list(owner)).total).toBe(1);
    const { results } = await env.DB.prepare("SELECT * FROM receipts WHERE scope = ?").bind(owner.id).all();
    expect(results).toHaveLength(2);
    expect(JSON.stringify(results)).not.toMatch(/whsec_/);
    expect(JSON.stringify(results)).not.toContain(secret.slice(6));
  });
});
