/** Signing secrets of webhooks and of HTTP triggers: stored encrypted, and encrypted anew when the key is replaced. */
import { env } from "cloudflare:workers";
import type { WebhookWithSecret } from "@atrium/contract/rest/webhooks.ts";
import type { WorkflowWithSecret } from "@atrium/contract/rest/workflow-triggers.ts";
import type { Workflow } from "@atrium/contract/rest/workflows.ts";
import { beforeEach, describe, expect, it } from "vitest";
import {
  openSecret,
  openSecrets,
  resealSigningSecrets,
  sealSecret,
  selectSecretsWithin,
  signingSealer,
} from "../../src/delivery/signing-secret-store.ts";
import { WebhookHandler } from "../../src/features/webhooks/webhook-handler.ts";
import { jwtSecrets } from "../../src/platform/config.ts";
import { openDatabase } from "../../src/platform/d1/d1.ts";
import { type Account, account } from "../support/api.ts";
import { expectLogged } from "../support/log-guard.ts";
import { planOf } from "../support/plan-guard.ts";
import { handledEvent, memoryState } from "./test-queue.ts";

const db = openDatabase(env.DB);
const own = signingSealer(jwtSecrets(env));
const [OLD, NEW] = ["the first secret of a deployment", "the secret that has replaced it"];
const COLUMNS = {
  webhook: ["webhooks", "secret", "previous_secret"],
  workflow: ["workflows", "trigger_secret", "previous_trigger_secret"],
} as const;
type Kind = keyof typeof COLUMNS;

let owner: Account;
beforeEach(async () => {
  owner = await account();
});

async function createWebhook(): Promise<WebhookWithSecret> {
  const body = { url: "https://hooks.example.com/a", events: ["participant.joined"] };
  return (await owner.api.post<{ webhook: WebhookWithSecret }>("/webhooks", body)).data.webhook;
}

async function createWorkflow(): Promise<Workflow> {
  const body = { name: "Runs", code: "export default async () => null;", events: [], httpTrigger: true };
  return (await owner.api.post<{ workflow: Workflow }>("/workflows", body)).data.workflow;
}

const keyOf = (kind: Kind, id: string) => ({ kind, accountId: owner.id, id });

async function stored(kind: Kind, id: string): Promise<(string | null)[]> {
  const [table, current, previous] = COLUMNS[kind];
  const row = await env.DB.prepare(
    `SELECT ${current} AS current, ${previous} AS previous FROM ${table} WHERE id = ?`,
  )
    .bind(id)
    .first<{ current: string | null; previous: string | null }>();
  return [row?.current ?? null, row?.previous ?? null];
}

const store = (kind: Kind, id: string, current: string | null, previous: string | null) => {
  const [table, ...columns] = COLUMNS[kind];
  return env.DB.prepare(`UPDATE ${table} SET ${columns[0]} = ?, ${columns[1]} = ? WHERE id = ?`)
    .bind(current, previous, id)
    .run();
};

describe("a signing secret", () => {
  it("is stored encrypted, of webhooks and of HTTP triggers, the current and the rotated one", async () => {
    const { id, secret } = await createWebhook();
    const { data } = await owner.api.post<{ webhook: WebhookWithSecret }>(`/webhooks/${id}/rotate-secret`);
    const open = async (kind: Kind, each: string | null, of: string) =>
      openSecret(own, each ?? "", keyOf(kind, of));
    const [current, previous] = await stored("webhook", id);
    for (const each of [current, previous]) expect(each).toMatch(/^sealed:[0-9a-f]{16}:[\w+/]+=*$/);
    expect(await open("webhook", current ?? null, id)).toBe(data.webhook.secret);
    expect(await open("webhook", previous ?? null, id)).toBe(secret);
    const workflow = await createWorkflow();
    expect(await stored("workflow", workflow.id)).toEqual([null, null]);
    const path = `/workflows/${workflow.id}/trigger/rotate-secret`;
    const first = (await owner.api.post<{ workflow: WorkflowWithSecret }>(path)).data.workflow.trigger_secret;
    const second = (await owner.api.post<{ workflow: WorkflowWithSecret }>(path)).data.workflow
      .trigger_secret;
    const [now, before] = await stored("workflow", workflow.id);
    expect(JSON.stringify([now, before])).not.toContain("whsec_");
    expect(await open("workflow", now ?? null, workflow.id)).toBe(second);
    expect(await open("workflow", before ?? null, workflow.id)).toBe(first);
  });

  it("opens for its own webhook only", async () => {
    const [one, other] = [await createWebhook(), await createWebhook()];
    const [sealed] = await stored("webhook", one.id);
    await expect(openSecret(own, sealed ?? "", keyOf("webhook", other.id))).rejects.toThrow();
    await expect(openSecret(own, sealed ?? "", keyOf("workflow", one.id))).rejects.toThrow();
  });

  it("is left out when it cannot be opened, which is logged, while others still sign", async () => {
    const logged: string[] = [];
    const key = keyOf("webhook", "an id");
    const sealed = await sealSecret(own, "whsec_current", key);
    const open = (...all: string[]) => openSecrets(own, all, key, (message) => logged.push(message));
    expect(await open(sealed)).toEqual(["whsec_current"]);
    expect(logged).toEqual([]);
    expect(await open("sealed:unreadable:text", sealed)).toEqual(["whsec_current"]);
    expect(logged).toEqual(["A signing secret can no longer be decrypted, and must be rotated"]);
  });
});

