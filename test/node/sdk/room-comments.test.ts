/** The one copy of a room's comments and threads that components read. */
import { isDeepStrictEqual } from "node:util";
import type { ThreadFilter } from "@atrium/contract/operations/threads.ts";
import { Atrium, type AtriumClient, AtriumError, type Comment } from "atrium/client";
import { beforeAll, expect, it, onTestFinished } from "vitest";
import { commentCacheOf } from "../../../packages/sdk/react/room-comments.ts";
import { openSettings } from "../../../packages/sdk/react/thread-sources.ts";
import { type Random, randomOf } from "../../support/random.ts";
import { eventually } from "../cli/processes.ts";
import { type SharedService, sharedService } from "../cli/shared-service.ts";
import { clientOf, EAGER, join, type Meeting, meet } from "./clients.ts";
import { ModelClient, settle } from "./model/model-client.ts";
import { ModelRoom } from "./model/model-room.ts";
import { BreakableProxy } from "./proxy.ts";

let service: SharedService;
let meeting: Meeting;

beforeAll(async () => {
  service = await sharedService();
});

/** A runtime that notes the types of the requests that are sent, and may change them. */
function noting(change: (frame: string) => string = (frame) => frame) {
  const sent: string[] = [];
  const open = (url: string, protocols?: string[]): WebSocket => {
    const socket = EAGER.open(url, protocols);
    const send = socket.send.bind(socket);
    socket.send = (frame: string) => {
      sent.push(Object(frame.startsWith("{") ? JSON.parse(frame) : {}).type);
      send(change(frame));
    };
    return socket;
  };
  const count = (type: string) => sent.filter((each) => each === type).length;
  return { runtime: { ...EAGER, open }, count };
}

const READS = ["COMMENT_LIST", "THREAD_LIST", "THREAD_GET", "SUBSCRIPTION_SETTINGS"];

/** Uses something until the test ends, or until the returned function is called. */
function use(part: { readonly source: { subscribe(listener: () => void): () => void } }): () => void {
  const stop = part.source.subscribe(() => {});
  onTestFinished(stop);
  return stop;
}

async function newUser({ runtime }: ReturnType<typeof noting>): Promise<AtriumClient> {
  const user = await meeting.customer.createUser(meeting.roomId, "Ada");
  return clientOf(user, { serverUrl: service.url }, runtime);
}

it("applies the comments that arrive, and reads nothing again when a component comes back", async () => {
  meeting = await meet(service);
  const bo = await join(meeting, "Bo");
  await Promise.all(Array.from({ length: 130 }, (_, index) => bo.comments.create({ text: `${index}` })));
  const noted = noting();
  const ada = await newUser(noted);
  const { threads } = commentCacheOf(ada);
  const comments = commentCacheOf(ada).comments();
  const [all, unread] = [threads.list({}), threads.list({ unread: true })];
  use(all.part);
  use(unread.part);
  const close = use(comments);
  await ada.join();
  const read = () => [all.part, unread.part].map(({ source }) => source.read().total);
  await eventually(
    "everything is loaded",
    () => `${[...read(), comments.source.read().length]}` === "130,130,130",
  );
  const before = READS.map(noted.count);
  expect(before).toEqual([2, 2, 0, 1]);
  close();
  for (let number = 0; number < 20; number += 1) await bo.comments.create({ text: `n${number}` });
  use(comments);
  await eventually(
    "the new comments",
    () => `${[...read(), comments.source.read().length]}` === "150,150,150",
  );
  expect(comments.source.read().slice(-20)).toEqual((await ada.comments.list({ offset: 130 })).comments);
  expect(all.part.source.read().threads).toEqual((await ada.comments.threads()).threads);
  expect(READS.map(noted.count)).toEqual([3, 3, 0, 1]); // the counts include this test's own reads
});

