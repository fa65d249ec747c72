/** The frames of Yjs' protocols: sync and awareness as all clients speak them, and what Hocuspocus' adds. */
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

/** One client's entry in a document's awareness. */
export interface AwarenessEntry {
  readonly client: number;
  readonly clock: number;
  /** JSON; `null` when the client is gone. */
  readonly state: string;
}

/** What a client sends about a document. */
export type DocumentFrame =
  | { readonly type: "step1"; readonly stateVector: Uint8Array }
  | { readonly type: "step2" | "update"; readonly update: Uint8Array }
  | { readonly type: "awareness"; readonly entries: readonly AwarenessEntry[] }
  | { readonly type: "queryAwareness" }
  | { readonly type: "authenticate"; readonly token: string }
  | { readonly type: "close" }
  /** Something that concerns other clients, or a later version of the protocol. */
  | { readonly type: "other" };

/** A frame with the name that its client gives the document: empty where the address names it. */
export interface NamedFrame {
  /** As the client writes it: a name and, after a NUL, what the client tells its sessions apart by. */
  readonly key: string;
  readonly frame: DocumentFrame;
}

/** The document that a key names. */
export const nameOf = (key: string): string => key.split("\0", 1)[0] ?? "";

/** Reads a frame; null for bytes that are none. */
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

/** Throws unless it can be read. */
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

/** A frame without the document's name, which {@link withKey} adds for the clients that want it. */
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

/** Asks the client for what the server lacks. */
export const step1Body = (stateVector: Uint8Array) => sync(SYNC.step1, stateVector);
/** Answers a client's step 1: it has everything when it has applied this. */
export const step2Body = (update: Uint8Array) => sync(SYNC.step2, update);
export const updateBody = (update: Uint8Array) => sync(SYNC.update, update);

export const awarenessBody = (entries: readonly AwarenessEntry[]): Uint8Array =>
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
  });

export const queryAwarenessBody = (): Uint8Array => body(MESSAGE.queryAwareness, () => undefined);

/** Of y-websocket: its clients log the reason. */
export const deniedBody = (reason: string): Uint8Array =>
  body(MESSAGE.auth, (encoder) => {
    encoding.writeVarUint(encoder, 0);
    encoding.writeVarString(encoder, reason);
  });

/** Of Hocuspocus. */
export const refusedBody = (reason: string) => auth(AUTH.denied, reason);
export const authenticatedBody = (scope: "read-write" | "readonly") => auth(AUTH.authenticated, scope);
export const syncStatusBody = (isApplied: boolean): Uint8Array =>
  body(MESSAGE.syncStatus, (encoder) => encoding.writeVarInt(encoder, isApplied ? 1 : 0));
/** Of our own client: Hocuspocus' with the reason. */
export const refusedUpdateBody = (reason: string): Uint8Array =>
  body(MESSAGE.syncStatus, (encoder) => {
    encoding.writeVarInt(encoder, 0);
    encoding.writeVarString(encoder, reason);
  });
export const closeBody = (reason: string): Uint8Array =>
  body(MESSAGE.close, (encoder) => encoding.writeVarString(encoder, reason));

/** The frame for clients that know the document by this key. */
export const withKey = (key: string, frame: Uint8Array): Uint8Array =>
  encoding.encode((encoder) => {
    encoding.writeVarString(encoder, key);
    encoding.writeUint8Array(encoder, frame);
  });