describe("the sweep of signing secrets", () => {
  it.each([
    ["webhook", async () => (await createWebhook()).id],
    ["workflow", async () => (await createWorkflow()).id],
  ] as const)(
    "encrypts secrets of a replaced key anew, and marks those that no key opens: %s",
    async (kind, create) => {
      const logged: string[] = [];
      const reseal = (...secrets: [string, ...string[]]) =>
        resealSigningSecrets(db, signingSealer(secrets), (message) => logged.push(message));
      const [id, lost] = [await create(), await create()];
      const key = keyOf(kind, id);
      const version = () =>
        env.DB.prepare(`SELECT updated_at FROM ${COLUMNS[kind][0]} WHERE id = ?`)
          .bind(id)
          .first("updated_at");
      const before = await version();
      const byOld = (secret: string) => sealSecret(signingSealer([OLD]), secret, key);
      await store(kind, id, await byOld("whsec_current"), await byOld("whsec_previous"));
      await reseal(OLD);
      const opened = async (secret: string) =>
        Promise.all(
          (await stored(kind, id)).map((each) => openSecret(signingSealer([secret]), each ?? "", key)),
        );
      expect(await opened(OLD)).toEqual(["whsec_current", "whsec_previous"]);
      const other = await sealSecret(signingSealer([OLD]), "whsec_other", { ...key, id: "another id" });
      await store(kind, lost, other, null);
      await reseal(NEW, OLD);
      await reseal(NEW, OLD);
      expect(await opened(NEW)).toEqual(["whsec_current", "whsec_previous"]);
      expect((await stored(kind, lost))[0]).toMatch(/^sealed:unreadable:/);
      expect(logged).toEqual([
        `A signing secret of ${kind} ${lost} can no longer be decrypted, and must be rotated`,
      ]);
      expect(await version()).toBe(before);
    },
  );

  it.each(["webhook", "workflow"] as const)("finds them by indexes: %s", async (kind) => {
    const ranges = [["a", "b"] as const, ["c", "d"] as const];
    const plan = await planOf(selectSecretsWithin(kind, ranges, 10));
    const steps = plan.filter((step) => /SCAN|SEARCH/.test(step));
    expect(steps.length).toBeGreaterThan(1);
    for (const step of steps) expect(step).toMatch(/^SEARCH .* USING INDEX/);
  });
});

it("those of an organization that is fenced wait, and those of others are encrypted anew", async () => {
  const fenced = await createWebhook();
  const { id: accountId } = owner;
  owner = await account();
  const other = await createWebhook();
  const replaced = new Map<string, string>();
  for (const [id, ownerId] of [
    [fenced.id, accountId],
    [other.id, owner.id],
  ] as const) {
    const key = { kind: "webhook", accountId: ownerId, id } as const;
    replaced.set(id, await sealSecret(signingSealer([OLD]), "whsec_YQ==", key));
    await store("webhook", id, replaced.get(id) ?? "", null);
  }
  const sweep = () => resealSigningSecrets(db, signingSealer([NEW, OLD]), () => undefined);
  const isAnew = async (id: string) => (await stored("webhook", id))[0] !== replaced.get(id);
  await env.DB.prepare("INSERT INTO fences VALUES (?, 1)").bind(accountId).run();
  await sweep();
  expect([await isAnew(fenced.id), await isAnew(other.id)]).toEqual([false, true]);
  await env.DB.prepare("DELETE FROM fences").run();
  await sweep();
  expect(await isAnew(fenced.id)).toBe(true);
});

it("a webhook whose secret no key opens is not called, and its events wait until the secret is rotated", async () => {
  const { id } = await createWebhook();
  await store("webhook", id, "sealed:unreadable:text", null);
  const handler = new WebhookHandler(env, keyOf("webhook", id), Date.now, memoryState());
  expect(await handler.deliver(handledEvent(0), 0)).toMatchObject({
    type: "postponed",
    why: "The secret must be rotated",
  });
  expectLogged("A signing secret can no longer be decrypted, and must be rotated");
});
