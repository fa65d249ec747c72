/** A webhook that asks for batches: several events in one signed request, in order, with one outcome. */
import { Webhook } from "standardwebhooks";
import { beforeEach, expect, inject, it } from "vitest";
import { RecordingSubscriber } from "../delivery/recording-subscriber.ts";
import { outgoingEvent, TestQueue } from "../delivery/test-queue.ts";
import { type Account, account } from "../support/api.ts";

const { port } = inject("receiver");
const BATCH = { maxEvents: 3, maxWaitMs: 60_000 };

let owner: Account;
let subscriber: RecordingSubscriber;
let queue: TestQueue;

beforeEach(async () => {
  owner = await account();
  subscriber = await RecordingSubscriber.create(owner.api, { behaviour: "fragile" });
  queue = new TestQueue({ kind: "webhook", accountId: owner.id, id: subscriber.webhook.id });
  await queue.inside(() => undefined);
  await setBatch(BATCH);
});

const setBatch = async (batch: typeof BATCH | null) => {
  const answer = await owner.api.patch(`/webhooks/${queue.key.id}`, { batch });
  const shown = batch && { max_events: batch.maxEvents, max_wait_ms: batch.maxWaitMs };
  expect((answer.data as { webhook: { batch?: object } }).webhook.batch ?? null).toEqual(shown);
};

const enqueue = (...numbers: number[]) =>
  queue.enqueue(...numbers.map((number) => outgoingEvent(number, { body: `{"number":${number}}` })));

/** The requests so far: the numbers of their events. The published library makes the same signature of each. */
const requests = async () =>
  (await subscriber.received()).map(({ body, headers }) => {
    const at = new Date(Number(headers["webhook-timestamp"]) * 1_000);
    const signature = new Webhook(subscriber.webhook.secret).sign(headers["webhook-id"] ?? "", at, body);
    expect(headers["webhook-signature"]).toBe(signature);
    const events: { number: number } | { number: number }[] = JSON.parse(body);
    return (Array.isArray(events) ? events : [events]).map(({ number }) => number);
  });

const expectRequests = (...expected: number[][]) => expect.poll(requests).toEqual(expected);

const statuses = async () =>
  (await subscriber.deliveries()).map(({ status, attempts }) => `${status} ${attempts}`);

it("sends what has waited long enough or is enough, in order, one request at a time", async () => {
  await enqueue(0); // the object learns of the limits with the first request
  await expectRequests([0]);
  expect((await subscriber.received())[0]?.body).toBe('[{"number":0}]');
  await subscriber.settled(1);
  await enqueue(1, 2);
  await queue.advance(BATCH.maxWaitMs - 1);
  expect(await requests()).toEqual([[0]]);
  await enqueue(3);
  await expectRequests([0], [1, 2, 3]);
  await subscriber.settled(4);
  await enqueue(4, 5);
  await queue.advance(BATCH.maxWaitMs);
  await expectRequests([0], [1, 2, 3], [4, 5]);
  const [latest] = await subscriber.settled(6);
  expect(latest).toMatchObject({ payload: '{"number":5}', status: "success", log: [{ events: 2 }] });
});

it("a batch that fails is sent again as a whole, with the same id, and later events go on", async () => {
  const name = new URL(subscriber.webhook.url).pathname.split("/").at(-1);
  const steer = (action: "break" | "repair") => fetch(`http://127.0.0.1:${port}/${action}/${name}/now`);
  await enqueue(0);
  await subscriber.settled(1);
  await steer("break");
  await enqueue(1, 2, 3);
  await expect.poll(statuses).toEqual([...Array(3).fill("pending 1"), "success 1"]);
  await steer("repair");
  await enqueue(4, 5, 6);
  await subscriber.settled(4);
  await queue.advance(10_000);
  await expectRequests([0], [1, 2, 3], [4, 5, 6], [1, 2, 3]);
  const ids = (await subscriber.received()).map(({ headers }) => headers["webhook-id"]);
  expect(ids[3]).toBe(ids[1]);
  expect(new Set(ids).size).toBe(3);
  await subscriber.settled(7);
  expect((await statuses()).sort()).toEqual([...Array(4).fill("success 1"), ...Array(3).fill("success 2")]);
});

it("events have requests of their own again when the webhook asks for no batches any more", async () => {
  await enqueue(0);
  await subscriber.settled(1);
  await setBatch(null);
  await enqueue(1, 2, 3);
  await subscriber.settled(4);
  await expectRequests([0], [1], [2], [3]);
  expect((await subscriber.received())[3]?.body).toBe('{"number":3}');
});

it.each([{ maxEvents: 0 }, { maxEvents: 101 }, { maxWaitMs: -1 }, { maxWaitMs: 60_001 }, { maxEvents: 1.5 }])(
  "refuses the limits %j",
  async (wrong) => {
    const answer = await owner.api.patch(`/webhooks/${queue.key.id}`, { batch: { ...BATCH, ...wrong } });
    expect(answer).toMatchObject({ status: 400, error: { code: "VALIDATION_ERROR" } });
  },
);