it("reads the comments of hundreds of threads as one list, and each thread", async () => {
  meeting = await meet(service);
  const bo = await join(meeting, "Bo");
  const written = await Promise.all(
    Array.from({ length: 250 }, (_, index) => bo.comments.create({ text: `${index}` })),
  );
  const noted = noting();
  const ada = await newUser(noted);
  const room = commentCacheOf(ada);
  const shown = written.map(({ id }) => ({ thread: room.threads.thread(id), comments: room.comments(id) }));
  for (const { thread, comments } of shown) {
    use(thread);
    use(comments);
  }
  use(room.comments());
  await ada.join();
  await eventually("all of them", () =>
    shown.every(({ thread, comments }) => thread.source.read() && comments.source.read().length === 1),
  );
  expect(shown.map(({ comments }) => comments.source.read()[0]?.text)).toEqual(
    written.map(({ text }) => text),
  );
  expect(READS.map(noted.count)).toEqual([3, 0, 250, 0]);
});

it("loads again after an error, when it is asked to and by the next join, and says how it goes", async () => {
  meeting = await meet(service);
  const bo = await join(meeting, "Bo");
  await bo.comments.create({ text: "First" });
  let isBroken = true;
  const noted = noting((frame) => (isBroken ? frame.replace(/"limit":\d+/, '"limit":9999') : frame));
  const ada = await newUser(noted);
  const room = commentCacheOf(ada);
  const parts = [room.comments(), room.threads.list({}).part];
  expect(parts.map(({ state }) => state.read())).toMatchObject(
    parts.map(() => ({ isLoading: true, error: null })),
  );
  const reported: unknown[] = [];
  const { reportError } = globalThis;
  globalThis.reportError = (error) => reported.push(error);
  onTestFinished(() => {
    globalThis.reportError = reportError;
  });
  for (const part of parts) use(part);
  await ada.join();
  const codes = () => parts.map(({ state }) => state.read().error?.code);
  await eventually("both fail", () => codes().every((code) => code === "VALIDATION_ERROR"));
  expect(parts.map(({ state }) => state.read().isLoading)).toEqual([false, false]);
  isBroken = false;
  parts[0]?.state.read().reload();
  await eventually("the comments", () => room.comments().source.read().length === 1);
  expect(codes()).toEqual([undefined, "VALIDATION_ERROR"]);
  ada.disconnect();
  await ada.join();
  await eventually("the list", () => room.threads.list({}).part.source.read().total === 1);
  expect(codes()).toEqual([undefined, undefined]);
});

it("says why nothing is loaded to a component that comes after the connection has failed", async () => {
  const ada = new ModelClient(new ModelRoom(), "ada");
  const reports: unknown[] = [];
  ada.client.on("error", (error) => reports.push(error));
  const joining = ada.client.join();
  await settle();
  ada.socket?.end(4403, "removed");
  await expect(joining).rejects.toMatchObject({ code: "FORBIDDEN" });
  const room = commentCacheOf(ada.client);
  const connection = { whenConnected: () => () => {} };
  const parts = [room.comments(), room.threads.list({}).part, openSettings(ada.client, connection)];
  for (const part of parts) use(part);
  expect(parts.map(({ state }) => state.read())).toMatchObject(
    parts.map(() => ({ isLoading: false, error: { code: "FORBIDDEN", message: "removed" } })),
  );
  expect(reports).toHaveLength(1);
});

it("reports a failure once, however many components wait for the same", async () => {
  meeting = await meet(service);
  const bo = await join(meeting, "Bo");
  const ids = await Promise.all([1, 2, 3].map(async () => (await bo.comments.create({ text: "Look" })).id));
  const ada = await newUser(noting((frame) => frame.replace(/"limit":\d+/, '"limit":9999')));
  const reports: string[] = [];
  ada.on("error", ({ code }) => reports.push(code));
  const room = commentCacheOf(ada);
  const parts = [room.comments(), ...ids.map((id) => room.comments(id))];
  for (const part of parts) use(part);
  await ada.join();
  await eventually("all fail", () => parts.every(({ state }) => state.read().error !== null));
  expect(reports).toEqual(["VALIDATION_ERROR"]);
});

