/** A service whose workerd is killed answers again within seconds, with the same data. */
import { afterAll, expect, it } from "vitest";
import { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";
import { Customer } from "../stories/client.ts";
import { allGone, eventually, processTree } from "./processes.ts";
import { startService } from "./service.ts";
import { preparedState } from "./shared-service.ts";

const service = await startService({ preparedState: await preparedState() });

afterAll(() => service.kill());

const workerds = () => processTree(service.pid).filter(({ command }) => /\/workerd /.test(command));

/** A document that y-websocket's client keeps in step with the room's. */
function openDocument(customer: Customer, roomId: string, token: string) {
  const doc = new Y.Doc();
  const url = `${customer.base.replace("http", "ws")}/rooms/${roomId}/documents`;
  const options = { protocols: ["atrium", token], disableBc: true };
  const provider = new WebsocketProvider(url, "notes/sync", doc, options);
  const text = () => doc.getText("text").toString();
  const type = (added: string) => doc.getText("text").insert(doc.getText("text").length, added);
  const has = (whole: string) => eventually(`a client has "${whole}"`, async () => text() === whole);
  return { provider, type, has };
}

it("a service recovers each time its workerd is killed, and keeps its rooms and documents (D1)", async () => {
  const customer = new Customer(service, service);
  const room = await customer.createRoom();
  const ada = await customer.createUser(room.id, "Ada");
  const [one, other] = [
    openDocument(customer, room.id, ada.token),
    openDocument(customer, room.id, ada.token),
  ];
  let text = "";
  for (let round = 1; round <= 2; round += 1) {
    const tab = await customer.join(ada);
    expect(tab.messages[0]?.success).toBe(true);
    one.type(`${round} `);
    text += `${round} `;
    await other.has(text);
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
    other.type("offline ");
    text += "offline ";
    await eventually("the service answers", isBack);
    await Promise.all([one.has(text), other.has(text)]);
    expect((await customer.getRoom(room.id)).room.id).toBe(room.id);
  }
  const later = openDocument(customer, room.id, ada.token);
  await later.has(text);
  for (const { provider } of [one, other, later]) provider.destroy();
  expect(
    service.stderr().match(/^The Workers runtime crashed unexpectedly and is being restarted/gm),
  ).toHaveLength(2);
});

it("a service whose workerd is killed again while it starts answers again, or ends", async () => {
  const first = workerds().map(({ pid }) => pid);
  for (const pid of first) process.kill(pid, "SIGKILL");
  await eventually("another workerd starts", async () => workerds().some(({ pid }) => !first.includes(pid)));
  for (const { pid } of workerds()) process.kill(pid, "SIGKILL");
  const isBackOrGone = async () => {
    const response = await fetch(service.url, { signal: AbortSignal.timeout(5_000) }).catch(() => null);
    return response !== null || processTree(service.pid).length === 0;
  };
  await eventually("the service answers or has ended", isBackOrGone, 30_000);
});
