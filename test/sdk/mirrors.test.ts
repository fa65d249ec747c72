/** A copy of a store that is kept by one's own calls and by `changed` equals the store, whatever happens. */
import fc from "fast-check";
import { expect, inject, it } from "vitest";
import { AtriumError } from "../../src/sdk/client/index.ts";
import { ModelClient, settle } from "./model/model-client.ts";
import { ModelRoom } from "./model/model-room.ts";
import { run, scenario } from "./model/scenario.ts";

const { seed, inMemory } = inject("endurance");

it("a copy equals its store in any order of writes, races, refusals, cuts, losses, reloads, downloads and backups (R78, R79)", async () => {
  await fc.assert(fc.asyncProperty(scenario, run), { seed, numRuns: inMemory });
});

it("a store whose download ends with the connection, at any moment, says so (R77)", async () => {
  const outcomes = new Set<unknown>();
  for (let steps = 1; !outcomes.has("loaded"); steps += 1) {
    const room = new ModelRoom();
    for (const key of ["a", "b", "c", "d", "e"]) room.write("notes", key, "value");
    const client = new ModelClient(room, "ada");
    void client.client.join().catch(() => {}); // some tabs are closed before it has succeeded
    const outcome = client.store.sync().then(
      () => "loaded",
      (error: unknown) => (error instanceof AtriumError ? error.code : error),
    );
    for (let step = 0; step < steps; step += 1) {
      if (!client.socket?.deliverUp()) client.deliverDown();
      await settle();
    }
    client.client.disconnect();
    outcomes.add(await outcome);
  }
  expect([...outcomes]).toEqual(["DISCONNECTED", "loaded"]);
});

it("what changes while a store is downloaded is not taken back by what was read before (R78)", async () => {
  const room = new ModelRoom();
  for (const key of ["a", "b", "c"]) room.write("notes", key, "old");
  const client = new ModelClient(room, "ada");
  void client.client.join();
  client.sync();
  const exchange = async () => {
    while (client.socket?.deliverUp() || client.socket?.deliverDown());
    await settle();
  };
  // Until the part is on its way: it was read when the client asked for it.
  for (let round = 0; round < 5; round += 1) await exchange();
  room.write("notes", "a", "new");
  room.write("notes", "b", "new");
  await exchange();
  await client.deliverAll();
  expect(["a", "b", "c"].map((key) => client.store.get(key))).toEqual(["new", "new", "old"]);
});
