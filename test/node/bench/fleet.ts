/** The fleet bench: units of Cloudflare's bill for rooms and their users, alone and by the hundred. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { EventName } from "@atrium/contract/resources/events.ts";
import { CommandError } from "../../../src/cli/process/command.ts";
import { type Bill, minus, ofObjects, times } from "./fleet/bill.ts";
import { Fleet, USERS_PER_ROOM } from "./fleet/fleet.ts";
import { billOf, type Counts, MONTH, monthOf, type UnitBills } from "./fleet/model.ts";
import { listPrice, PRICES, surcharge } from "./fleet/prices.ts";
import { Organization } from "./organization.ts";
import type { Bench, BenchOptions, BenchReport } from "./run.ts";
import { type Served, serving } from "./serve.ts";
import { count, ratio, table } from "./table.ts";

/** Two sizes: the cost of a room must not depend on the number of rooms. */
const FLEETS = [50, 200] as const;
const EXTRAPOLATED_ROOMS = 10_000;
/** A room in which nothing is sent wakes twice in this time, to see who is still there, and 12 times in an hour. */
const IDLE_SECONDS = 150;
const SECONDS_OF_IDLE_HOUR = 6 * IDLE_SECONDS;
/** A room in which someone moves wakes once in this time. */
const MOVING_SECONDS = 75;
const CURSORS_PER_SECOND = 5;
/** As often as users write in a {@link MONTH}: what a room writes beside them does not grow with their number. */
const WRITES_PER_SECOND = MONTH.writesPerMinute / 60;
const WRITING_SECONDS = 60;
const COMMENTS_PER_SECOND = 0.05;
const COMMENTING_SECONDS = 20;

/** Events of the webhook of the fleet's organization. */
const EVENTS: readonly EventName[] = [
  "participant.joined",
  "participant.left",
  "session.started",
  "session.closed",
  "user.created",
  "user.updated",
  "user.deleted",
];

/** A frame with an id, which the SDK gives to requests with receipts. */
const frame = (type: string, data: object): string =>
  JSON.stringify({ type, requestId: crypto.randomUUID(), data });
const cursor = (number: number): string =>
  JSON.stringify({ type: "PRESENCE_UPDATE", data: { state: { cursor: { x: number % 1_000, y: 7 } } } });
const write = (number: number): string =>
  frame("STORE_SET", {
    store: "shapes",
    key: `shape-${number % 500}`,
    value: { x: number, y: 7, kind: "rect" },
  });
/** A page of the store, as a user reads it who comes back. */
const page = (): string => frame("STORE_SYNC", { store: "shapes" });
const comment = (number: number): string => frame("COMMENT_CREATE", { text: `Comment ${number}` });

export const bench: Bench = { parts: [], run };

/** Bills of single things. */
interface Units {
  readonly units: UnitBills;
  /** One room with all its users connected, for a second shortly after something was sent. */
  readonly idleRoomSecond: Bill;
}

/** The bill of rooms in which a visit, cursors, writes and comments happen at once. */
interface Mix {
  readonly rooms: number;
  readonly seconds: number;
  readonly counts: Counts;
  readonly measured: Bill;
}

/** The growth of the bill during work. */
type During = (work: () => Promise<unknown>) => Promise<Bill>;

function run(options: BenchOptions): Promise<BenchReport> {
  return serving(["fleet"], options.stop, async (served) => {
    const surveyed = async <Result>(
      rooms: number,
      work: (fleet: Fleet, during: During) => Promise<Result>,
    ) => {
      options.progress(`Measuring ${rooms} rooms`);
      return await inFleet(served, options, (fleet, during) => work(fleet, during));
    };
    const [few, many] = FLEETS;
    const small = await surveyed(few, async (fleet, during) => {
      await fleet.createRooms(few);
      await fleet.createUsers();
      await during(() => Promise.resolve());
      return await mix(fleet, options, during);
    });
    const { large, ...measured } = await surveyed(many, async (fleet, during) => ({
      ...(await measureUnits(fleet, many, options, during)),
      large: await mix(fleet, options, during),
    }));
    const { units, idleRoomSecond } = measured;
    const markdown = [
      unitsTable({ units, idleRoomSecond }),
      supportTable(small, large, units),
      fleetTable(units),
      monthTable(units),
    ].join("\n\n");
    return { markdown, raw: { small, large, ...measured } };
  });
}

