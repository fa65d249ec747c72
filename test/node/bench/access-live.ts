/**
 * Identities on live sockets: the cost of their joins beside those of users, and the delay until a change ends
 * their access.
 */
import { callerOf, inGroups, join, numbers, percentile } from "./live.ts";
import { Organization } from "./organization.ts";
import type { Section } from "./room/turns.ts";
import type { BenchOptions } from "./run.ts";
import type { Served } from "./serve.ts";
import { count, ratio, table } from "./table.ts";

const [ROOMS, JOINS, AT_ONCE, TURNS] = [1_000, 1_000, 50, 3];
/** The goals, in milliseconds where it is not a ratio. */
const GOALS = { joinRatio: 1.2, joins: 10_000, p99: 10_000, longest: 60_000 };

interface Timed {
  readonly p95: number;
  readonly totalMs: number;
}

/** Joins of one room with these tokens: how long each took, and all together. */
async function timeJoins(
  origin: string,
  organization: Organization,
  roomId: string,
  tokens: readonly string[],
) {
  const startedAt = performance.now();
  const joined = await inGroups(tokens, AT_ONCE, (token) =>
    join(origin, organization, `rooms/${roomId}/socket`, token),
  );
  const totalMs = performance.now() - startedAt;
  for (const { socket } of joined) socket.close();
  await Promise.all(joined.map(({ closed }) => closed));
  return {
    p95: percentile(
      joined.map(({ ms }) => ms),
      0.95,
    ),
    totalMs,
  };
}

export async function measureLive(
  { origin: originOf, db }: Served,
  { progress }: BenchOptions,
): Promise<Section> {
  const origin = originOf("fleet");
  const organization = await Organization.create(db, origin);
  const call = callerOf(origin, organization);
  const identify = (customId: string, groups: readonly string[]) =>
    call<{ identity: { id: string }; token: string }>("POST", "/identify", {
      customId,
      name: customId,
      groups,
    });
  const group = await call<{ group: { id: string } }>("POST", "/groups", {
    name: "Readers",
    customId: "readers",
  });
  const other = await call<{ group: { id: string } }>("POST", "/groups", {
    name: "Others",
    customId: "others",
  });
  await call("PUT", "/access/default", { defaultAccesses: "editor" });

  progress(`Joining a room with ${count(JOINS)} identities and users`);
  const [ofIdentities, ofUsers] = [
    await organization.createRoom("identities"),
    await organization.createRoom("users"),
  ];
  const identities = await inGroups(
    numbers(JOINS),
    AT_ONCE,
    async (at) => (await identify(`person-${at}`, [])).token,
  );
  const users = await inGroups(numbers(JOINS), AT_ONCE, (at) =>
    organization.createUser(`User ${at}`, ofUsers),
  );
  const first = await timeJoins(origin, organization, ofIdentities, identities);
  await timeJoins(origin, organization, ofUsers, users);
  const turns: { readonly users: Timed; readonly identities: Timed }[] = [];
  for (let turn = 0; turn < TURNS; turn += 1)
    turns.push({
      users: await timeJoins(origin, organization, ofUsers, users),
      identities: await timeJoins(origin, organization, ofIdentities, identities),
    });
  const medianOf = (values: readonly number[]): number => percentile(values, 0.5);
  const ofTurns = (who: "users" | "identities"): Timed => ({
    p95: medianOf(turns.map((each) => each[who].p95)),
    totalMs: medianOf(turns.map((each) => each[who].totalMs)),
  });
  const [control, again] = [ofTurns("users"), ofTurns("identities")];

  progress(`Taking one person out of a group that opens ${count(ROOMS)} live rooms`);
  await call("PUT", "/access/default", { defaultAccesses: [] });
  const rooms = await inGroups(numbers(ROOMS), AT_ONCE, (at) => organization.createRoom(`Room ${at}`));
  await inGroups(rooms, AT_ONCE, (id) =>
    call("PUT", `/rooms/${id}/access`, { groupsAccesses: { [group.group.id]: "editor" } }),
  );
  const { identity, token } = await identify("ada", ["readers", "others"]);
  const sockets = await inGroups(rooms, AT_ONCE, (roomId) =>
    join(origin, organization, `rooms/${roomId}/socket`, token),
  );
  const leave = async (id: string) => {
    const startedAt = performance.now();
    await call("DELETE", `/groups/${id}/members/${identity.id}`);
    return { startedAt, ms: performance.now() - startedAt };
  };
  const unconcerned = await leave(other.group.id);
  const revoked = await leave(group.group.id);
  const closedAfter = (await Promise.all(sockets.map(({ closed }) => closed))).map(
    (at) => at - revoked.startedAt,
  );
  const [p99, longest] = [percentile(closedAfter, 0.99), Math.max(...closedAfter)];

  const whole = (value: number): string => count(value);
  const joins = table(
    [`${count(JOINS)} joins of a room, ${AT_ONCE} at once`, "p95 ms", "Total ms", "p95 / users'"],
    [
      ["users (control)", whole(control.p95), whole(control.totalMs), "1.00"],
      ["identities with a user", whole(again.p95), whole(again.totalMs), ratio(again.p95 / control.p95)],
      [
        "identities, each creating its user",
        whole(first.p95),
        whole(first.totalMs),
        ratio(first.p95 / control.p95),
      ],
    ],
  );
  const removal = table(
    [`One person leaves a group, ${count(ROOMS)} live rooms`, "Answer ms", "p99 closed ms", "Last closed ms"],
    [
      ["a group without access (control)", whole(unconcerned.ms), "-", "-"],
      ["the group that opens the rooms", whole(revoked.ms), whole(p99), whole(longest)],
    ],
  );
  const met = (holds: boolean): string => (holds ? "met" : "not met");
  const verdict = [
    `Joins of known identities at most ${GOALS.joinRatio} of users': ${met(again.p95 <= GOALS.joinRatio * control.p95)}.`,
    `All in ${GOALS.joins / 1000} s: ${met(Math.max(first.totalMs, again.totalMs) <= GOALS.joins)}.`,
    `p99 of the removal at most ${GOALS.p99 / 1000} s, never above ${GOALS.longest / 1000} s: ${met(p99 <= GOALS.p99 && longest <= GOALS.longest)}.`,
  ].join(" ");
  return {
    markdown: [joins, removal, verdict].join("\n\n"),
    raw: { first, turns, unconcerned, revoked, p99, longest },
  };
}
