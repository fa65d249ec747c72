/** Mails to owners: a webhook has a high backlog, or the service has disabled a webhook or workflow. */
import { env } from "cloudflare:workers";
import type { Webhook } from "@atrium/contract/rest/webhooks.ts";
import type { Workflow } from "@atrium/contract/rest/workflows.ts";
import { expect, it } from "vitest";
import type { BacklogReport } from "../../src/delivery/subscriber/handler.ts";
import { continueMails } from "../../src/features/mail/outbox.ts";
import { WebhookHandler } from "../../src/features/webhooks/webhook-handler.ts";
import { WorkflowHandler } from "../../src/features/workflows/workflow-handler.ts";
import { memoryState } from "../delivery/test-queue.ts";
import { type Account, account } from "../support/api.ts";
import { addMember } from "../support/person.ts";
import { LINKS, Mailbox } from "./mailbox.ts";

const HOUR_MS = 60 * 60 * 1000;
const NOW = Date.now();
/** Beyond the present, so that the mails of these tests are due only here. */
async function sendMails({ env }: Mailbox, now: number): Promise<void> {
  await continueMails(env, now);
}

const addressOf = async (personId: string): Promise<string> =>
  String(await env.DB.prepare("SELECT email FROM people WHERE id = ?").bind(personId).first("email"));

async function withWebhook(mailbox: Mailbox, owner: Account) {
  const body = { url: "https://hooks.example.com/a", events: ["participant.joined"] };
  const { data } = await owner.api.post<{ webhook: Webhook }>("/webhooks", body);
  const { id } = data.webhook;
  let now = NOW;
  const key = { kind: "webhook", accountId: owner.id, id } as const;
  const handler = new WebhookHandler(mailbox.env, key, () => now, memoryState());
  const report = (eventId: string): BacklogReport => ({
    ...{ eventId, now, deliveries: 1_234, bytes: 5 * 1024 * 1024, oldestAt: NOW - HOUR_MS },
  });
  const at = (later: number) => {
    now = NOW + later;
    handler.requireVersion(Number.POSITIVE_INFINITY);
  };
  return { id, handler, report, at };
}

it("owners who want them are mailed about a high backlog of a webhook, once a day, however often it is reported", async () => {
  const [mailbox, owner] = [new Mailbox(), await account()];
  const [first, other, member] = [
    await addMember(owner.id),
    await addMember(owner.id),
    await addMember(owner.id, "member"),
  ];
  const path = `/organizations/${owner.id}/notices`;
  expect((await other.browser.send("PATCH", path, { wanted: false })).data).toEqual({
    wanted: false,
    by_mail: false,
  });
  const { id, handler, report, at } = await withWebhook(mailbox, owner);
  const eventId = crypto.randomUUID();
  for (const repeated of [eventId, eventId, crypto.randomUUID()])
    await handler.reportBacklog(report(repeated));
  await sendMails(mailbox, NOW);
  const address = await addressOf(first.id);
  const ofThem = [address, await addressOf(other.id), await addressOf(member.id)];
  expect(ofThem.map((each) => mailbox.to(each).length)).toEqual([1, 0, 0]);
  const [mail] = mailbox.to(address);
  expect(mail?.subject).toBe("An organization: a webhook has a high backlog");
  expect(mail?.text).toContain("1234 deliveries (5 MiB) wait for the webhook https://hooks.example.com/a");
  expect(mail?.text).toContain(`${LINKS}/dashboard/${owner.id}/webhooks/${id}`);
  expect(mail?.text).toContain(`${LINKS}/dashboard/${owner.id}/settings/profile`);
  at(25 * HOUR_MS);
  await handler.reportBacklog(report(crypto.randomUUID()));
  await sendMails(mailbox, NOW + 25 * HOUR_MS);
  expect(mailbox.to(address)).toHaveLength(2);
});

it("owners are mailed when a webhook is disabled, and of its backlog not as well", async () => {
  const [mailbox, owner] = [new Mailbox(), await account()];
  const address = await addressOf((await addMember(owner.id)).id);
  const { handler, report, at } = await withWebhook(mailbox, owner);
  await handler.suspend();
  at(1);
  await handler.suspend();
  await handler.reportBacklog(report(crypto.randomUUID()));
  await sendMails(mailbox, NOW + 1);
  expect(mailbox.to(address).map(({ subject }) => subject)).toEqual([
    "An organization: a webhook was disabled",
  ]);
  expect(mailbox.to(address)[0]?.text).toContain("Too many events were waiting");
});

it("owners are mailed when a workflow is disabled; without mail, or with half of its settings, it is disabled as well", async () => {
  const [mailbox, owner] = [new Mailbox(), await account()];
  const address = await addressOf((await addMember(owner.id)).id);
  const code = "export default async () => null;";
  const disable = async (bindings: Mailbox["env"]) => {
    const body = { name: "Counts", code, events: ["participant.joined"] };
    const { data } = await owner.api.post<{ workflow: Workflow }>("/workflows", body);
    const { id } = data.workflow;
    await new WorkflowHandler(bindings, { accountId: owner.id, id }, () => NOW, memoryState()).suspend();
    const after = await owner.api.get<{ workflow: Workflow }>(`/workflows/${id}`);
    expect(after.data.workflow.enabled).toBe(false);
  };
  await disable(mailbox.env);
  await disable(env);
  await sendMails(mailbox, NOW);
  expect(mailbox.to(address).map(({ subject }) => subject)).toEqual([
    "An organization: a workflow was disabled",
  ]);
  expect(mailbox.to(address)[0]?.text).toContain("disabled the workflow Counts");
});

it("whether an owner wants them is a setting of that person, which the audit log has", async () => {
  const owner = await account();
  const [{ id, browser }, stranger] = [await addMember(owner.id), await addMember((await account()).id)];
  const path = `/organizations/${owner.id}/notices`;
  expect((await browser.get(path)).data).toEqual({ wanted: true, by_mail: false });
  await browser.send("PATCH", path, { wanted: false });
  expect((await browser.get(path)).data).toEqual({ wanted: false, by_mail: false });
  expect((await stranger.browser.get(path)).status).toBe(404);
  expect((await stranger.browser.send("PATCH", path, { wanted: false })).status).toBe(404);
  const { data } = await owner.api.get<{ entries: { operation: string; actor: unknown }[] }>("/audit");
  expect(data.entries).toHaveLength(1);
  expect(data.entries[0]).toMatchObject({
    ...{ operation: "updateNotices", resource: { type: "member", id }, changes: { notices: false } },
  });
});