/** Runs `work` with a fleet in an organization of its own, whose seven events of users and rooms go to one webhook. */
async function inFleet<Result>(
  served: Served,
  options: BenchOptions,
  work: (fleet: Fleet, during: During) => Promise<Result>,
): Promise<Result> {
  const origin = served.origin("fleet");
  const organization = await Organization.create(served.db, origin);
  const receiver = createServer((request, response) => request.resume().once("end", () => response.end()));
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  try {
    await listen(organization, origin, (receiver.address() as AddressInfo).port);
    const fleet = new Fleet(origin, organization, options.stop);
    let before = await fleet.settledBill();
    return await work(fleet, async (step) => {
      await step();
      const after = await fleet.settledBill();
      const added = minus(after, before);
      before = after;
      return added;
    });
  } finally {
    receiver.close();
    receiver.closeAllConnections();
  }
}

async function listen({ accountId, headers }: Organization, origin: string, port: number): Promise<void> {
  const response = await fetch(`${origin}/v1/accounts/${accountId}/webhooks`, {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/json" },
    body: JSON.stringify({ url: `http://127.0.0.1:${port}/`, events: EVENTS }),
  });
  if (response.status !== 201) throw new CommandError(`A webhook was refused: ${await response.text()}`);
}

async function measureUnits(
  fleet: Fleet,
  rooms: number,
  { seconds }: BenchOptions,
  during: During,
): Promise<Units> {
  /** Cost of one message while all users send it. */
  const perMessage = async (
    perSecond: number,
    forSeconds: number,
    frameOf: (number: number) => string,
    afterwards: () => Promise<unknown> = async () => {},
  ): Promise<Bill> => {
    let sent = 0;
    const bill = await during(async () => {
      sent = await fleet.send(perSecond, forSeconds, frameOf);
      await afterwards();
    });
    return times(bill, 1 / sent);
  };
  const room = times(await during(() => fleet.createRooms(rooms)), 1 / rooms);
  const user = times(await during(() => fleet.createUsers()), 1 / fleet.users);
  const joins = await during(() => fleet.join());
  const idle = await during(() => fleet.rest(IDLE_SECONDS));
  let positions = 0;
  const moving = await during(async () => {
    positions = await fleet.send(1 / USERS_PER_ROOM, MOVING_SECONDS, cursor);
  });
  const onCursor = await perMessage(CURSORS_PER_SECOND, seconds, cursor);
  const movingSecond = times(minus(moving, times(onCursor, positions)), 1 / (rooms * MOVING_SECONDS));
  const onWrite = await perMessage(WRITES_PER_SECOND, WRITING_SECONDS, write, () => fleet.sendEach(page));
  const onComment = await perMessage(COMMENTS_PER_SECOND, COMMENTING_SECONDS, comment);
  const leaves = await during(() => fleet.leave());
  const visit = times(minus(joins, times(leaves, -1)), 1 / fleet.users);
  const units = { room, user, visit, cursor: onCursor, movingSecond, write: onWrite, comment: onComment };
  return { units, idleRoomSecond: times(idle, 1 / (rooms * IDLE_SECONDS)) };
}

/** Users who visit, move, write and comment, one after the other on the same sockets. */
async function mix(fleet: Fleet, { seconds }: BenchOptions, during: During): Promise<Mix> {
  const counts: Record<keyof Counts, number> = {
    room: 0,
    user: 0,
    visit: fleet.users,
    cursor: 0,
    write: 0,
    comment: 0,
  };
  const every = CURSORS_PER_SECOND / WRITES_PER_SECOND;
  const frameOf = (number: number): string => {
    const kind = number % (every * 5) === 0 ? "comment" : number % every === 0 ? "write" : "cursor";
    counts[kind] += 1;
    return { cursor, write, comment }[kind](number);
  };
  const measured = await during(async () => {
    await fleet.join();
    await fleet.send(CURSORS_PER_SECOND, seconds, frameOf);
    await fleet.leave();
  });
  return { rooms: fleet.rooms, seconds, counts, measured };
}

