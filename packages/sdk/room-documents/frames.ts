/** Binary frames of documents: a document's key, and a message of Yjs' protocols. */
import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";

const SYNC = 0;
const AWARENESS = 1;
const DENIED = 2;
const QUERY_AWARENESS = 3;
const CLOSE = 7;
const STATUS = 8;
const [STEP_1, STEP_2, UPDATE] = [0, 1, 2];

export type DocumentMessage =
  | { readonly type: "question"; readonly stateVector: Uint8Array }
  | { readonly type: "answer"; readonly update: Uint8Array }
  | { readonly type: "update"; readonly update: Uint8Array }
  | { readonly type: "awareness"; readonly entries: Uint8Array }
  | { readonly type: "queryAwareness" }
  /** The outcome of the earliest unanswered update or answer; `refusal` is null for a stored one. */
  | { readonly type: "status"; readonly refusal: string | null }
  /** The document was refused, or closed. */
  | { readonly type: "closed"; readonly reason: string };

/** Null for a malformed frame, and for one of a later version. */
export function readFrame(
  frame: Uint8Array,
): { readonly key: string; readonly message: DocumentMessage } | null {
  try {
    const decoder = decoding.createDecoder(frame);
    const key = decoding.readVarString(decoder);
    const message = readMessage(decoder);
    return message && { key, message };
  } catch {
    return null;
  }
}

function readMessage(decoder: decoding.Decoder): DocumentMessage | null {
  switch (decoding.readVarUint(decoder)) {
    case SYNC:
      return readSync(decoding.readVarUint(decoder), decoding.readVarUint8Array(decoder));
    case AWARENESS:
      return { type: "awareness", entries: decoding.readVarUint8Array(decoder) };
    case QUERY_AWARENESS:
      return { type: "queryAwareness" };
    case STATUS: {
      const isStored = decoding.readVarInt(decoder) === 1;
      return { type: "status", refusal: isStored ? null : decoding.readVarString(decoder) };
    }
    case DENIED:
      decoding.readVarUint(decoder);
      return { type: "closed", reason: decoding.readVarString(decoder) };
    case CLOSE:
      return { type: "closed", reason: decoding.readVarString(decoder) };
    default:
      return null;
  }
}

function readSync(type: number, data: Uint8Array): DocumentMessage | null {
  if (type === STEP_1) return { type: "question", stateVector: data };
  if (type === STEP_2) return { type: "answer", update: data };
  return type === UPDATE ? { type: "update", update: data } : null;
}

const write = (key: string, numbers: readonly number[], data?: Uint8Array): Uint8Array<ArrayBuffer> =>
  encoding.encode((encoder) => {
    encoding.writeVarString(encoder, key);
    for (const number of numbers) encoding.writeVarUint(encoder, number);
    if (data !== undefined) encoding.writeVarUint8Array(encoder, data);
  });

export const questionFrame = (key: string, stateVector: Uint8Array) =>
  write(key, [SYNC, STEP_1], stateVector);
export const answerFrame = (key: string, update: Uint8Array) => write(key, [SYNC, STEP_2], update);
export const updateFrame = (key: string, update: Uint8Array) => write(key, [SYNC, UPDATE], update);
export const awarenessFrame = (key: string, entries: Uint8Array) => write(key, [AWARENESS], entries);
export const closeFrame = (key: string) => write(key, [CLOSE]);
