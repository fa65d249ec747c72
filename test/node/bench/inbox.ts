/** The inbox bench: how soon a comment is a badge or wakes an agent, a mention of thousands beside others, idle sockets, and revoked access. */
import { once } from "node:events";
import type { RawData, WebSocket } from "ws";
import { CommandError } from "../../../src/cli/process/command.ts";
import { sleep } from "../../../src/platform/flow/concurrency.ts";
import { PING, PONG } from "../../../src/room/protocol/protocol.ts";
import { type Caller, callerOf, inGroups, join, numbers, percentile } from "./live.ts";
import { Organization } from "./organization.ts";
import { measureParts, reportOf } from "./parts.ts";
import type { Section } from "./room/turns.ts";
import type { Bench, BenchOptions } from "./run.ts";
import { type Served, serving } from "./serve.ts";
import { count, ratio, table } from "./table.ts";

const [COMMENTS, RECIPIENTS, SAMPLED, SOCKETS, ROUNDS, AT_ONCE] = [500, 10_000, 101, 1_000, 50, 50];
/** Mentions of an agent while a group is notified. */
const COMMENTS_BESIDE = 20;
/** An object leaves memory after 10 s without a call. */
const IDLE_MS = 15_000;
const PROBE_EVERY_MS = 25;
const CONTROL_MS = 10_000;
/** Each poll holds the service up as well. */
const POLL_MS = 1_000;
const MENTION_LIMIT_MS = 300_000;
const GOALS = { badgeP50: 100, badgeP99: 1_000, wakeP95: 1_000, mention: 30_000, others: 1.2 };

export const bench: Bench = {
  parts: ["badge", "wake", "mention", "idle", "canary"],
  run: (options) =>
    serving(["inboxes"], options.stop, async (served) =>
      reportOf(await measureParts({ badge, wake, mention, idle, canary }, served, options)),
    ),
};

interface Stage {
  readonly origin: string;
  readonly organization: Organization;
  readonly call: Caller;
}

async function stage({ origin: originOf, db }: Served): Promise<Stage> {
  const origin = originOf("inboxes");
  const organization = await Organization.create(db, origin);
  return { origin, organization, call: callerOf(origin, organization) };
}

interface Person {
  readonly id: string;
  readonly token: string;
}

async function identify({ call }: Stage, name: string): Promise<Person> {
  const named = { customId: crypto.randomUUID(), name };
  const { identity, token } = await call<{ identity: { id: string }; token: string }>(
    "POST",
    "/identify",
    named,
  );
  return { id: identity.id, token };
}

const inboxOf = ({ id }: Person): string => `inbox/socket?identity=${id}`;
const roomSocketOf = (roomId: string): string => `rooms/${roomId}/socket`;
const met = (holds: boolean): string => (holds ? "met" : "not met");
const ms = (value: number): string => value.toFixed(1);

interface Frame {
  readonly event?: string;
  readonly data?: { readonly comment?: { readonly id: string } };
}

async function nextFrame(socket: WebSocket, isWanted: (frame: Frame) => boolean): Promise<Frame> {
  for (;;) {
    const [data] = (await once(socket, "message")) as [RawData];
    const frame = JSON.parse(String(data)) as Frame;
    if (isWanted(frame)) return frame;
  }
}

/** When the next frame with this event arrives. */
async function nextEvent(socket: WebSocket, event: string): Promise<number> {
  await nextFrame(socket, (frame) => frame.event === event);
  return performance.now();
}

