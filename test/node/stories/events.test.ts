/** The process is killed at any point of a delivery: events of committed requests are delivered and run, and no others. */
import { globSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Event, EventName } from "@atrium/contract/resources/events.ts";
import type { UserWithToken } from "@atrium/contract/rest/users.ts";
import type { Delivery } from "@atrium/contract/rest/webhook-deliveries.ts";
import type { WebhookWithSecret } from "@atrium/contract/rest/webhooks.ts";
import type { WorkflowExecution } from "@atrium/contract/rest/workflow-executions.ts";
import type { Workflow } from "@atrium/contract/rest/workflows.ts";
import { afterAll, afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { EventHistory } from "../../room/simulation/event-history.ts";
import { type Random, randomOf } from "../../support/random.ts";
import { eventually } from "../cli/processes.ts";
import { killUnderEvents, limitOf } from "../endurance/event-kills.ts";
import { KillableService } from "../endurance/killable-service.ts";
import { Customer, type RoomTab } from "./client.ts";
import { Receiver } from "./receiver.ts";

/** Actors send one request at a time, side by side. */
const ACTORS = 3;
/** The kill follows one of the first requests, by up to this delay. */
const MAX_REQUESTS = 40;
const MAX_LATE_MS = 12;

interface Actor {
  readonly users: { user: UserWithToken; tab: RoomTab | null }[];
}

class RandomTraffic {
  /** The number of successful requests. */
  acknowledged = 0;
  readonly #customer: Customer;
  readonly #roomId: string;
  /** A whole number from 0 below `end`. */
  readonly #draw: Random;
  #names = 0;
  #isDead = false;
  /** Called before each request. */
  #beforeRequest: () => void = () => undefined;
  readonly #actors: readonly Actor[] = Array.from({ length: ACTORS }, () => ({ users: [] }));

  constructor(customer: Customer, roomId: string, seed: number) {
    this.#customer = customer;
    this.#roomId = roomId;
    this.#draw = randomOf(seed);
  }

  /** Sends requests, calls `kill` at a moment that the seed determines, and waits until it has settled. */
  async until(kill: () => Promise<void>): Promise<void> {
    this.#isDead = false;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let left = 1 + this.#draw(MAX_REQUESTS);
    const lateMs = this.#draw(MAX_LATE_MS);
    this.#beforeRequest = () => {
      left -= 1;
      if (left !== 0) return;
      setTimeout(() => {
        this.#isDead = true;
        kill().then(resolve, reject);
      }, lateMs);
    };
    await Promise.all([promise, ...this.#actors.map((actor) => this.#act(actor))]);
    for (const { users } of this.#actors) for (const each of users) each.tab = null;
  }

  async #act(actor: Actor): Promise<void> {
    while (!this.#isDead) {
      this.#beforeRequest();
      const step = this.#step(actor);
      // The service may be killed before it answers: then the request may or may not have taken effect.
      await step.catch((error: unknown) => {
        if (!this.#isDead) throw error;
      });
    }
  }

  async #step(actor: Actor): Promise<void> {
    const index = this.#draw(actor.users.length + 1);
    const chosen = actor.users[index];
    if (chosen === undefined) {
      const user = await this.#customer.createUser(this.#roomId, this.#newName());
      this.acknowledged += 1;
      actor.users.push({ user, tab: null });
      return;
    }
    const path = `/users/${chosen.user.id}?roomId=${this.#roomId}`;
    const choice = this.#draw(8);
    if (choice === 0) {
      actor.users.splice(index, 1);
      await this.#customer.send("DELETE", path);
    } else if (choice <= 2) await this.#customer.send("PATCH", path, { name: this.#newName() });
    else if (chosen.tab === null) chosen.tab = await this.#customer.join(chosen.user);
    else {
      chosen.tab.send("LEAVE_ROOM");
      await chosen.tab.closed;
      chosen.tab = null;
    }
    this.acknowledged += 1;
  }

  #newName(): string {
    this.#names += 1;
    return `Name ${this.#names}`;
  }

  /** How `events` differ from the state that the service reports; null when they match it. */
  async findGap(events: readonly Event[]): Promise<string | null> {
    const { data } = await this.#customer.send<{ users: UserWithToken[]; total: number }>(
      "GET",
      `/users?roomId=${this.#roomId}&limit=100`,
    );
    if (data.total > data.users.length) throw new Error("There are too many users to compare");
    const gap = findUserGap(events, data.users);
    if (gap !== null) return gap;
    const history = new EventHistory();
    for (const event of events) if (isOfLiveRoom(event)) history.add(JSON.stringify(event));
    if (history.online.size > 0 || history.hasSession) return "a participant has not left";
    for (const user of data.users) {
      const { sessions } = await this.#customer.getUser(user);
      const ids = sessions.map(({ id }) => id).sort();
      for (const name of ["participant.joined", "participant.left"] as const) {
        const reported = events.flatMap(({ event, data: content }) =>
          event === name && "sessionId" in content && "userId" in content && content.userId === user.id
            ? [content.sessionId]
            : [],
        );
        if (reported.sort().join() !== ids.join())
          return `${name} of ${user.name}: ${reported} instead of ${ids}`;
      }
    }
    return null;
  }
}

