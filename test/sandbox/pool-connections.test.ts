/** A kept connection serves many runs of one process, and none of another, nor one that has ended. */
import { beforeEach, expect, it } from "vitest";
import type { DebugPort } from "../../src/env.ts";
import { connectEachTime, PoolClient, ReusedConnection } from "../../src/sandbox/runners/pool-client.ts";

const REQUEST = { accountId: "a", program: "a/b", limits: { wallMs: 1, cpuMs: 1, memoryMb: 1 } };
const END = { value: "a result", isSpent: false, isLost: false };

/** The process that the pool leases, and the connections that were made, by address. */
let address: string;
let connected: string[];
/** Result of connecting. */
let reach: () => Promise<object>;
beforeEach(() => {
  address = "unix:/1";
  connected = [];
  reach = async () => ({});
});

const port: DebugPort = {
  connect: async (to) => {
    connected.push(to);
    return { getEntrypoint: () => reach() };
  },
};
const fetch = async (url: string) =>
  Response.json(url.endsWith("/lease") ? { id: "1", address, token: "" } : { ranMs: 0, killed: null });
// The client uses no other method of the binding.
const pool = { fetch } as unknown as Fetcher;

const run = (client: PoolClient, end = END) => client.use(REQUEST, "Programs", async () => end);

it("is made once for the runs of a process, also for several at once", async () => {
  const client = new PoolClient(pool, new ReusedConnection(port));
  await Promise.all([run(client), run(client)]);
  expect((await run(client)).value).toBe("a result");
  expect(connected).toEqual(["unix:/1"]);
  address = "unix:/2";
  await run(client);
  await run(client);
  expect(connected).toEqual(["unix:/1", "unix:/2"]);
});

it.each([
  ["gives no answer", { ...END, isLost: true }],
  ["is to end", { ...END, isSpent: true }],
])("is made anew after a run whose process %s", async (_name, end) => {
  const client = new PoolClient(pool, new ReusedConnection(port));
  await run(client, end);
  await run(client);
  expect(connected).toEqual(["unix:/1", "unix:/1"]);
});

it("is made anew when it could not be made", async () => {
  const client = new PoolClient(pool, new ReusedConnection(port));
  reach = () => Promise.reject(new Error("Network connection lost."));
  await expect(run(client)).rejects.toThrow("Network connection lost.");
  reach = async () => ({});
  expect((await run(client)).value).toBe("a result");
});

it("is never kept for requests: none may use what another has opened", async () => {
  const client = new PoolClient(pool, connectEachTime(port));
  await run(client);
  await run(client);
  expect(connected).toHaveLength(2);
});
