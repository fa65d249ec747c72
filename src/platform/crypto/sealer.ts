/** Encrypts texts that are stored, with keys derived from the deployment's secrets. */

import type { Database, Statement } from "../d1/d1.ts";
import { WorkBudget } from "../flow/work-budget.ts";
import { base64ToBytes, bytesToBase64, concatBytes, hex } from "./encoding.ts";

export interface Sealed {
  /** Names the key, and reveals nothing about it. */
  readonly keyId: string;
  readonly sealed: string;
}

/** No key of the sealer has sealed the text for this place. */
class NotSealedError extends Error {}

/** Seals with the key of the first secret, and opens values sealed with any of them. */
export interface Sealer {
  /** `place` says where the text belongs: it can be opened for the same place only. */
  seal(text: string, place: readonly string[]): Promise<Sealed>;
  open(sealed: Sealed, place: readonly string[]): Promise<string>;
  /** The keys of the secrets that only open, because a newer one has replaced them. */
  replacedKeyIds(): Promise<readonly string[]>;
}

interface SealingKey {
  readonly id: string;
  readonly key: CryptoKey;
}

const KEY_ID_BYTES = 8;
const NONCE_BYTES = 12;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

const keys = new Map<string, Promise<SealingKey>>();

function sealingKey(secret: string, purpose: string): Promise<SealingKey> {
  const name = JSON.stringify([purpose, secret]);
  const known = keys.get(name);
  if (known !== undefined) return known;
  const key = deriveKey(secret, purpose);
  keys.set(name, key);
  return key;
}

/** HKDF: each `info` gives a key of its own, which says nothing about the secret's other uses. */
export const hkdf = (info: string) => ({
  name: "HKDF",
  hash: "SHA-256",
  salt: new Uint8Array(),
  info: encoder.encode(info),
});

export const hkdfMaterial = (secret: string): Promise<CryptoKey> =>
  crypto.subtle.importKey("raw", encoder.encode(secret), "HKDF", false, ["deriveKey", "deriveBits"]);

async function deriveKey(secret: string, purpose: string): Promise<SealingKey> {
  const material = await hkdfMaterial(secret);
  const id = await crypto.subtle.deriveBits(hkdf(`${purpose} key id`), material, 8 * KEY_ID_BYTES);
  const aes = { name: "AES-GCM", length: 256 };
  const key = await crypto.subtle.deriveKey(hkdf(purpose), material, aes, false, ["encrypt", "decrypt"]);
  return { id: hex(new Uint8Array(id)), key };
}

export function sealerFor(
  [current, ...replaced]: readonly [current: string, ...replaced: string[]],
  purpose: string,
): Sealer {
  const keyOf = (secret: string) => sealingKey(secret, purpose);
  const cipher = (iv: Uint8Array<ArrayBuffer>, place: readonly string[]) => ({
    name: "AES-GCM",
    iv,
    additionalData: encoder.encode(JSON.stringify(place)),
  });
  return {
    async seal(text, place) {
      const { id, key } = await keyOf(current);
      const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
      const ciphertext = await crypto.subtle.encrypt(cipher(nonce, place), key, encoder.encode(text));
      return { keyId: id, sealed: bytesToBase64(concatBytes(nonce, new Uint8Array(ciphertext))) };
    },
    async open({ keyId, sealed }, place) {
      const known = await Promise.all([current, ...replaced].map(keyOf));
      const key = known.find(({ id }) => id === keyId)?.key;
      if (key === undefined) throw new NotSealedError("The key of a sealed text is not known");
      try {
        const bytes = base64ToBytes(sealed);
        const [nonce, ciphertext] = [bytes.slice(0, NONCE_BYTES), bytes.slice(NONCE_BYTES)];
        return decoder.decode(await crypto.subtle.decrypt(cipher(nonce, place), key, ciphertext));
      } catch (error) {
        if (!(error instanceof DOMException)) throw error;
        throw new NotSealedError("A sealed text is damaged, or belongs elsewhere", { cause: error });
      }
    },
    replacedKeyIds: () => Promise.all(replaced.map(async (secret) => (await keyOf(secret)).id)),
  };
}

/** Seals a value for a client that brings it back before `expiresAt`, in epoch milliseconds. */
export async function sealTicket(
  sealer: Sealer,
  value: object,
  expiresAt: number,
  place: readonly string[] = [],
): Promise<string> {
  const { keyId, sealed } = await sealer.seal(JSON.stringify({ value, expiresAt }), place);
  return `${keyId}.${sealed}`;
}

/** The value of a ticket; null when it has expired, or the sealer did not make it for this place. */
export async function openTicket<Value extends object>(
  sealer: Sealer,
  ticket: string,
  now: number,
  place: readonly string[] = [],
): Promise<Value | null> {
  const [keyId = "", sealed = ""] = ticket.split(".");
  try {
    const text = await sealer.open({ keyId, sealed }, place);
    const { value, expiresAt } = JSON.parse(text) as { value: Value; expiresAt: number };
    return expiresAt > now ? value : null;
  } catch (error) {
    if (error instanceof NotSealedError) return null;
    throw error;
  }
}

const ROWS_AT_ONCE = 100;
const CHUNKS_PER_RUN = 20;

interface Resealing<Row> {
  select(limit: number): Statement<Row>;
  /** The statement after which {@link select} no longer finds the row. */
  reseal(row: Row): Promise<Statement>;
}

/** Resolves to false when rows are left for a later run. */
export const resealInChunks = <Row>(
  db: Database,
  { select, reseal }: Resealing<Row>,
  queries: WorkBudget | null = null,
): Promise<boolean> =>
  new WorkBudget(CHUNKS_PER_RUN, queries).run(async () => {
    const [rows] = await db.run([select(ROWS_AT_ONCE)]);
    const [first, ...others] = await Promise.all(rows.map(reseal));
    if (first !== undefined) await db.run([first, ...others]);
    return rows.length === ROWS_AT_ONCE;
  });