/** Events of users, files and the room itself are recorded where REST writes them. */
const isOfLiveRoom = ({ event }: Event): boolean => /^(participant|session)\./.test(event);

/** The existing users must be those that were created and not deleted, under a name that an event reported. */
function findUserGap(events: readonly Event[], users: readonly UserWithToken[]): string | null {
  const names = new Map<string, Set<string>>();
  const deleted = new Set<string>();
  for (const event of events) {
    if (event.event === "user.created") names.set(event.user.id, new Set([event.user.name]));
    if (event.event === "user.updated") names.get(event.user.id)?.add(event.user.name);
    if (event.event === "user.deleted") deleted.add(event.user.id);
  }
  const reported = [...names.keys()].filter((id) => !deleted.has(id)).sort();
  const real = users.map(({ id }) => id).sort();
  if (reported.join() !== real.join()) return `users: ${reported} instead of ${real}`;
  const unnamed = users.find(({ id, name }) => !names.get(id)?.has(name));
  return unnamed === undefined ? null : `no event reported the name ${unnamed.name}`;
}

const { seed, kills, events: eventCount } = inject("endurance");
const KILLS_PER_ROUND = 5;
const rounds = Math.ceil(kills / KILLS_PER_ROUND);
/** Limits for the start and for each round; the cron trigger leaves outbox rows to their request for 15 s. */
const [START_MS, ROUND_MS] = [60_000, 90_000];

let receiver: Receiver;
let customer: Customer;
let roomId: string;
let webhookId: string;
let workflowId: string;

const service = await KillableService.prepare();

afterAll(() => service.dispose());

/** Creates a room with a webhook and a workflow that subscribe to all of its events. */
async function prepareRoom(): Promise<void> {
  roomId = (await customer.createRoom()).id;
  const body = { url: receiver.url, events: EventName.options, roomId };
  const { data } = await customer.send<{ webhook: WebhookWithSecret }>("POST", "/webhooks", body);
  webhookId = data.webhook.id;
  const workflow = { name: "A", code: "export default ({ id }) => id;", events: EventName.options, roomId };
  const created = await customer.send<{ workflow: Workflow }>("POST", "/workflows", workflow);
  workflowId = created.data.workflow.id;
}

beforeEach(async () => {
  receiver = await Receiver.start();
  customer = new Customer(service, service.organization);
  await prepareRoom();
  return () => receiver.stop();
});

const deliveries = async () =>
  (await customer.send<{ deliveries: Delivery[] }>("GET", `/webhooks/${webhookId}/deliveries`)).data
    .deliveries;

/** Events in the log of the room, or of all rooms, oldest first. */
async function readLog(path: string): Promise<Event[]> {
  const events: Event[] = [];
  type LogPage = { readonly events: Event[]; readonly cursor: string; readonly has_more: boolean };
  for (let after = ""; ; ) {
    const { data } = await customer.send<LogPage>("GET", `${path}?limit=100${after}`);
    events.push(...data.events);
    if (!data.has_more) return events;
    after = `&after=${data.cursor}`;
  }
}

/** All finished runs of the workflow. */
async function executions(): Promise<WorkflowExecution[]> {
  const all: WorkflowExecution[] = [];
  for (let total = 1; all.length < total; ) {
    const path = `/workflows/${workflowId}/executions?limit=100&offset=${all.length}`;
    const { data } = await customer.send<{ executions: WorkflowExecution[]; total: number }>("GET", path);
    all.push(...data.executions);
    total = data.total;
  }
  return all;
}

/**
 * Expects one run per event: one that succeeded, or one recorded as interrupted. A kill between the hand-overs to two
 * subscribers leaves the second one to the cron trigger.
 */
async function expectRunOnce(events: readonly Event[]): Promise<void> {
  await eventually(
    "every event has a run",
    async () => {
      await service.runScheduled();
      return (await executions()).length >= events.length;
    },
    ROUND_MS,
  );
  const runs = await executions();
  const succeeded = runs.flatMap(({ status, result }) =>
    status === "success" ? [String(JSON.parse(result))] : [],
  );
  const interrupted = runs.filter(({ result }) => result.startsWith("The run was interrupted"));
  expect(succeeded.length + interrupted.length).toBe(events.length);
  const ids = new Set(events.map(({ id }) => id));
  expect(succeeded.filter((id) => !ids.has(id))).toEqual([]);
  expect(new Set(succeeded).size).toBe(succeeded.length);
  console.log(`${succeeded.length} runs succeeded, ${interrupted.length} were interrupted`);
}

it("an event whose response was lost is sent again with the same ID", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  receiver.onArrival = () => {
    receiver.onArrival = () => undefined;
    return service.kill().then(resolve);
  };
  await customer.createUser(roomId, "Ada").catch(() => undefined);
  await promise;
  await service.start();
  await eventually("the event arrives again", () => receiver.arrivals.length > 1, ROUND_MS);
  const [first, second] = receiver.arrivals;
  expect(second?.body).toBe(first?.body);
  expect(second?.headers["webhook-id"]).toBe(first?.event.id);
  await eventually("the delivery is over", async () => (await deliveries())[0]?.status === "success");
  expect(await deliveries()).toMatchObject([{ payload: first?.body, attempts: 1 }]);
});

