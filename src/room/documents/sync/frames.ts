/** Frames of the Yjs protocols: sync and awareness, with the additions of Hocuspocus. */
import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";

const MESSAGE = {
  sync: 0,
  awareness: 1,
  auth: 2,
  queryAwareness: 3,
  syncReply: 4,
  stateless: 5,
  close: 7,
  syncStatus: 8,
  ping: 9,
  pong: 10,
} as const;
const SYNC = { step1: 0, step2: 1, update: 2 } as const;
const AUTH = { token: 0, denied: 1, authenticated: 2 } as const;

export interface AwarenessEntry {
  readonly client: number;
  readonly clock: number;
  /** JSON; `null` for a client that is gone. */
  readonly state: string;
}

/** A frame of a client about a document. */
export type DocumentFrame =
  | { readonly type: "step1"; readonly stateVector: Uint8Array }
  | { readonly type: "step2" | "update"; readonly update: Uint8Array }
  | { readonly type: "awareness"; readonly entries: readonly AwarenessEntry[] }
  | { readonly type: "queryAwareness" }
  | { readonly type: "authenticate"; readonly token: string }
  | { readonly type: "close" }
  /** A frame for other clients, or of a later version of the protocol. */
  | { readonly type: "other" };

/** A frame with the client's name for its document; empty where the address names it. */
interface NamedFrame {
  /** The name and, after a NUL, the session ID of the client. */
  readonly key: string;
  readonly frame: DocumentFrame;
}

export const nameOf = (key: string): string => key.split("\0", 1)[0] ?? "";

/** Reads a frame; null for malformed bytes. */
export function parseDocumentFrame(bytes: Uint8Array, isNamed: boolean): NamedFrame | null {
  if (bytes.length === 1 && (bytes[0] === MESSAGE.ping || bytes[0] === MESSAGE.pong))
    return { key: "", frame: { type: "other" } };
  try {
    const decoder = decoding.createDecoder(bytes);
    const key = isNamed ? decoding.readVarString(decoder) : "";
    return { key, frame: readFrame(decoder) };
  } catch {
    return null;
  }
}

function readFrame(decoder: decoding.Decoder): DocumentFrame {
  const type = decoding.readVarUint(decoder);
  switch (type) {
    case MESSAGE.sync:
    case MESSAGE.syncReply:
      return readSync(decoder);
    case MESSAGE.awareness:
      return { type: "awareness", entries: readEntries(decoding.readVarUint8Array(decoder)) };
    case MESSAGE.queryAwareness:
      return { type: "queryAwareness" };
    case MESSAGE.auth:
      if (decoding.readVarUint(decoder) !== AUTH.token) return { type: "other" };
      return { type: "authenticate", token: decoding.readVarString(decoder) };
    case MESSAGE.close:
      return { type: "close" };
    default:
      return { type: "other" };
  }
}

function readSync(decoder: decoding.Decoder): DocumentFrame {
  const type = decoding.readVarUint(decoder);
  const data = decoding.readVarUint8Array(decoder);
  switch (type) {
    case SYNC.step1:
      requireStateVector(data);
      return { type: "step1", stateVector: data };
    case SYNC.step2:
      return { type: "step2", update: data };
    case SYNC.update:
      return { type: "update", update: data };
    default:
      return { type: "other" };
  }
}

/** Throws for a malformed state vector. */
function requireStateVector(data: Uint8Array): void {
  const decoder = decoding.createDecoder(data);
  for (let clients = decoding.readVarUint(decoder); clients > 0; clients -= 1) {
    decoding.readVarUint(decoder);
    decoding.readVarUint(decoder);
  }
}

function readEntries(data: Uint8Array): AwarenessEntry[] {
  const decoder = decoding.createDecoder(data);
  const entries: AwarenessEntry[] = [];
  for (let left = decoding.readVarUint(decoder); left > 0; left -= 1) {
    const [client, clock] = [decoding.readVarUint(decoder), decoding.readVarUint(decoder)];
    const state = decoding.readVarString(decoder);
    JSON.parse(state);
    entries.push({ client, clock, state });
  }
  return entries;
}

type Writer = (encoder: encoding.Encoder) => void;

const body = (type: number, write: Writer): Uint8Array =>
  encoding.encode((encoder) => {
    encoding.writeVarUint(encoder, type);
    write(encoder);
  });

const sync = (type: number, data: Uint8Array): Uint8Array =>
  body(MESSAGE.sync, (encoder) => {
    encoding.writeVarUint(encoder, type);
    encoding.writeVarUint8Array(encoder, data);
  });

const auth = (type: number, text: string): Uint8Array =>
  body(MESSAGE.auth, (encoder) => {
    encoding.writeVarUint(encoder, type);
    encoding.writeVarString(encoder, text);
  });

/** The frames that the room sends, without the name of their document. */
export const bodies = {
  /** Asks a client for operations that the room lacks. */
  step1: (stateVector: Uint8Array) => sync(SYNC.step1, stateVector),
  step2: (update: Uint8Array) => sync(SYNC.step2, update),
  update: (update: Uint8Array) => sync(SYNC.update, update),
  awareness: (entries: readonly AwarenessEntry[]): Uint8Array =>
    body(MESSAGE.awareness, (encoder) => {
      const states = encoding.encode((inner) => {
        encoding.writeVarUint(inner, entries.length);
        for (const { client, clock, state } of entries) {
          encoding.writeVarUint(inner, client);
          encoding.writeVarUint(inner, clock);
          encoding.writeVarString(inner, state);
        }
      });
      encoding.writeVarUint8Array(encoder, states);
    }),
  queryAwareness: (): Uint8Array => body(MESSAGE.queryAwareness, () => undefined),
  /** y-websocket's refusal; its clients log the reason. */
  denied: (reason: string) => auth(AUTH.token, reason),
  refused: (reason: string) => auth(AUTH.denied, reason),
  authenticated: (scope: "read-write" | "readonly") => auth(AUTH.authenticated, scope),
  /** The reason is a field of our own protocol, for a refusal. */
  syncStatus: (isApplied: boolean, reason: string | null = null): Uint8Array =>
    body(MESSAGE.syncStatus, (encoder) => {
      encoding.writeVarInt(encoder, isApplied ? 1 : 0);
      if (reason !== null) encoding.writeVarString(encoder, reason);
    }),
  close: (reason: string): Uint8Array =>
    body(MESSAGE.close, (encoder) => encoding.writeVarString(encoder, reason)),
};

export const withKey = (key: string, frame: Uint8Array): Uint8Array =>
  encoding.encode((encoder) => {
    encoding.writeVarString(encoder, key);
    encoding.writeUint8Array(encoder, frame);
  });
