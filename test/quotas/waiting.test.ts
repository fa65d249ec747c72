/** The quotas of waiting events: what subscribers report, who gives way at the limit, and what is refused meanwhile. */
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { quotaShare, reportDueAt } from "../../src/delivery/subscriber/backlog.ts";
import { DeliveryStore } from "../../src/delivery/subscriber/delivery-store.ts";
import type { BacklogSize, SubscriberPorts } from "../../src/delivery/subscriber/handler.ts";
import { subscriberPorts } from "../../src/objects.ts";
import { ATTEMPT, StubbedSubscriber } from "../delivery/stubbed-subscriber.ts";
import { outgoingEvent, START } from "../delivery/test-queue.ts";
import { type Account, account } from "../support/api.ts";
import { setLimit, usesOf } from "../support/quotas.ts";

const MINUTE_MS = 60_000;
const WEBHOOK = { url: "https://hooks.example.com", events: ["user.created"] };

const useOf = async (owner: Account, name: string) => (await usesOf(owner))[name];

/** Runs `work` in the object of a webhook whose receiver takes nothing yet: of a new one, or of one that exists. */
async function inWebhook<T>(
  owner: Account,
  work: (subject: StubbedSubscriber) => Promise<T>,
  { id, ports = {} }: { readonly id?: string; readonly ports?: Partial<SubscriberPorts> } = {},
): Promise<T> {
  const create = () => owner.api.post<{ webhook: { id: string } }>("/webhooks", WEBHOOK);
  const key = { kind: "webhook", accountId: owner.id, id: id ?? (await create()).data.webhook.id } as const;
  const postponing = (subject: StubbedSubscriber) => {
    subject.outcome = () => ({ type: "postponed", until: subject.now + 1, why: "Not yet" });
    return work(subject);
  };
  return StubbedSubscriber.run(postponing, { key, ports });
}

const enqueue = (subject: StubbedSubscriber, count: number): void =>
  subject.enqueue(Array.from({ length: count }, () => outgoingEvent(0, { occurredAt: subject.now })));

describe("what waits for a webhook", () => {
  it("is reported soon when it is much or nothing any more, and shown", async () => {
    const owner = await account();
    await inWebhook(owner, async (subject) => {
      enqueue(subject, 150);
      await expect.poll(() => useOf(owner, "waiting_events")).toBe(150);
      expect(await useOf(owner, "waiting_bytes")).toBeGreaterThan(150 * 600);
      enqueue(subject, 150);
      subject.advance(5_000);
      await expect.poll(() => useOf(owner, "waiting_events")).toBe(300);
      subject.outcome = () => ({ type: "delivered", attempt: ATTEMPT });
      subject.advance(5_000);
      await expect.poll(() => subject.total("pending")).toBe(0);
      subject.advance(5_000);
      await expect.poll(() => useOf(owner, "waiting_events")).toBe(0);
      expect(await useOf(owner, "waiting_bytes")).toBe(0);
    });
    const rows = env.DB.prepare("SELECT * FROM backlogs WHERE account_id = ?").bind(owner.id);
    expect((await rows.all()).results).toEqual([]);
  });

  it("counts only after a minute when it is little", async () => {
    const owner = await account();
    await inWebhook(owner, async (subject) => {
      enqueue(subject, 3);
      subject.advance(MINUTE_MS - 1);
      expect(await useOf(owner, "waiting_events")).toBe(0);
      subject.advance(1);
      await expect.poll(() => useOf(owner, "waiting_events")).toBe(3);
    });
  });

  it("is that of the organization, and goes with the webhook", async () => {
    const owner = await account();
    await inWebhook(owner, async (first) => {
      enqueue(first, 100);
      await expect.poll(() => useOf(owner, "waiting_events")).toBe(100);
      await owner.api.delete(`/webhooks/${first.key.id}`);
      expect(await useOf(owner, "waiting_events")).toBe(0);
      first.open();
      enqueue(first, 100); // a late one, until the object finds out
      await expect
        .poll(() => new DeliveryStore(first.state.storage).readFact("waiting"))
        .toContain('"events":100');
      expect(await useOf(owner, "waiting_events")).toBe(0);
    });
  });

  it("is reported again, and no failure is logged, while the organization is moved or restored", async () => {
    const owner = await account();
    const reports: Promise<unknown>[] = [];
    const reportBacklogSize: SubscriberPorts["reportBacklogSize"] = (...report) => {
      reports.push(subscriberPorts(env).reportBacklogSize(...report));
      return reports.at(-1) as ReturnType<SubscriberPorts["reportBacklogSize"]>;
    };
    const work = async (subject: StubbedSubscriber) => {
      await env.DB.prepare("INSERT INTO fences (account_id, fencing_token) VALUES (?, 1)")
        .bind(owner.id)
        .run();
      enqueue(subject, 100);
      await expect(reports[0]).rejects.toMatchObject({ code: "RATE_LIMITED" });
      expect(await useOf(owner, "waiting_events")).toBe(0);
      await env.DB.prepare("DELETE FROM fences WHERE account_id = ?").bind(owner.id).run();
      subject.advance(5_000);
      await expect.poll(() => useOf(owner, "waiting_events")).toBe(100);
    };
    await inWebhook(owner, work, { ports: { reportBacklogSize } });
  });
});