it("keeps settings that are changed at once, and takes back the one that is refused", async () => {
  meeting = await meet(service);
  const ada = await join(meeting, "Ada");
  const connected = (action: () => void) => {
    action();
    return () => {};
  };
  const settings = openSettings(ada, { whenConnected: connected });
  const shown: unknown[] = [];
  onTestFinished(
    settings.source.subscribe(() => {
      const { threads, textMentions } = settings.source.read() ?? {};
      shown.push(`${threads} ${textMentions}`);
    }),
  );
  await eventually("the settings", () => settings.source.read() !== null);
  const changes = [{ threads: "none" }, { textMentions: "none" }] as const;
  await Promise.all(changes.map((change) => settings.actions.update(change)));
  const refused = settings.actions.update({ threads: "some" as "all" });
  expect(settings.source.read()?.threads).toBe("some");
  await expect(refused).rejects.toThrow(AtriumError);
  await ada.comments.settings({ textMentions: "mine" });
  await eventually("the change", () => settings.source.read()?.textMentions === "mine");
  expect(shown.filter((each, index) => each !== shown[index - 1])).toEqual([
    "replies_and_mentions mine",
    "none mine",
    "none none",
    "some none",
    "none none",
    "none mine",
  ]);
});

/** Limit against hanging, after which the difference is shown. */
const SETTLED_MS = 60_000;

const FILTERS: readonly ThreadFilter[] = [
  {},
  { resolved: true },
  { resolved: false },
  { unread: true },
  { unread: false },
  { subscribed: true },
  { subscribed: false },
  { resolved: false, unread: true },
  { unread: true, subscribed: true },
];

/** A user who changes comments at random, and the state that this client shows of them. */
class RandomCommenter {
  readonly client: AtriumClient;
  readonly mentions: { readonly kind: "user"; readonly id: string } | string;
  readonly #room: ReturnType<typeof commentCacheOf>;

