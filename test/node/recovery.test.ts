/** A service whose workerd is killed answers again within seconds, with the same data. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { Customer } from "../stories/client.ts";
import { allGone, eventually, processTree } from "./processes.ts";
import { type Service, startService } from "./service.ts";

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.kill());

const workerds = () => processTree(service.pid).filter(({ command }) => /\/workerd /.test(command));

it("a service recovers each time its workerd is killed, and keeps its rooms", async () => {
  const customer = new Customer(service, service);
  const room = await customer.createRoom();
  const ada = await customer.createUser(room.id, "Ada");
  for (let round = 1; round <= 2; round += 1) {
    const tab = await customer.join(ada);
    expect(tab.messages[0]?.success).toBe(true);
    const pids = workerds().map(({ pid }) => pid);
    expect(pids).toHaveLength(1);
    for (const pid of pids) process.kill(pid, "SIGKILL");
    await allGone(pids);
    await tab.closed;
    const isBack = async () => {
      const signal = AbortSignal.timeout(5_000); // a request that is sent too early might wait for longer
      const response = await fetch(service.url, { signal }).catch(() => null);
      return response !== null;
    };
    await eventually("the service answers", isBack);
    expect((await customer.getRoom(room.id)).room.id).toBe(room.id);
  }
  expect(
    service.stderr().match(/^The Workers runtime crashed unexpectedly and is being restarted/gm),
  ).toHaveLength(2);
});
