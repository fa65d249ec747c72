/** The servers' protocols, as thin as they can be spoken. */
import type { Frame, Line, Voice } from "./line.ts";

const JOINED = Buffer.from("Room joined");
const SUBSCRIBED = Buffer.from("Subscription changed");
const MARK = Buffer.from('"mark":');

/** A member of Atrium's, who takes batches and hears of everybody, as its SDK does. */
export interface AtriumVoice extends Voice {
  /** The write of an entry; its answer alone holds the mark. */
  write(key: string, value: string, mark: string): Frame;
}

export function atriumVoice(url: string, token: string): AtriumVoice {
  return {
    url,
    enter: async (line: Line) => {
      await line.ask(message("JOIN_ROOM", { token, batch: true }), (frame) => frame.includes(JOINED));
      const subscription = message("PRESENCE_SUBSCRIBE", { target: "*", on: true }, "subscribe");
      await line.ask(subscription, (frame) => frame.includes(SUBSCRIBED));
    },
    heed: readerMark,
    say: (text) => message("BROADCAST", { event: "message", data: text }),
    show: (text) => message("PRESENCE_UPDATE", { state: { cursor: text } }),
    write: (key, value, mark) => message("STORE_SET", { store: "bench", key, value }, mark),
  };
}

/** How far a reader has come, which the room asks for after each MiB (R62). */
function readerMark(frame: Buffer): string | null {
  const at = frame.lastIndexOf(MARK);
  if (at < 0) return null;
  const digits = at + MARK.length;
  return message("MARK", { mark: Number.parseInt(frame.toString("latin1", digits, digits + 16), 10) });
}

const message = (type: string, data: object, requestId?: string): string =>
  JSON.stringify({ type, requestId, data });

/** Of the bare object and of partyserver, which pass on whatever comes. */
export const plainVoice = (url: string): Voice => ({
  url,
  enter: async () => {},
  say: (text) => text,
  show: (text) => JSON.stringify({ cursor: text }),
});

/** Engine.IO 4 over a WebSocket: `0` opens, `40` enters the main namespace, `42` is an event. */
export const socketIoVoice = (origin: string, room: string): Voice => ({
  url: `${origin}/socket.io/?EIO=4&transport=websocket&room=${room}`,
  enter: (line) => line.ask("40", (frame) => frame.toString("latin1", 0, 2) === "40"),
  say: (text) => `42${JSON.stringify(["message", text])}`,
  show: (text) => `42${JSON.stringify(["cursor", { cursor: text }])}`,
});

const AWARENESS = 1;
const AUTH = 2;
const STATELESS = 5;
const TOKEN = 0;

/** Frames of a document: its name, the kind of message, and that kind's own fields, as lib0 encodes them. */
export function hocuspocusVoice(url: string, document: string, member: number): Voice {
  const name = text(document);
  let clock = 0;
  return {
    url,
    enter: (line) =>
      line.ask(
        Buffer.concat([name, uint(AUTH), uint(TOKEN), text("")]),
        (frame) => frame[name.length] === AUTH,
      ),
    say: (content) => Buffer.concat([name, uint(STATELESS), text(content)]),
    show: (content) => {
      clock += 1;
      const state = text(JSON.stringify({ cursor: content }));
      const update = Buffer.concat([uint(1), uint(member + 1), uint(clock), state]);
      return Buffer.concat([name, uint(AWARENESS), uint(update.length), update]);
    },
  };
}

function text(content: string): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([uint(bytes.length), bytes]);
}

/** Seven bits a byte, the lowest first; the eighth says that more follow. */
function uint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}