  constructor(client: AtriumClient, identityId: string | null) {
    this.client = client;
    this.mentions = identityId === null ? client.userId : { kind: "user", id: identityId };
    this.#room = commentCacheOf(client);
    use(this.#room.comments());
    for (const filter of FILTERS) use(this.#room.threads.list(filter).part);
  }

  /** Waits until the shown state equals the service's. */
  async settle(threadIds: readonly string[]): Promise<void> {
    const { comments } = this.client;
    for (const filter of FILTERS) {
      const { threads, total } = await comments.threads(filter);
      const { source } = this.#room.threads.list(filter).part;
      const want = { threads, total };
      await eventually("the list", () => isDeepStrictEqual(source.read(), want), SETTLED_MS).catch(() =>
        expect({ filter, ...source.read() }).toEqual({ filter, ...want }),
      );
    }
    for (const threadId of threadIds.slice(-5)) {
      const part = this.#room.threads.thread(threadId);
      use(part);
      const thread = await comments.thread({ threadId }).catch(() => null);
      await eventually("the thread", () => isDeepStrictEqual(part.source.read(), thread), SETTLED_MS).catch(
        () => expect(part.source.read()).toEqual(thread),
      );
    }
    const all: Comment[] = [];
    for (let after: number | null | undefined; after !== null; ) {
      const page = await comments.list({ limit: 100, after });
      all.push(...page.comments);
      after = page.next;
    }
    const { source } = this.#room.comments();
    await eventually("the comments", () => isDeepStrictEqual(source.read(), all));
  }

  /** Changes something. Comments that others deleted meanwhile are not found. */
  async act(random: Random, known: readonly Comment[], other: RandomCommenter): Promise<void> {
    const { comments } = this.client;
    const { threads } = this.#room;
    const any = known[random(known.length)];
    const mine = known.filter(({ user_id }) => user_id === this.client.userId);
    const own = mine[random(Math.max(1, mine.length))];
    const mentions = random(3) === 0 ? [other.mentions] : [];
    const threadId = any?.thread_id;
    const act = random(12);
    if (act === 0 || any === undefined || threadId === undefined)
      await comments.create({ text: "new", mentions });
    else if (act < 4) await comments.create({ text: "reply", threadId, mentions });
    else if (act === 4) await comments.resolve({ commentId: any.id, resolved: random(2) === 0 });
    else if (act === 5) await comments.react({ commentId: any.id, reaction: "👍", on: random(2) === 0 });
    else if (act === 6) await threads.markAsRead(threadId);
    else if (act === 7) await threads.markAsRead(threadId, random(200));
    else if (act === 8) await comments.subscribe({ threadId, on: random(2) === 0 });
    else if (act === 9 && own) await comments.update({ commentId: own.id, text: "edited", mentions });
    else if (act === 10 && own) await comments.delete({ commentId: own.id });
    else if (act === 11 && random(6) === 0)
      await comments.settings({
        threads: (["all", "none", "replies_and_mentions"] as const)[random(3)] ?? "all",
      });
  }
}

interface Account {
  readonly token: string;
  readonly identityId: string | null;
}

/** A person with an identity who may write in the room. */
async function identify(name: string): Promise<Account> {
  const { customer, roomId } = meeting;
  const { data } = await customer.send<{ identity: { id: string }; token: string }>("POST", "/identify", {
    ...{ customId: `${name}-${roomId}`, name },
  });
  const identitiesAccesses = { [data.identity.id]: ["*:write"] };
  await customer.send("PUT", `/rooms/${roomId}/access`, { identitiesAccesses });
  return { token: data.token, identityId: data.identity.id };
}

/** Joins as a person, on a further device if the person has joined before. */
async function enter({ token, identityId }: Account, serverUrl: string): Promise<RandomCommenter> {
  const options = { serverUrl, authToken: token };
  const client =
    identityId === null
      ? clientOf({ token }, { serverUrl })
      : (new Atrium(options, EAGER).enterRoom(meeting.roomId) as AtriumClient);
  onTestFinished(() => client.disconnect());
  await client.join();
  return new RandomCommenter(client, identityId);
}

/** Later seeds begin with more threads than a list shows at first, and odd ones are of people with identities. */
it.each([0, 1, 2, 3])(
  "shows what the service lists, whatever two people do on three devices and whenever these are cut off (seed %i)",
  async (seed) => {
    meeting = await meet(service);
    const random = randomOf(seed + 1);
    const known = new Map<string, Comment>();
    const put = (comment: Comment) => known.set(comment.id, comment);
    const cleo = await join(meeting, "Cleo");
    cleo.comments.on("created", put);
    cleo.comments.on("updated", put);
    cleo.comments.on("deleted", ({ id }) => known.delete(id));
    const earlier = Array.from({ length: seed % 4 > 1 ? 70 : 0 }, () => ({ text: "earlier" }));
    await Promise.all(earlier.map((comment) => cleo.comments.create(comment)));
    const proxy = await BreakableProxy.before(service);
    onTestFinished(() => proxy.close());
    const account = async (name: string): Promise<Account> => {
      if (seed % 2 === 1) return identify(name);
      const { token } = await meeting.customer.createUser(meeting.roomId, name);
      return { token, identityId: null };
    };
    const [ofAda, ofBo] = [await account("Ada"), await account("Bo")];
    const ada = await enter(ofAda, proxy.url);
    const phone = await enter(ofAda, proxy.url);
    const bo = await enter(ofBo, proxy.url);
    for (let turn = 0; turn < 12; turn += 1) {
      const acts = Array.from({ length: 1 + random(12) }, (_, index) => {
        if (turn % 3 === 2 && index === 3) proxy.cut();
        const [one, other] = random(2) === 0 ? [random(2) === 0 ? ada : phone, bo] : [bo, ada];
        return one.act(random, [...known.values()], other).catch((error: unknown) => {
          if (!(error instanceof AtriumError && error.code === "NOT_FOUND")) throw error;
        });
      });
      await Promise.all(acts);
      const threads = new Set([...known.values()].map(({ thread_id }) => thread_id));
      for (const person of [ada, phone, bo]) await person.settle([...threads]);
    }
  },
);
