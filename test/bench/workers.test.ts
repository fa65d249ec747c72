/** The Workers of the benchmarks work with the present service: each does once the work that its bench repeats. */
import { createExecutionContext, runInDurableObject, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, expect, it } from "vitest";
import * as atrium from "../node/bench/workers/atrium.ts";
import * as bareRoom from "../node/bench/workers/bare-room.ts";
import * as deliveries from "../node/bench/workers/deliveries.ts";
import * as fate from "../node/bench/workers/fate.ts";
import * as fleet from "../node/bench/workers/fleet.ts";
import * as floors from "../node/bench/workers/floors.ts";
import * as guard from "../node/bench/workers/guard.ts";
import * as refusing from "../node/bench/workers/refusing.ts";
import * as runs from "../node/bench/workers/runs.ts";
import * as text from "../node/bench/workers/text.ts";
import { type Account, account, ORIGIN } from "../support/api.ts";

/** A Worker of the benchmarks, whatever it takes the bindings for. */
interface BenchWorker {
  fetch(request: Request, bindings: unknown, execution: ExecutionContext): Response | Promise<Response>;
}

let owner: Account;
let roomId: string;
beforeAll(async () => {
  owner = await account();
  roomId = (await owner.api.createRoom()).id;
});

async function ask(worker: unknown, request: Request): Promise<Response> {
  const execution = createExecutionContext();
  // Each declares the bindings that it uses, by classes of its own.
  const response = await (worker as BenchWorker).fetch(request, env, execution);
  await waitOnExecutionContext(execution);
  return response;
}

/** Uses an object of a class of the benchmarks, with the storage and the context of one of the service's. */
const inObject = <Host, Outcome>(
  // Each declares the bindings that it uses, by classes of its own.
  Type: new (state: DurableObjectState, bindings: never) => Host,
  work: (object: Host) => Outcome | Promise<Outcome>,
): Promise<Outcome> =>
  runInDurableObject(env.SUBSCRIBERS.getByName(crypto.randomUUID()), (_, state) =>
    work(new Type(state, env as never)),
  );

it.each([
  ["atrium", atrium.default],
  ["fate", fate.default],
  ["fleet", fleet.default],
])("%s serves the API", async (_name, worker) => {
  const response = await ask(worker, owner.api.request("GET", `/rooms/${roomId}`));
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ data: { room: { id: roomId } } });
});

it("fleet bills what it has served", async () => {
  const bill = await ask(fleet.default, new Request(`${ORIGIN}/bill`));
  expect(await bill.json()).toMatchObject({ requests: expect.any(Number) });
  for (const method of ["alarm", "fetch", "webSocketMessage"])
    expect(Object.hasOwn(fleet.RoomObject.prototype, method)).toBe(true);
});

it("guard authenticates", async () => {
  const request = new Request(`${ORIGIN}/2`, { headers: owner.api.request("GET", "/rooms").headers });
  expect(await (await ask(guard.default, request)).text()).toBe("ok");
});

it("floors reads and writes the tables as they are", async () => {
  const post = (path: string, body: object) =>
    ask(
      floors.default,
      new Request(`${ORIGIN}/${owner.id}/${path}`, { method: "POST", body: JSON.stringify(body) }),
    );
  expect((await post("rooms", { name: "A room" })).status).toBe(201);
  expect((await post("users", { name: "Ada", roomId })).status).toBe(201);
  for (const path of ["json", `read/${owner.id}/${roomId}`, `${owner.id}/rooms`]) {
    expect((await ask(floors.default, new Request(`${ORIGIN}/${path}`))).status).toBe(200);
  }
  const file = await ask(floors.default, new Request(`${ORIGIN}/r2`, { method: "PUT", body: "text" }));
  const url = `${ORIGIN}/r2/${await file.text()}`;
  expect(await (await ask(floors.default, new Request(url))).text()).toBe("text");
  expect((await ask(floors.default, new Request(url, { method: "DELETE" }))).status).toBe(200);
});

it("deliveries fills a queue, and lists what waits in it", async () => {
  const key = { kind: "webhook", accountId: owner.id, id: crypto.randomUUID() } as const;
  const filling = JSON.stringify({ key, url: "https://receiver.test", events: 3, rooms: 2, from: 0 });
  const post = (path: string) =>
    ask(deliveries.default, new Request(`${ORIGIN}/${path}`, { method: "POST", body: filling }));
  expect((await post("fill")).status).toBe(200);
  expect((await post("list")).status).toBe(200);
  expect((await post("remove")).status).toBe(200);
});

it.each(["warm", "cold", "bare-warm", "bare-cold"])("runs has a program run: %s", (subject) =>
  inObject(runs.SubscriberObject, (object) => object.run(subject, 2, 2)),
);

it("text, refusing and bare-room answer", async () => {
  await ask(text.default, new Request(ORIGIN, { method: "PUT", body: "a text" }));
  expect(await (await ask(text.default, new Request(ORIGIN))).text()).toBe("a text");
  expect((await ask(refusing.default, new Request(ORIGIN))).status).toBe(429);
  expect(await inObject(bareRoom.RoomObject, (room) => room.fetch().status)).toBe(101);
});
