/** Sockets and requests across the network that are refused, and counts while users come and go. */
import { request } from "node:http";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import WebSocketClient from "ws";
import { sharedService } from "../cli/shared-service.ts";
import { Customer } from "./client.ts";

const service = await sharedService();

it("refuses the address of another organization, and a request without an upgrade", async () => {
  const customer = new Customer(service, service);
  const stranger = new Customer(service, await sharedService());
  const room = await customer.createRoom();
  const user = await customer.createUser(room.id);
  const foreign = `${stranger.base}/rooms/${room.id}/socket`;
  expect((await fetch(foreign)).status).toBe(404);
  expect((await fetch(`${customer.base}/rooms/${room.id}/socket`)).status).toBe(400);
  const refused = new WebSocket(foreign.replace("http", "ws"));
  await new Promise((resolve) => refused.addEventListener("error", resolve));
  const tab = await customer.join({ ...user, token: `${user.token.slice(0, -1)}!` });
  expect((await tab.closed).code).toBe(4401);
  expect(tab.messages.map(({ event }) => event)).toContain("authFailed");
});

it("counts correctly while users come and go and the counter is reconciled all the time", async () => {
  const customer = new Customer(service, service);
  const room = await customer.createRoom();
  const users = await Promise.all(Array.from({ length: 20 }, (_, i) => customer.createUser(room.id, `${i}`)));
  let isOver = false;
  const reconciling = (async () => {
    const counts: number[] = [];
    while (!isOver) {
      const { data } = await customer.send<{ reconciled_active_participants: number }>(
        "POST",
        `/rooms/${room.id}/reconcile`,
      );
      counts.push(data.reconciled_active_participants);
    }
    return counts;
  })();
  const stays = await Promise.all(
    users.map(async (user, i) => {
      const tab = await customer.join(user);
      expect(tab.messages[0]?.success).toBe(true);
      if (i % 2 === 0) return tab;
      tab.send("LEAVE_ROOM");
      await tab.closed;
      return null;
    }),
  );
  isOver = true;
  for (const count of await reconciling) expect(count).toBeLessThanOrEqual(users.length);
  const online = stays.filter((tab) => tab !== null).length;
  expect((await customer.getRoom(room.id)).room.active_participants).toBe(online);
  const { data } = await customer.send("POST", `/rooms/${room.id}/reconcile`);
  expect(data).toMatchObject({
    previous_active_participants: online,
    reconciled_active_participants: online,
  });
  expect((await customer.listedRoom(room.id))?.active_participants).toBe(online);
});

// Malformed requests and sockets across the network: each is refused, and a neighbouring room is not affected.

const MEBIBYTE = 1024 * 1024;

const customer = new Customer(service, service);
const room = await customer.createRoom();
const neighboursRoom = room.id;
const neighbour = await customer.join(await customer.createUser(room.id));

/** Sends the beginning of a request with exactly these headers, and waits for the response before the rest. */
function begin(headers: Record<string, string>, body: Buffer): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const { port, accountId, bearer } = service;
    const path = `/v1/accounts/${accountId}/rooms`;
    const all = { Authorization: `Bearer ${bearer}`, "Content-Type": "application/json", ...headers };
    const call = request({ host: "localhost", port, path, method: "POST", headers: all }, (response) => {
      let answer = "";
      response.setEncoding("utf8").on("data", (text: string) => {
        answer += text;
      });
      response.on("end", () => {
        resolve({ status: response.statusCode ?? 0, body: answer });
        call.destroy();
      });
    });
    call.on("error", reject);
    call.flushHeaders();
    if (body.length > 0) call.write(body);
  });
}

/** Sends raw bytes, closes the connection, and returns the service's answer. */
const sendRaw = (text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(service.port, "localhost", () => socket.end(text));
    let answer = "";
    socket.on("data", (data) => {
      answer += data.toString();
    });
    socket.on("close", () => resolve(answer));
    socket.on("error", (error: NodeJS.ErrnoException) =>
      error.code === "ECONNRESET" || error.code === "EPIPE" ? resolve(answer) : reject(error),
    );
  });

