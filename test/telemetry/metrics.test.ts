/** The metrics of an isolate: sums, rate and size of writes, and the output for Prometheus. */
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import guide from "../../docs/guides/monitoring.md?raw";
import { app } from "../../src/app.ts";
import { loadEndpoints } from "../../src/endpoints.ts";
import { DATA_SETS, metricsOf } from "../../src/platform/telemetry/data-sets.ts";
import { type DataPoint, MAX_SERIES, Metrics, RequestMetrics } from "../../src/platform/telemetry/metrics.ts";
import { MemorySink, presentMetrics } from "../../src/platform/telemetry/prometheus.ts";
import { account, ORIGIN } from "../support/api.ts";

const ENDPOINTS = await loadEndpoints();

const WRITE_EVERY_MS = 10_000;

const TEAS = {
  name: "teas",
  labels: ["kind"],
  counters: { cups: "Cups of tea" },
  timings: { brewing: { help: "Time to brew", boundsMs: [10, 1_000] } },
} as const;

function sink() {
  const points: DataPoint[] = [];
  return { points, writeDataPoint: (point: DataPoint) => void points.push(point) };
}

describe("metrics", () => {
  it("add values up, and write the point of each series once in a while", () => {
    const [metrics, written] = [new Metrics(), sink()];
    const write = (now: number) => metrics.writeIfDue(() => [written], now);
    const green = metrics.series(TEAS, { kind: "green" });
    green.add("cups");
    write(0);
    green.add("cups", 2);
    green.time("brewing", 10);
    green.time("brewing", 500);
    metrics.series(TEAS, { kind: "black" }).time("brewing", 2_000);
    write(WRITE_EVERY_MS - 1);
    expect(written.points.splice(0)).toEqual([
      { indexes: ["teas"], blobs: ["green"], doubles: [1, 0, 0, 0, 0] },
    ]);
    write(WRITE_EVERY_MS);
    expect(written.points.splice(0)).toEqual([
      { indexes: ["teas"], blobs: ["green"], doubles: [2, 2, 510, 1, 2] },
      { indexes: ["teas"], blobs: ["black"], doubles: [0, 1, 2_000, 0, 0] },
    ]);
    write(2 * WRITE_EVERY_MS);
    expect(written.points).toEqual([]);
  });

  it("write at most 25 points at once, as the platform takes no more of an invocation, and all in turn", () => {
    const [metrics, written] = [new Metrics(), sink()];
    for (let kind = 0; kind < 60; kind += 1) metrics.series(TEAS, { kind: String(kind) }).add("cups");
    const counts = [0, 1, 2, 3].map((round) => {
      metrics.writeIfDue(() => [written], round * WRITE_EVERY_MS);
      metrics.series(TEAS, { kind: "0" }).add("cups");
      return written.points.length;
    });
    expect(counts).toEqual([25, 50, 61, 62]);
    expect(new Set(written.points.map(({ blobs }) => blobs[0])).size).toBe(60);
  });

  it("count what has too many labels together, so that no mistake makes them many", () => {
    const [metrics, written] = [new Metrics(), sink()];
    for (let kind = 0; kind < MAX_SERIES + 1_000; kind += 1)
      metrics.series(TEAS, { kind: String(kind) }).add("cups");
    metrics.write([written], 10_000);
    expect(written.points).toHaveLength(MAX_SERIES + 1);
    expect(written.points.find(({ blobs }) => blobs[0] === "other")?.doubles[0]).toBe(1_000);
  });

  it("fit into the points of Analytics Engine, whatever data set they are of", () => {
    for (const set of Object.values(DATA_SETS)) {
      expect(set.labels.length, set.name).toBeLessThanOrEqual(20);
      expect(metricsOf(set).length, set.name).toBeLessThanOrEqual(20);
    }
    expect(new Set(Object.values(DATA_SETS).map(({ name }) => name)).size).toBe(
      Object.values(DATA_SETS).length,
    );
  });

  it("have so few labels of requests that all of them are kept", () => {
    const statuses = 12;
    expect(ENDPOINTS.length * statuses).toBeLessThan(MAX_SERIES);
  });
});

describe("the stand-in", () => {
  const point = (kind: string): DataPoint => ({
    indexes: ["teas"],
    blobs: [kind],
    doubles: [1, 1, 500, 0, 1],
  });

  it("adds points up, and forgets a series that has not changed for hours", () => {
    let now = 0;
    const standIn = new MemorySink(() => now);
    standIn.writeDataPoint(point("green"));
    now = 5 * 60 * 60 * 1000;
    standIn.writeDataPoint(point("black"));
    standIn.writeDataPoint(point("black"));
    expect(standIn.totals().map(({ labels, values }) => [labels[0], values[0]])).toEqual([
      ["green", 1],
      ["black", 2],
    ]);
    now += 2 * 60 * 60 * 1000;
    expect(standIn.totals().map(({ labels }) => labels[0])).toEqual(["black"]);
  });

  it("keeps 5,000 series, those that changed last", () => {
    const standIn = new MemorySink(() => 0);
    for (let kind = 0; kind <= 5_000; kind += 1) standIn.writeDataPoint(point(String(kind)));
    const kinds = standIn.totals().map(({ labels }) => labels[0]);
    expect([kinds.length, kinds[0], kinds.at(-1)]).toEqual([5_000, "1", "5000"]);
  });

  it("is presented as Prometheus reads it", () => {
    const standIn = new MemorySink(() => 0);
    standIn.writeDataPoint(point('a "b"\\'));
    expect(presentMetrics([TEAS], standIn.totals())).toBe(
      `# HELP atrium_teas_cups_total Cups of tea
# TYPE atrium_teas_cups_total counter
atrium_teas_cups_total{kind="a \\"b\\"\\\\"} 1
# HELP atrium_teas_brewing_seconds Time to brew
# TYPE atrium_teas_brewing_seconds histogram
atrium_teas_brewing_seconds_bucket{kind="a \\"b\\"\\\\",le="0.01"} 0
atrium_teas_brewing_seconds_bucket{kind="a \\"b\\"\\\\",le="1"} 1
atrium_teas_brewing_seconds_bucket{kind="a \\"b\\"\\\\",le="+Inf"} 1
atrium_teas_brewing_seconds_sum{kind="a \\"b\\"\\\\"} 0.5
atrium_teas_brewing_seconds_count{kind="a \\"b\\"\\\\"} 1
`,
    );
  });
});