describe("the quota of waiting events, used up,", () => {
  it("suspends the webhook that lags most and no other, and refuses new ones until there is room", async () => {
    const owner = await account();
    await setLimit(owner, "waiting_events", 250);
    const small = await inWebhook(owner, async (subject) => {
      enqueue(subject, 100);
      await expect.poll(() => useOf(owner, "waiting_events")).toBe(100);
      return subject.key.id;
    });
    await inWebhook(owner, async (large) => {
      enqueue(large, 200);
      await expect.poll(() => large.suspensions).toBe(1);
      expect(large.total("pending")).toBe(200);
    });
    const again = async (subject: StubbedSubscriber) => {
      enqueue(subject, 1);
      subject.advance(MINUTE_MS);
      await expect.poll(() => useOf(owner, "waiting_events")).toBe(301);
      expect(subject.suspensions).toBe(0);
    };
    await inWebhook(owner, again, { id: small });
    for (const [path, body] of [
      ["/webhooks", WEBHOOK],
      ["/workflows", { name: "A workflow", code: "export default () => 1;", events: ["session.started"] }],
    ] as const) {
      const { status, error } = await owner.api.post(path, body);
      expect([status, error?.code]).toEqual([403, "FORBIDDEN"]);
      expect(error?.message).toMatch(
        /^The quota waiting_events is exceeded: 301 of 250 are used; make the webhooks/,
      );
    }
    await setLimit(owner, "waiting_events", 301);
    expect((await owner.api.post("/webhooks", WEBHOOK)).status).toBe(201);
  });

  it("suspends one that lags and receives nothing more, once others have used up the rest", async () => {
    const owner = await account();
    await setLimit(owner, "waiting_events", 250);
    const first = await inWebhook(owner, async (subject) => {
      enqueue(subject, 200);
      await expect.poll(() => useOf(owner, "waiting_events")).toBe(200);
      return subject.key.id;
    });
    await inWebhook(owner, async (other) => {
      enqueue(other, 100);
      await expect.poll(() => useOf(owner, "waiting_events")).toBe(300);
    });
    const later = async (subject: StubbedSubscriber) => {
      subject.advance(60 * MINUTE_MS);
      await expect.poll(() => subject.suspensions).toBe(1);
    };
    await inWebhook(owner, later, { id: first });
  });

  it("by bytes alone does the same", async () => {
    const owner = await account();
    await setLimit(owner, "waiting_bytes", 50_000);
    await inWebhook(owner, async (subject) => {
      enqueue(subject, 100);
      await expect.poll(() => subject.suspensions).toBe(1);
    });
    const refused = await owner.api.post("/webhooks", WEBHOOK);
    expect(refused.error).toMatchObject({ message: expect.stringMatching(/^The quota waiting_bytes /) });
  });
});

describe("at the limit", () => {
  const backlogs = fc.array(
    fc.record({ events: fc.integer({ min: 1, max: 1_000 }), bytes: fc.constant(0) }),
    {
      minLength: 1,
      maxLength: 50,
    },
  );
  const sharesOf = (all: readonly BacklogSize[], limit: number) => {
    const used = all.reduce((sum, { events }) => sum + events, 0);
    const altogether = {
      ...{ events: { used, limit }, bytes: { used: 0, limit: 1 } },
      subscribers: all.length,
    };
    return all.map((waiting) => quotaShare(waiting, altogether));
  };

  it("at least one gives way, and none that has less than an equal part of it", () => {
    fc.assert(
      fc.property(backlogs, fc.integer({ min: 1, max: 50_000 }), (all, limit) => {
        const shares = sharesOf(all, limit);
        const used = all.reduce((sum, { events }) => sum + events, 0);
        expect(shares.some((share) => share >= 1)).toBe(used >= limit);
        for (const [index, { events }] of all.entries())
          if (events * all.length < limit) expect(shares[index]).toBeLessThan(1);
      }),
    );
  });

  it("nothing may wait where the limit is 0", () => {
    expect(sharesOf([{ events: 1, bytes: 0 }], 0)).toEqual([1]);
  });
});

describe("a report is due", () => {
  const report = (waiting: BacklogSize | null) => ({ at: START, waiting, altogether: null });
  const backlog = (deliveries: number, ageMs = 0, bytes = 0) => ({
    ...{ deliveries, bytes, oldestAt: deliveries === 0 ? null : START - ageMs },
  });
  const NOTHING = { events: 0, bytes: 0 };
  const dueIn = (waiting: BacklogSize | null, now: ReturnType<typeof backlog>) => {
    const dueAt = reportDueAt(report(waiting), now, START);
    return dueAt === null ? null : dueAt - START;
  };

  it.each([
    ["never while nothing waits", NOTHING, backlog(0), null],
    ["when little has waited for a minute", NOTHING, backlog(1, 10_000), MINUTE_MS - 10_000],
    ["soon for a hundred events", NOTHING, backlog(100), 5_000],
    ["soon for a MiB", NOTHING, backlog(1, 0, 1024 ** 2), 5_000],
    ["soon when nothing waits any more", { events: 1, bytes: 1 }, backlog(0), 5_000],
    ["within a minute for a small change", { events: 150, bytes: 0 }, backlog(151), MINUTE_MS],
    ["soon when what was reported is not known", null, backlog(0), 5_000],
    ["within an hour while as much waits", { events: 150, bytes: 0 }, backlog(150), 60 * MINUTE_MS],
  ])("%s", (_, reported, now, expected) => {
    expect(dueIn(reported, now)).toBe(expected);
  });
});
