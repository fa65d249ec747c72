/** Attacks of members and strangers on a room and its tenant, in a process of their own: `hostile.ts NAME TARGET`. */
import { WebSocket } from "ws";
import type { HostileName, Target } from "./target.ts";

/** Strangers do not share an address with the well-behaved. */
const FROM = { headers: { "CF-Connecting-IP": "203.0.113.66" } };
const [name, json] = process.argv.slice(2);
const target = JSON.parse(json ?? "") as Target;

/** Frames, sockets and requests that the service has to refuse or to handle; the parent process takes the count. */
let units = 0;
setInterval(() => process.send?.(units), 50).unref();

/** A broadcast that repeats a request id would reach no one, so no two messages have the same. */
let messages = 0;
function message(type: string, data: object): string {
  messages += 1;
  return JSON.stringify({ type, data, requestId: `h${messages}` });
}

/** Opens a socket again and again: `use` returns when it may be opened anew. */
function keepOpen(onOpen: (socket: WebSocket) => void): void {
  units += 1;
  const socket = new WebSocket(target.socketUrl, { perMessageDeflate: false, ...FROM });
  socket.on("error", () => undefined);
  socket.on("open", () => onOpen(socket));
  socket.on("close", () => setTimeout(() => keepOpen(onOpen), 10));
}

/** A socket that has joined. */
function keepJoined(token: string, onJoined: (socket: WebSocket) => void): void {
  keepOpen((socket) => {
    socket.once("message", () => onJoined(socket));
    socket.send(message("JOIN_ROOM", { token }));
  });
}

/** Sends `perTick` frames every 5 ms, whatever is answered. */
function sendAll(socket: WebSocket, perTick: number, frame: (count: number) => string): void {
  let count = 0;
  const timer = setInterval(() => {
    for (let sent = 0; sent < perTick && socket.readyState === WebSocket.OPEN; sent += 1) {
      count += 1;
      units += 1;
      socket.send(frame(count));
    }
  }, 5);
  socket.on("close", () => clearInterval(timer));
}

const times = (count: number, work: () => void): void => {
  for (let index = 0; index < count; index += 1) work();
};

/** Sends requests, `parallel` at a time, as fast as they are answered. */
function flood(parallel: number, request: () => Promise<Response>): void {
  const loop = async (): Promise<void> => {
    for (;;) {
      try {
        await (await request()).arrayBuffer();
        units += 1;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  };
  times(parallel, () => void loop());
}

const api = (path: string, init: RequestInit): Promise<Response> =>
  fetch(`${target.origin}${path}`, { ...init, headers: { ...FROM.headers, ...init.headers } });

/** A form that arrives 1 KiB every 100 ms. */
function slowUpload(): Promise<Response> {
  const boundary = "hostile";
  const field = (key: string, value: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${key}"\r\n\r\n${value}\r\n`;
  const head =
    field("roomId", target.roomId) +
    field("userId", target.userId) +
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="slow.bin"\r\n\r\n`;
  let isFirst = true;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (!isFirst) await new Promise((resolve) => setTimeout(resolve, 100));
      controller.enqueue(isFirst ? new TextEncoder().encode(head) : new Uint8Array(1024));
      isFirst = false;
    },
  });
  return api(`${target.accountPath}/upload`, {
    method: "POST",
    headers: { ...target.authorization, "Content-Type": `multipart/form-data; boundary=${boundary}` },
    body,
    duplex: "half",
  } as RequestInit);
}

const random = () => crypto.randomUUID();
const bearer = (credential: string) => ({ Authorization: `Bearer ${btoa(credential)}` });

const HOSTILES: Readonly<Record<HostileName, () => void>> = {
  frames: () =>
    times(8, () =>
      keepJoined(target.token, (socket) =>
        sendAll(socket, 50, () => message("PRESENCE_UPDATE", { state: {} })),
      ),
    ),
  "expensive reads": () =>
    times(8, () =>
      keepJoined(target.token, (socket) =>
        sendAll(socket, 1, (count) =>
          count % 2 === 0 ? message("ROOM_GET", {}) : message("USERS_GET", { offset: count % 7 }),
        ),
      ),
    ),
  joins: () => times(16, () => keepJoined(target.token, (socket) => socket.close())),
  waiting: () => times(1_100, () => keepOpen(() => undefined)),
  uploads: () => flood(100, slowUpload),
  "sign-ins": () =>
    flood(16, () =>
      api("/dashboard/api/sign-in", {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          Origin: target.origin,
          "Sec-Fetch-Site": "same-origin",
        },
        body: JSON.stringify({ email: `${random()}@example.com`, password: random() }),
      }),
    ),
  "valid credentials": () =>
    flood(32, () => api(`${target.accountPath}/rooms/${target.roomId}`, { headers: target.authorization })),
  "invalid credentials": () =>
    flood(32, () =>
      api(`${target.accountPath}/rooms/${target.roomId}`, { headers: bearer(`${random()}:ak_${random()}`) }),
    ),
  "slow readers": () => {
    times(31, () => keepJoined(target.token, (socket) => socket.pause()));
    keepJoined(target.token, (socket) =>
      sendAll(socket, 1, () => message("BROADCAST", { event: "e", data: "x".repeat(60_000) })),
    );
  },
  "large broadcasts": () =>
    times(4, () =>
      keepJoined(target.token, (socket) =>
        sendAll(socket, 1, () => message("BROADCAST", { event: "e", data: "x".repeat(60_000) })),
      ),
    ),
};

HOSTILES[name as HostileName]();