async function badge(served: Served, { stop }: BenchOptions): Promise<Section> {
  const at = await stage(served);
  const { origin, organization } = at;
  const [ada, ben, roomId] = [
    await identify(at, "Ada"),
    await identify(at, "Ben"),
    await organization.createRoom("Plan"),
  ];
  await at.call("PUT", `/rooms/${roomId}/access`, { defaultAccesses: "editor" });
  const author = await join(origin, organization, roomSocketOf(roomId), ada.token);
  const member = await join(origin, organization, roomSocketOf(roomId), ben.token);
  const inbox = await join(origin, organization, inboxOf(ben), ben.token);
  const [inRoom, inInbox]: [number[], number[]] = [[], []];
  for (const comment of numbers(COMMENTS)) {
    stop.throwIfAborted();
    const mentions = [{ kind: "user", id: ben.id }];
    const arrivals = Promise.all([
      nextEvent(member.socket, "commentCreated"),
      nextEvent(inbox.socket, "inboxNotification"),
    ]);
    const sentAt = performance.now();
    author.socket.send(
      JSON.stringify({ type: "COMMENT_CREATE", data: { text: `Comment ${comment}`, mentions } }),
    );
    const [room, shown] = await arrivals;
    inRoom.push(room - sentAt);
    inInbox.push(shown - sentAt);
  }
  const row = (name: string, values: readonly number[]) => [
    name,
    ms(percentile(values, 0.5)),
    ms(percentile(values, 0.99)),
  ];
  const [p50, p99] = [percentile(inInbox, 0.5), percentile(inInbox, 0.99)];
  const rows = [
    row("in the room's event (control)", inRoom),
    row("in the inbox of an online reader", inInbox),
  ];
  const verdict = `At most ${GOALS.badgeP50} ms (p50) and ${GOALS.badgeP99} ms (p99): ${met(p50 <= GOALS.badgeP50 && p99 <= GOALS.badgeP99)}.`;
  return {
    markdown: [table([`${count(COMMENTS)} comments with a mention`, "p50 ms", "p99 ms"], rows), verdict].join(
      "\n\n",
    ),
    raw: { inRoom, inInbox },
  };
}

/** Comments that mention an agent, which reads them with the texts of a thread of many comments once its socket says so. */
async function wake(served: Served, { stop }: BenchOptions): Promise<Section> {
  const at = await stage(served);
  const { origin, organization, call } = at;
  const { identity } = await call<{ identity: { id: string } }>("POST", "/identities", {
    ...{ name: "Agent", kind: "agent" },
  });
  const { token } = await call<{ token: string }>("POST", `/identities/${identity.id}/tokens`, {});
  const roomId = await organization.createRoom("Plan");
  await call("PUT", `/rooms/${roomId}/access`, { defaultAccesses: "editor" });
  const ada = await identify(at, "Ada");
  const author = await join(origin, organization, roomSocketOf(roomId), ada.token);
  const agent = await join(origin, organization, inboxOf({ id: identity.id, token }), token);
  const first = nextFrame(author.socket, (frame) => frame.data?.comment !== undefined);
  const send = (data: object) => author.socket.send(JSON.stringify({ type: "COMMENT_CREATE", data }));
  send({ text: "The first comment" });
  const threadId = (await first).data?.comment?.id;
  const own = callerOf(origin, organization, token);
  const read = (after: string) => own<{ cursor: string }>("GET", `/me/mentions?after=${after}`);
  let { cursor } = await read("now");
  const measure = async (comments: number) => {
    const times: number[] = [];
    for (const comment of numbers(comments)) {
      stop.throwIfAborted();
      const mentioned = nextEvent(agent.socket, "mentioned");
      const sentAt = performance.now();
      send({ text: `Comment ${comment}`, threadId, mentions: [{ kind: "user", id: identity.id }] });
      await mentioned;
      ({ cursor } = await read(cursor));
      times.push(performance.now() - sentAt);
    }
    return times;
  };
  const alone = await measure(COMMENTS);
  const { groupId } = await makeGroup(at, served);
  const userId = await organization.createUserId("Ben", roomId);
  const mentions = [{ kind: "group", id: groupId }];
  await call("POST", `/rooms/${roomId}/comments`, { userId, text: "All of you", threadId, mentions });
  const beside = await measure(COMMENTS_BESIDE);
  const head = [
    "Mentions of an agent, read with the thread's text after its socket says so",
    "p50 ms",
    "p95 ms",
  ];
  const isMet = [alone, beside].every((times) => percentile(times, 0.95) <= GOALS.wakeP95);
  const verdict = `At most ${GOALS.wakeP95} ms (p95): ${met(isMet)}.`;
  const rows = [
    [`${count(COMMENTS)} alone`, alone] as const,
    [`${COMMENTS_BESIDE} while ${count(RECIPIENTS)} people are notified in the thread`, beside] as const,
  ].map(([name, times]) => [name, ms(percentile(times, 0.5)), ms(percentile(times, 0.95))]);
  return { markdown: [table(head, rows), verdict].join("\n\n"), raw: { alone, beside } };
}

/** Requests a room every 25 ms until it shall stop: how long each took from when it was due. */
async function probe(call: Caller, roomId: string, isOver: () => boolean): Promise<number[]> {
  const [times, running]: [number[], Promise<unknown>[]] = [[], []];
  const startedAt = performance.now();
  for (let request = 0; !isOver(); request += 1) {
    const due = startedAt + request * PROBE_EVERY_MS;
    await sleep(Math.max(0, due - performance.now()));
    running.push(call("GET", `/rooms/${roomId}`).then(() => times.push(performance.now() - due)));
  }
  await Promise.all(running);
  return times;
}