async function expectUnaffected(): Promise<void> {
  expect(neighbour.socket.readyState).toBe(WebSocket.OPEN);
  expect((await customer.getRoom(neighboursRoom)).room.active_participants).toBe(1);
}

describe("bodies", () => {
  it("that are too large are refused, with and without a Content-Length", async () => {
    const announced = await begin({ "Content-Length": String(2 * MEBIBYTE) }, Buffer.alloc(0));
    const chunked = await begin({}, Buffer.alloc(MEBIBYTE + 1, " "));
    for (const { status, body } of [announced, chunked]) {
      expect(status).toBe(400);
      expect(JSON.parse(body)).toMatchObject({ success: false, error: { code: "BAD_REQUEST" } });
    }
    await expectUnaffected();
  });

  it("that are cut short have no effect", async () => {
    const before = (await customer.send<{ total: number }>("GET", "/rooms")).data.total;
    const head = `POST /v1/accounts/${service.accountId}/rooms HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${service.bearer}\r\nContent-Type: application/json\r\n`;
    await sendRaw(`${head}Content-Length: 100\r\n\r\n{"name":"half`);
    await sendRaw(`${head}Transfer-Encoding: chunked\r\n\r\n8\r\n{"name":\r\n`);
    await sendRaw(`${head}Transfer-Encoding: chunked\r\n\r\nnot a length\r\n{"name":"x"}\r\n`);
    await sendRaw("GET / HTTP/9.9\r\n\r\n");
    await sendRaw("\x16\x03\x01\x02\x00\x01");
    expect((await customer.send<{ total: number }>("GET", "/rooms")).data.total).toBe(before);
    await expectUnaffected();
  });
});

describe("sockets", () => {
  const open = (room: string) => {
    const address = `${customer.base.replace("http", "ws")}/rooms/${room}/socket`;
    const socket = new WebSocketClient(address, { skipUTF8Validation: true });
    const closed = new Promise<number>((resolve) => {
      socket.on("close", resolve);
    });
    return new Promise<{ socket: WebSocketClient; closed: Promise<number> }>((resolve, reject) => {
      socket.on("open", () => resolve({ socket, closed }));
      socket.on("error", reject);
    });
  };

  it.each([
    ["invalid JSON", "{", 4400],
    ["another message first", JSON.stringify({ type: "LEAVE_ROOM" }), 4400],
    ["JSON that is not an object", "[[[[[[]]]]]]", 4400],
    ["deep nesting", `${"[".repeat(100_000)}`, 4400],
    ["binary", Buffer.from([0, 255, 254]), 4400],
    ["no token", JSON.stringify({ type: "JOIN_ROOM" }), 4401],
    ["a long token", JSON.stringify({ type: "JOIN_ROOM", data: { token: "x".repeat(200_000) } }), 4401],
    [
      "a polluted message",
      '{"type":"JOIN_ROOM","__proto__":{"data":{}},"data":{"__proto__":{"token":"x"}}}',
      4401,
    ],
    ["more than 256 KiB", "x".repeat(256 * 1024 + 1), 4413],
  ])("that begin with %s are closed, and no others are", async (_, frame, code) => {
    const { socket, closed } = await open(neighboursRoom);
    socket.send(frame);
    expect(await closed).toBe(code);
    await expectUnaffected();
  });

  it("that send nothing or disappear, by the hundred, do not slow down the others", async () => {
    const crowd = await Promise.all(Array.from({ length: 200 }, () => open(neighboursRoom)));
    for (const { socket } of crowd.slice(0, 100)) socket.terminate();
    const user = await customer.createUser(neighboursRoom);
    const late = await customer.join(user);
    expect(late.messages[0]?.success).toBe(true);
    late.send("LEAVE_ROOM");
    expect((await late.closed).code).toBe(1000);
    for (const { socket } of crowd) socket.terminate();
    await expectUnaffected();
  });
});
