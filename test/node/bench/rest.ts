/** The REST bench: Atrium's hot requests, each beside a bare Hono route that runs the same D1 batch. */
import { CommandError } from "../../../src/cli/process/command.ts";
import { type Measurement, measure, median, type Target } from "./load.ts";
import type { Organization } from "./organization.ts";
import { type Seed, seed } from "./rest-seed.ts";
import type { Bench, BenchOptions, BenchReport } from "./run.ts";
import { type Served, serving } from "./serve.ts";
import { ADVICE, count, ms, ratio, table, verdict } from "./table.ts";

/** The minimum share of the rate of its bare counterpart. */
const GOAL = 0.8;
/** The maximum share of the time of a request. */
const AUTHENTICATION_GOAL = 0.05;
const AUTHENTICATIONS = 2000;
const AUTHENTICATION_SAMPLES_PER_RUN = 5;

const JSON_TYPE = { "Content-Type": "application/json" };

/** A request to Atrium and its bare counterpart. */
interface Pair {
  readonly subject: Target;
  readonly floor: Target;
}

export const bench: Bench = { parts: [], run };

function run(options: BenchOptions): Promise<BenchReport> {
  return serving(["atrium", "floors", "guard"], options.stop, async (served) => {
    const seeded = await seed(served.db, served.origin("atrium"));
    const [hono, read] = await measure(generalFloors(served, seeded), options, served.pid);
    const pairs: (readonly [Measurement, Measurement])[] = [];
    for (const { subject, floor } of pairsOf(served, seeded)) {
      const [ours, bare] = await measure([subject, floor], options, served.pid);
      if (ours === undefined || bare === undefined) throw new Error("Expected two measurements per pair");
      pairs.push([ours, bare]);
    }
    if (hono === undefined || read === undefined) throw new Error("Expected two general baselines");
    const authenticationUs = await measureAuthentication(
      served.origin("guard"),
      seeded.read.organization,
      options,
    );
    const requestUs = 1e6 / (pairs[0]?.[0].perSecond ?? 0);
    const markdown = [
      tableOf(hono, read, pairs),
      authenticationLine(authenticationUs, authenticationUs / requestUs),
      "Goal: at least 0.8 of the paired floor, a bare Hono route with the same D1 batch and object call. " +
        "Atrium's rate limits are counted in memory here: Miniflare's emulation of them writes to disk.",
      ADVICE,
    ].join("\n\n");
    return { markdown, raw: { hono, read, pairs, authenticationUs, requestUs } };
  });
}

const generalFloors = ({ origin }: Served, { read }: Seed): Target[] => [
  { name: "bare Hono, one JSON route", method: "GET", url: `${origin("floors")}/json`, status: 200 },
  {
    name: "bare Hono, one D1 read",
    method: "GET",
    url: `${origin("floors")}/read/${read.organization.accountId}/${read.roomId}`,
    status: 200,
  },
];

function pairsOf({ origin }: Served, { read, written, writtenByFloors }: Seed): Pair[] {
  const userIn = ({ roomId }: { readonly roomId: string }) => JSON.stringify({ name: "A user", roomId });
  const room = () => JSON.stringify({ name: "A room" });
  const get = (name: string, path: string, query = ""): Pair => ({
    subject: {
      name,
      method: "GET",
      url: `${origin("atrium")}/v1/accounts/${read.organization.accountId}${path}${query}`,
      headers: read.organization.headers,
      status: 200,
    },
    floor: {
      name: `${name}, floor`,
      method: "GET",
      url: `${origin("floors")}/${read.organization.accountId}${path}`,
      status: 200,
    },
  });
  const post = (name: string, path: string, bodyIn: typeof userIn): Pair => ({
    subject: {
      name,
      method: "POST",
      url: `${origin("atrium")}/v1/accounts/${written.organization.accountId}${path}`,
      headers: { ...written.organization.headers, ...JSON_TYPE },
      body: bodyIn(written),
      status: 201,
    },
    floor: {
      name: `${name}, floor`,
      method: "POST",
      url: `${origin("floors")}/${writtenByFloors.organization.accountId}${path}`,
      headers: JSON_TYPE,
      body: bodyIn(writtenByFloors),
      status: 201,
    },
  });
  return [
    get("`GET /rooms/:roomId`, 50 users", `/rooms/${read.roomId}`),
    post("`POST /rooms`", "/rooms", room),
    post("`POST /users`", "/users", userIn),
    get("`GET /rooms?limit=50` of 200", "/rooms", "?limit=50"),
  ];
}

/**
 * Microseconds of one authentication with a key that is remembered. A difference of 5 % between two loads
 * drowns in their noise, so it is timed from outside: a request that authenticates many times, less one that
 * does not. What it is compared with is the time that a request takes a server with no idle moment.
 */
async function measureAuthentication(origin: string, { headers }: Organization, options: BenchOptions) {
  const timeMs = async (times: number): Promise<number> => {
    const start = performance.now();
    const response = await fetch(`${origin}/${times}`, { headers, signal: options.stop });
    await response.arrayBuffer();
    if (!response.ok) throw new CommandError(`Authentication alone answered ${response.status}`);
    return performance.now() - start;
  };
  await timeMs(AUTHENTICATIONS);
  const samples: number[] = [];
  for (let sample = 0; sample < options.runs * AUTHENTICATION_SAMPLES_PER_RUN; sample += 1) {
    samples.push(((await timeMs(AUTHENTICATIONS)) - (await timeMs(0))) / AUTHENTICATIONS);
  }
  return median(samples) * 1000;
}

function tableOf(
  hono: Measurement,
  read: Measurement,
  pairs: readonly (readonly [Measurement, Measurement])[],
): string {
  const figures = ({ name, perSecond, p50Ms, p99Ms, processorUs }: Measurement): string[] => [
    name,
    count(perSecond),
    ms(p50Ms),
    ms(p99Ms),
    count(processorUs),
    ratio(perSecond / hono.perSecond),
    ratio(perSecond / read.perSecond),
  ];
  const rows = pairs.flatMap(([ours, floor]) => {
    const share = ours.perSecond / floor.perSecond;
    return [
      [...figures(ours), ratio(share), `≥ ${GOAL}`, verdict(share >= GOAL)],
      [...figures(floor), "", "", ""],
    ];
  });
  const general = [hono, read].map((floor) => [...figures(floor), "", "", ""]);
  const head = [
    "subject",
    "req/s",
    "p50 ms",
    "p99 ms",
    "processor µs",
    "of bare Hono",
    "of bare Hono + D1 read",
    "of its floor",
  ];
  return table([...head, "goal", "ok"], [...rows, ...general]);
}

const authenticationLine = (us: number, share: number): string =>
  `Authentication itself: ${us.toFixed(0)} µs, ${(share * 100).toFixed(1)} % of \`GET /rooms/:roomId\` ` +
  `(goal: at most ${AUTHENTICATION_GOAL * 100} %): ${verdict(share <= AUTHENTICATION_GOAL)}`;