it(
  "committed events are delivered in the order of the room and run at most once, whenever the service is killed",
  async () => {
    console.log(`Killing the service ${rounds * KILLS_PER_ROUND} times amid events, with seed ${seed}`);
    for (let round = 0; round < rounds; round += 1) {
      if (round > 0) await prepareRoom();
      const traffic = new RandomTraffic(customer, roomId, seed + round);
      for (let kill = 0; kill < KILLS_PER_ROUND; kill += 1) {
        await traffic.until(() => service.kill());
        await service.start();
      }
      let gap: string | null = "not checked yet";
      const isWhole = async () => {
        await service.runScheduled();
        gap = await traffic.findGap(receiver.events.filter(({ data }) => data.roomId === roomId));
        gap ??= await traffic.findGap(await readLog(`/rooms/${roomId}/events`));
        return gap === null;
      };
      await eventually("all events are delivered", isWhole, ROUND_MS).catch((cause: unknown) => {
        throw new Error(`The events differ from the state: ${gap}`, { cause });
      });
      expect(traffic.acknowledged).toBeGreaterThan(0);
      const ofRoom = receiver.events.filter(({ data }) => data.roomId === roomId);
      const isSubscribed = ({ event }: Event) => event !== "room.created"; // the room was created before the webhook
      const logged = (await readLog(`/rooms/${roomId}/events`)).filter(isSubscribed);
      expect(logged.map(({ id }) => id).sort()).toEqual(ofRoom.map(({ id }) => id).sort());
      await expectRunOnce(ofRoom);
      console.log(
        `${traffic.acknowledged} requests were acknowledged, ${receiver.events.length} events delivered`,
      );
    }
  },
  START_MS + rounds * 2 * ROUND_MS,
);

it(
  "what an unreliable receiver has missed is sent again from the log, which has every event in the order of its room",
  async () => {
    const { events, kills: killed, lost } = await killUnderEvents(service, eventCount, randomOf(seed));
    console.log(`${events} events, ${killed} kills: the receiver had lost ${lost}, and has all of them now`);
  },
  START_MS + limitOf(eventCount),
);

describe("The service is killed while users are online: nothing acknowledged is lost, and no one stays online", () => {
  let recovering: KillableService | undefined;

  afterEach(() => recovering?.dispose());

  /** Lets the time of a room's alarm pass while the service is down. */
  function passAlarm(state: string, roomId: string): void {
    const [file = ""] = globSync("v3/do/*RoomObject/metadata.sqlite", { cwd: state });
    const alarms = new DatabaseSync(path.join(state, file));
    const passing = alarms.prepare("UPDATE _cf_ALARM SET scheduled_time = 1 WHERE actor_name LIKE ?");
    expect(passing.run(`%${roomId}`).changes).toBe(1);
    alarms.close();
  }

  it("a killed room recovers on the next request, or by itself", async () => {
    recovering = await KillableService.prepare();
    const before = new Customer({ url: recovering.url }, recovering.organization);
    const [asked, unasked] = [await before.createRoom(), await before.createRoom()];
    const ada = await before.createUser(asked.id, "Ada");
    const ben = await before.createUser(unasked.id, "Ben");
    const tabs = [await before.join(ada), await before.join(ada), await before.join(ben)];
    for (const tab of tabs) expect(tab.messages[0]?.success).toBe(true);
    const copied = async (customer: Customer, roomId: string, count: number) =>
      (await customer.listedRoom(roomId))?.active_participants === count;
    await eventually(
      "the lists of rooms are up to date",
      async () => (await copied(before, asked.id, 1)) && copied(before, unasked.id, 1),
    );

    await recovering.kill();
    passAlarm(recovering.state, unasked.id);
    await recovering.start();
    const after = new Customer(recovering, recovering.organization);
    expect((await after.getRoom(asked.id)).room.active_participants).toBe(0);
    const { user, sessions } = await after.getUser(ada);
    expect(user).toMatchObject({ id: ada.id, token: ada.token, status: "offline" });
    expect(sessions).toHaveLength(1);
    expect(Date.parse(sessions[0]?.left_at ?? "")).toBeGreaterThanOrEqual(
      Date.parse(sessions[0]?.joined_at ?? ""),
    );
    const { data } = await after.send("POST", `/rooms/${asked.id}/reconcile`);
    expect(data).toMatchObject({ reconciled_active_participants: 0, room: { active_participants: 0 } });
    expect(await copied(after, asked.id, 0)).toBe(true);

    const again = await after.join(ada);
    expect(again.messages[0]).toMatchObject({ success: true, data: { user: { id: ada.id } } });
    expect((await after.getUser(ada)).sessions).toHaveLength(2);

    // No request reaches the other room: its alarm has survived the crash.
    await eventually("the other room recovers", () => copied(after, unasked.id, 0));
  });
});