/** Figures of a bill, as columns. */
const FIGURES: readonly (readonly [string, (bill: Bill) => number])[] = [
  ["Worker requests", ({ requests }) => requests],
  ["object calls", (bill) => ofObjects(bill, "calls") + ofObjects(bill, "alarms")],
  ["frames received", (bill) => ofObjects(bill, "messages")],
  ["object rows read", (bill) => ofObjects(bill, "rowsRead")],
  ["object rows written", (bill) => ofObjects(bill, "rowsWritten")],
  ["D1 trips", ({ database }) => database.trips],
  ["D1 statements", ({ database }) => database.statements],
  ["D1 rows read", ({ database }) => database.rowsRead],
  ["D1 rows written", ({ database }) => database.rowsWritten],
];

/** A difference of sums is not exactly 0. */
const ROUNDING = 1e-9;

const figure = (value: number): string => {
  if (value >= 100) return count(value);
  return value < ROUNDING ? "0" : String(Number(value.toPrecision(2)));
};

function unitsTable({ units, idleRoomSecond }: Units): string {
  const rows: (readonly [string, Bill])[] = [
    ["a room is created", units.room],
    ["a user is created", units.user],
    ["a visit: join and leave", units.visit],
    ["1,000 cursor positions", times(units.cursor, 1_000)],
    ["a minute of a room with someone who moves, beside the positions", times(units.movingSecond, 60)],
    ["1,000 store writes", times(units.write, 1_000)],
    ["1,000 comments", times(units.comment, 1_000)],
    ["an hour of a room with 3 users who do nothing", times(idleRoomSecond, SECONDS_OF_IDLE_HOUR)],
  ];
  return table(
    ["What", ...FIGURES.map(([name]) => name), "US$ per million"],
    rows.map(([name, bill]) => [
      name,
      ...FIGURES.map(([, of]) => figure(of(bill))),
      figure(listPrice(bill) * (name.startsWith("1,000") ? 1e3 : 1e6)),
    ]),
  );
}

/** Table that compares the cost of a room beside 50 and beside 200 others, and the prediction from the units. */
function supportTable(small: Mix, large: Mix, units: UnitBills): string {
  const perRoom = ({ rooms, measured }: Mix): Bill => times(measured, 1 / rooms);
  const predicted = times(billOf(units, large.counts, large.rooms * large.seconds), 1 / large.rooms);
  return table(
    [
      `Per room: ${USERS_PER_ROOM} visits, ${count(large.seconds)} s of all at once`,
      `of ${small.rooms}`,
      `of ${large.rooms}`,
      "predicted",
      "measured / predicted",
    ],
    FIGURES.map(([name, of]) => [
      name,
      figure(of(perRoom(small))),
      figure(of(perRoom(large))),
      figure(of(predicted)),
      of(predicted) === 0 ? "–" : ratio(of(perRoom(large)) / of(predicted)),
    ]),
  );
}

/** Rooms whose users behave as in {@link MONTH}. */
function fleetTable(units: UnitBills): string {
  const { counts, activeSeconds } = monthOf(MONTH);
  const roomMinutes = (counts.visit * MONTH.minutesPerVisit) / MONTH.together;
  const perMinute = times(billOf(units, { ...counts, room: 0, user: 0 }, activeSeconds), 1 / roomMinutes);
  return table(
    ["A room's share", "per minute", `${count(EXTRAPOLATED_ROOMS)} rooms, per second`],
    FIGURES.map(([name, of]) => [
      name,
      figure(of(perMinute)),
      figure((of(perMinute) * EXTRAPOLATED_ROOMS) / 60),
    ]),
  );
}

function monthTable(units: UnitBills): string {
  const { counts, activeSeconds } = monthOf(MONTH);
  const bill = billOf(units, counts, activeSeconds);
  const rows = PRICES.map(({ item, units: unitsOf, dollars, included }) => [
    item,
    figure(unitsOf(bill)),
    figure(included),
    (unitsOf(bill) * dollars).toFixed(2),
  ]);
  return table(
    [`A month of ${count(MONTH.users)} users`, "units", "the plan includes", "US$ at list price"],
    [
      ...rows,
      ["together", "", "", listPrice(bill).toFixed(2)],
      ["beyond the plan", "", "", surcharge(bill).toFixed(2)],
    ],
  );
}