describe("the guide", () => {
  it("has the columns of every data set, as they are written", () => {
    const columns = (names: readonly string[], kind: string) =>
      names.map((name, index) => `\`${kind}${index + 1}\` ${name}`).join(", ") || "none";
    for (const set of Object.values(DATA_SETS)) {
      const row = `| \`${set.name}\` | ${columns(set.labels, "blob")} | ${columns(metricsOf(set), "double")} |`;
      expect(guide).toContain(row);
    }
  });

  it("asks Prometheus for nothing that the stand-in does not answer", () => {
    const totals = Object.values(DATA_SETS).map((set) => ({
      ...{ set: set.name, labels: set.labels.map(() => "label"), values: metricsOf(set).map(() => 1) },
    }));
    const shown = presentMetrics(Object.values(DATA_SETS), totals);
    const queries = [...guide.matchAll(/`([^`]*\batrium_[^`]*)`/g)].map(([, query = ""]) => query);
    expect(queries.length).toBeGreaterThan(10);
    for (const [, name = "", labels = ""] of queries
      .join("\n")
      .matchAll(/\b(atrium_[a-z_]+)(?:\{([a-z]+))?/g)) {
      if (name !== "atrium_requests_duration_seconds") expect(shown).toMatch(new RegExp(`^${name}[ {]`, "m"));
      if (labels !== "") expect(shown).toMatch(new RegExp(`^${name}\\{.*\\b${labels}="`, "m"));
    }
  });
});

it("a request is counted by its route and status, and written at once or a while later", async () => {
  const [metrics, written] = [new Metrics(), sink()];
  let now = 0;
  const waiting: (() => void)[] = [];
  const recorder = new RequestMetrics({
    metrics,
    write: () => metrics.writeIfDue(() => [written], now),
    wait: () => new Promise<void>((resolve) => waiting.push(resolve)),
  });
  const deferred: Promise<unknown>[] = [];
  const record = (status: number, error: { module: string; code: string } | null = null) =>
    recorder.record(
      { endpoint: { method: "GET", path: "/rooms/:roomId" }, status, durationMs: 7, trips: 1, error },
      (work) => deferred.push(work),
    );
  record(200);
  expect(written.points.splice(0).map(({ blobs }) => blobs)).toEqual([["GET /rooms/:roomId", "200"]]);
  record(200);
  record(404, { module: "Rooms", code: "NOT_FOUND" });
  expect([written.points, deferred.length]).toEqual([[], 1]);
  now = WRITE_EVERY_MS;
  for (const goOn of waiting) goOn();
  await Promise.all(deferred);
  expect(written.points.map(({ blobs, doubles }) => [...blobs, doubles[0]])).toEqual([
    ["GET /rooms/:roomId", "200", 1],
    ["GET /rooms/:roomId", "404", 1],
    ["rest", "Rooms", "NOT_FOUND", 1],
  ]);
});

describe("GET /metrics", () => {
  const TOKEN = "a-token-of-the-tests-only";
  const ask = (bindings: object, authorization?: string) =>
    app.fetch(
      new Request(`${ORIGIN}/metrics`, authorization ? { headers: { Authorization: authorization } } : {}),
      { ...env, ...bindings },
      createExecutionContext(),
    );

  it("does not exist unless the operator has set a token", async () => {
    expect((await ask({})).status).toBe(404);
    expect((await ask({ METRICS_TOKEN: "" }, "Bearer ")).status).toBe(404);
  });

  it("answers who has the token only", async () => {
    const bindings = { METRICS_TOKEN: TOKEN };
    for (const wrong of [undefined, "Bearer ", "Bearer wrong", TOKEN])
      expect((await ask(bindings, wrong)).status).toBe(401);
    const open = await ask(bindings, `Bearer ${TOKEN}`);
    expect([open.status, open.headers.get("Cache-Control")]).toEqual([200, "no-store"]);
  });

  it("shows requests with their round trips to the database, and no name or ID of a tenant", async () => {
    const owner = await account();
    const bindings = { METRICS_TOKEN: TOKEN };
    const missing = crypto.randomUUID();
    const request = owner.api.request("DELETE", `/rooms/${missing}`);
    await app.fetch(request, { ...env, ...bindings }, createExecutionContext());
    const text = await (await ask(bindings, `Bearer ${TOKEN}`)).text();
    const labels = '{route="DELETE /rooms/:roomId",status="404"}';
    expect(text).toContain(`atrium_requests_duration_seconds_count${labels} 1\n`);
    const trips = text
      .split("\n")
      .find((line) => line.startsWith(`atrium_requests_database_trips_total${labels}`));
    expect(Number(trips?.split(" ").at(-1))).toBeGreaterThan(0);
    expect(text).toMatch(/atrium_errors_errors_total\{source="rest",module="Rooms",code="NOT_FOUND"\} [1-9]/);
    for (const secret of [owner.id, missing, owner.keyId]) expect(text).not.toContain(secret);
  });
});