/** A group of new identities. */
async function makeGroup({ call, organization: { accountId } }: Stage, { db }: Served) {
  const { group } = await call<{ group: { id: string } }>("POST", "/groups", { name: "Everyone" });
  const members = numbers(RECIPIENTS).map(() => crypto.randomUUID());
  const json = JSON.stringify(members);
  await db
    .prepare(
      `INSERT INTO identities (account_id, id, name, name_folded, kind, created_at)
       SELECT ?, value, value, upper(value), 'user', 0 FROM json_each(?)`,
    )
    .bind(accountId, json)
    .run();
  await db
    .prepare(
      "INSERT INTO group_members (account_id, group_id, identity_id, added_at) SELECT ?, ?, value, 0 FROM json_each(?)",
    )
    .bind(accountId, group.id, json)
    .run();
  return { groupId: group.id, members: members.sort() };
}

type Listed = { readonly notifications: readonly { readonly activities: readonly unknown[] }[] };

async function mention(served: Served, { stop, progress }: BenchOptions): Promise<Section> {
  const at = await stage(served);
  const { call, organization } = at;
  const { groupId, members } = await makeGroup(at, served);
  const [roomId, other] = [await organization.createRoom("All"), await organization.createRoom("Other")];
  await call("PUT", `/rooms/${roomId}/access`, { groupsAccesses: { [groupId]: "viewer" } });
  const userId = await organization.createUserId("Ada", roomId);
  const listed = (id: string) =>
    call<Listed>("GET", `/identities/${id}/inbox-notifications?roomId=${roomId}`);
  const lastMember = members.at(-1); // members are in the order of delivery
  const runs: { name: string; took: number; control: number[]; beside: number[]; wrong: number }[] = [];
  for (const [turn, name] of ["the first one of all", "inboxes are there already"].entries()) {
    progress(`Mentioning ${count(RECIPIENTS)} people: ${name}`);
    await sleep(IDLE_MS);
    const controlEnd = performance.now() + CONTROL_MS;
    const control = await probe(call, other, () => performance.now() > controlEnd);
    const startedAt = performance.now();
    const mentions = [{ kind: "group", id: groupId }];
    await call("POST", `/rooms/${roomId}/comments`, { userId, text: "All of you", mentions });
    let took = 0;
    const arrived = async () => {
      while ((await listed(lastMember ?? "")).notifications.length <= turn) {
        stop.throwIfAborted();
        if (performance.now() - startedAt > MENTION_LIMIT_MS)
          throw new CommandError("A mention did not arrive");
        await sleep(POLL_MS);
      }
      took = performance.now() - startedAt;
    };
    const [beside] = await Promise.all([probe(call, other, () => took > 0), arrived()]);
    let wrong = 0;
    for (const id of members.filter((_, index) => index % SAMPLED === 0)) {
      const { notifications } = await listed(id);
      const isRight =
        notifications.length === turn + 1 && notifications.every(({ activities }) => activities.length === 1);
      if (!isRight) wrong += 1;
    }
    runs.push({ name, took, control, beside, wrong });
  }
  const p95 = (values: readonly number[]) => percentile(values, 0.95);
  const rows = runs.map(({ name, took, control, beside, wrong }) => [
    name,
    (took / 1000).toFixed(1),
    String(wrong),
    ms(p95(control)),
    ms(p95(beside)),
    ratio(p95(beside) / p95(control)),
    ms(percentile(beside, 1)),
  ]);
  const head = [
    `A mention of ${count(RECIPIENTS)}`,
    "last inbox after s",
    `lost or doubled, of ${Math.ceil(RECIPIENTS / SAMPLED)}`,
    "another room's GET: p95 ms alone",
    "beside it",
    "ratio",
    "longest ms",
  ];
  const verdict = [
    `All inboxes in ${GOALS.mention / 1000} s: ${met(runs.every(({ took }) => took <= GOALS.mention))}.`,
    `None lost or doubled: ${met(runs.every(({ wrong }) => wrong === 0))}.`,
    `Others' p95 at most ${GOALS.others}: ${met(runs.every(({ control, beside }) => p95(beside) <= GOALS.others * p95(control)))}.`,
  ].join(" ");
  return { markdown: [table(head, rows), verdict].join("\n\n"), raw: { runs } };
}

interface Wakes {
  readonly constructed: number;
  readonly messages: number;
  readonly alarms: number;
}

