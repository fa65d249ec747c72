/** Strangers send nonsense over the network; each gets its answer, and the neighbours notice nothing. */
import { request } from "node:http";
import { connect } from "node:net";
import { beforeAll, describe, expect, it } from "vitest";
import WebSocketClient from "ws";
import { type SharedService, useSharedService } from "../node/shared-service.ts";
import { Customer, type Tab } from "./client.ts";

const MEBIBYTE = 1024 * 1024;

let service: SharedService;
let customer: Customer;
let neighbour: Tab;
let neighboursRoom: string;

beforeAll(async () => {
  service = await useSharedService();
  customer = new Customer(service, service);
  const room = await customer.createRoom();
  neighboursRoom = room.id;
  neighbour = await customer.join(await customer.createUser(room.id));
});

/** Sends a request with these very headers, and the body in these pieces; the answer may come before its end. */
function post(
  headers: Record<string, string>,
  pieces: Iterable<Buffer>,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const { port, accountId, bearer } = service;
    const path = `/v1/accounts/${accountId}/rooms`;
    const all = { Authorization: `Bearer ${bearer}`, "Content-Type": "application/json", ...headers };
    const call = request({ host: "localhost", port, path, method: "POST", headers: all }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (text: string) => {
        body += text;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
    });
    call.on("error", reject);
    for (const piece of pieces) call.write(piece);
    call.end();
  });
}

/** Says something raw and hangs up when the answer, if any, has begun. */
const sayRaw = (text: string): Promise<string> =>
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

async function expectUndisturbed(): Promise<void> {
  expect(neighbour.socket.readyState).toBe(WebSocket.OPEN);
  expect((await customer.getRoom(neighboursRoom)).room.active_participants).toBe(1);
}

describe("bodies", () => {
  it("that are too large are refused, announced or not", async () => {
    const large = Buffer.alloc(2 * MEBIBYTE, " ");
    const announced = await post({ "Content-Length": String(large.length) }, [large]);
    const chunked = await post(
      {},
      Array.from({ length: 32 }, () => Buffer.alloc(64 * 1024, " ")),
    );
    for (const { status, body } of [announced, chunked]) {
      expect(status).toBe(400);
      expect(JSON.parse(body)).toMatchObject({ success: false, error: { code: "BAD_REQUEST" } });
    }
    await expectUndisturbed();
  });

  it("that break off leave nothing behind", async () => {
    const before = (await customer.send<{ total: number }>("GET", "/rooms")).data.total;
    const head = `POST /v1/accounts/${service.accountId}/rooms HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${service.bearer}\r\nContent-Type: application/json\r\n`;
    await sayRaw(`${head}Content-Length: 100\r\n\r\n{"name":"half`);
    await sayRaw(`${head}Transfer-Encoding: chunked\r\n\r\n8\r\n{"name":\r\n`);
    await sayRaw(`${head}Transfer-Encoding: chunked\r\n\r\nnot a length\r\n{"name":"x"}\r\n`);
    await sayRaw("GET / HTTP/9.9\r\n\r\n");
    await sayRaw("\x16\x03\x01\x02\x00\x01");
    expect((await customer.send<{ total: number }>("GET", "/rooms")).data.total).toBe(before);
    await expectUndisturbed();
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
    ["text that is no JSON", "{", 4400],
    ["another message first", JSON.stringify({ type: "LEAVE_ROOM" }), 4400],
    ["JSON that is no object", "[[[[[[]]]]]]", 4400],
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
  ])("that begin with %s are closed, and nobody else is", async (_, frame, code) => {
    const { socket, closed } = await open(neighboursRoom);
    socket.send(frame);
    expect(await closed).toBe(code);
    await expectUndisturbed();
  });

  it("by the hundred that say nothing or vanish cost the others nothing", async () => {
    const crowd = await Promise.all(Array.from({ length: 200 }, () => open(neighboursRoom)));
    for (const { socket } of crowd.slice(0, 100)) socket.terminate();
    const user = await customer.createUser(neighboursRoom);
    const late = await customer.join(user);
    expect(late.messages[0]?.success).toBe(true);
    late.send("LEAVE_ROOM");
    expect((await late.closed).code).toBe(1000);
    for (const { socket } of crowd) socket.terminate();
    await expectUndisturbed();
  });
});
