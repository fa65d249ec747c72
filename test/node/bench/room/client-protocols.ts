/** Minimal clients of the servers' protocols. */
import type { ClientProtocol, ClientSocket, Frame } from "./client-socket.ts";

const JOINED = Buffer.from("Room joined");
const SUBSCRIBED = Buffer.from("Subscription changed");
const MARK = Buffer.from('"mark":');

/** An Atrium client that accepts batches and subscribes to all presence, like the SDK. */
export interface AtriumProtocol extends ClientProtocol {
  /** A write to an entry; only its response contains the mark. */
  write(key: string, value: string, mark: string): Frame;
}

export function atriumProtocol(url: string, token: string): AtriumProtocol {
  return {
    url,
    join: async (socket: ClientSocket) => {
      await socket.ask(message("JOIN_ROOM", { token, batch: true, usersLimit: 200 }), (frame) =>
        frame.includes(JOINED),
      );
      const subscription = message(
        "PRESENCE_SUBSCRIBE",
        { target: "*", on: true, numbers: true },
        "subscribe",
      );
      await socket.ask(subscription, (frame) => frame.includes(SUBSCRIBED));
    },
    replyTo: readerMark,
    intervalOf,
    broadcast: (text) => message("BROADCAST", { event: "message", data: text }),
    updatePresence: (text) => message("PRESENCE_UPDATE", { state: { cursor: text } }),
    write: (key, value, mark) => message("STORE_SET", { store: "bench", key, value }, mark),
  };
}

/** The reply to the mark that the room sends after each MiB (R62). */
function readerMark(frame: Buffer): string | null {
  const at = frame.lastIndexOf(MARK);
  if (at < 0) return null;
  const digits = at + MARK.length;
  return message("MARK", { mark: Number.parseInt(frame.toString("latin1", digits, digits + 16), 10) });
}

/** Bytes at the beginning of a frame that show that it is presence, and the interval of such frames (R87). */
const HEAD_BYTES = 80;
const PRESENCE_HEAD = /"presence","data":\{(?:"every":(\d+))?/;

function intervalOf(frame: Buffer): number | null {
  const match = PRESENCE_HEAD.exec(frame.toString("latin1", 0, HEAD_BYTES));
  return match === null ? null : Number(match[1] ?? 0);
}

const message = (type: string, data: object, requestId?: string): string =>
  JSON.stringify({ type, requestId, data });

/** Protocol of the bare object and partyserver, which forward every message. */
export const plainProtocol = (url: string): ClientProtocol => ({
  url,
  join: async () => {},
  broadcast: (text) => text,
  updatePresence: (text) => JSON.stringify({ cursor: text }),
});

/** Engine.IO 4 over a WebSocket: `0` opens, `40` enters the main namespace, `42` is an event. */
export const socketIoProtocol = (origin: string, room: string): ClientProtocol => ({
  url: `${origin}/socket.io/?EIO=4&transport=websocket&room=${room}`,
  join: (socket) => socket.ask("40", (frame) => frame.toString("latin1", 0, 2) === "40"),
  broadcast: (text) => `42${JSON.stringify(["message", text])}`,
  updatePresence: (text) => `42${JSON.stringify(["cursor", { cursor: text }])}`,
});

const AWARENESS = 1;
const AUTH = 2;
const STATELESS = 5;
const TOKEN = 0;

/** Frames of a document, as lib0 encodes them: its name, the message type, and the fields of that type. */
export function hocuspocusProtocol(url: string, document: string, participant: number): ClientProtocol {
  const name = text(document);
  let clock = 0;
  return {
    url,
    join: (socket) =>
      socket.ask(
        Buffer.concat([name, uint(AUTH), uint(TOKEN), text("")]),
        (frame) => frame[name.length] === AUTH,
      ),
    broadcast: (content) => Buffer.concat([name, uint(STATELESS), text(content)]),
    updatePresence: (content) => {
      clock += 1;
      const state = text(JSON.stringify({ cursor: content }));
      const update = Buffer.concat([uint(1), uint(participant + 1), uint(clock), state]);
      return Buffer.concat([name, uint(AWARENESS), uint(update.length), update]);
    },
  };
}

function text(content: string): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([uint(bytes.length), bytes]);
}

/** Seven bits per byte, lowest first; the eighth bit means that more follow. */
function uint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}