async function idle(served: Served, { progress }: BenchOptions): Promise<Section> {
  const at = await stage(served);
  const { origin, organization, call } = at;
  const people = await inGroups(numbers(SOCKETS), AT_ONCE, (number) => identify(at, `Person ${number}`));
  const joined = await inGroups(people, AT_ONCE, (person) =>
    join(origin, organization, inboxOf(person), person.token),
  );
  const read = async () => (await (await fetch(`${origin}/wakes`)).json()) as Wakes;
  progress(`${count(SOCKETS)} sockets are idle`);
  await sleep(IDLE_MS);
  const before = await read();
  let pongs = 0;
  for (const { socket } of joined)
    socket.on("message", (data) => {
      if (String(data) === PONG) pongs += 1;
    });
  for (let round = 0; round < 3; round += 1) {
    for (const { socket } of joined) socket.send(PING);
    await sleep(IDLE_MS);
  }
  const after = await read();
  const [{ id } = { id: "" }] = people;
  await call("POST", "/inbox-notifications/trigger", { identityId: id, kind: "$check", subjectId: "check" });
  const woken = await read();
  for (const { socket } of joined) socket.terminate();
  const wakes =
    after.constructed + after.messages + after.alarms - before.constructed - before.messages - before.alarms;
  const rows = [[count(pongs), String(wakes), String(woken.constructed - after.constructed)]];
  const head = [`${count(SOCKETS)} idle inbox sockets`, "wakes by pings", "by one notification (control)"];
  return {
    markdown: [
      table(["pings answered", ...head.slice(1)], rows),
      `${head[0]}, no wakes: ${met(wakes === 0 && pongs === 3 * SOCKETS)}.`,
    ].join("\n\n"),
    raw: { before, after, woken, pongs },
  };
}

/** Bytes of the text that a person receives. */
const bytesOf = (texts: readonly string[], canary: string): number =>
  texts.filter((text) => text.includes(canary)).length * canary.length;

async function canary(served: Served, { stop }: BenchOptions): Promise<Section> {
  const at = await stage(served);
  const { origin, organization, call } = at;
  const [before, after] = [
    { list: 0, sockets: 0 },
    { list: 0, sockets: 0, joins: 0 },
  ];
  for (const round of numbers(ROUNDS)) {
    stop.throwIfAborted();
    const [ben, roomId] = [await identify(at, "Ben"), await organization.createRoom(`Room ${round}`)];
    const allow = (access: string | null) =>
      call("PUT", `/rooms/${roomId}/access`, { identitiesAccesses: { [ben.id]: access } });
    await allow("viewer");
    const userId = await organization.createUserId("Ada", roomId);
    const own = callerOf(origin, organization, ben.token);
    const frames: string[] = [];
    const enter = async (path: string) => {
      const { socket } = await join(origin, organization, path, ben.token);
      socket.on("message", (data) => void frames.push(String(data)));
      return socket;
    };
    const sockets = [await enter(inboxOf(ben)), await enter(roomSocketOf(roomId))];
    const text = `canary-${crypto.randomUUID()}`;
    const write = async () => {
      const mentions = [{ kind: "user", id: ben.id }];
      await call("POST", `/rooms/${roomId}/comments`, { userId, text, mentions });
      const own = { identityId: ben.id, roomId, kind: "$canary", subjectId: text, data: { text } };
      await call("POST", "/inbox-notifications/trigger", own);
      await sleep(50);
    };
    const list = async () => JSON.stringify(await own("GET", "/me/inbox-notifications"));
    await write();
    before.list += bytesOf([await list()], text);
    before.sockets += bytesOf(frames, text);
    await allow(null);
    frames.length = 0;
    await write();
    after.list += bytesOf([await list()], text);
    sockets.push(await enter(inboxOf(ben)));
    const entered = await enter(roomSocketOf(roomId)).catch(() => null);
    if (entered !== null) after.joins += 1;
    await write();
    after.sockets += bytesOf(frames, text);
    for (const socket of sockets) socket.terminate();
  }
  const rows = [
    ["before, bytes (control)", count(before.list), count(before.sockets), "-"],
    ["after the answer, bytes", count(after.list), count(after.sockets), String(after.joins)],
  ];
  const head = [`${ROUNDS} revocations`, "inbox list", "sockets of room and inbox", "joins of the room"];
  const isMet = after.list + after.sockets + after.joins === 0 && before.list > 0 && before.sockets > 0;
  return {
    markdown: [table(head, rows), `No byte after a revocation: ${met(isMet)}.`].join("\n\n"),
    raw: { before, after },
  };
}
