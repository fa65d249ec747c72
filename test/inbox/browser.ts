/** A browser that has subscribed to pushes: its push service is the receiver, and it decrypts what came there. */
import { base64url, decodeJwt, importJWK, jwtVerify } from "jose";
import { inject } from "vitest";
import { base64ToBytes, concatBytes } from "../../src/platform/crypto/encoding.ts";
import type { Received } from "../support/receiver.ts";

interface Pushed {
  readonly headers: Readonly<Record<string, string>>;
  /** What the service worker is given. */
  readonly data: unknown;
}

const { subtle } = crypto;
const utf8 = (text: string) => new Uint8Array(new TextEncoder().encode(text));
const CURVE = { name: "ECDH", namedCurve: "P-256" };
const SERVICE = `http://127.0.0.1:${inject("receiver").port}`;

async function derive(
  secret: Uint8Array<ArrayBuffer>,
  salt: Uint8Array<ArrayBuffer>,
  info: Uint8Array<ArrayBuffer>,
  bytes: number,
) {
  const key = await subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]);
  return new Uint8Array(
    await subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt, info }, key, bytes * 8),
  );
}

export class PushBrowser {
  readonly name = crypto.randomUUID();
  readonly endpoint: string;
  readonly #keys: CryptoKeyPair;
  readonly #publicKey: Uint8Array<ArrayBuffer>;
  readonly #auth = crypto.getRandomValues(new Uint8Array(16));

  private constructor(behaviour: string, keys: CryptoKeyPair, publicKey: Uint8Array<ArrayBuffer>) {
    this.endpoint = `${SERVICE}/${behaviour}/${this.name}`;
    this.#keys = keys;
    this.#publicKey = publicKey;
  }

  /** Its push service behaves as this path of the receiver. */
  static async create(behaviour = "status/201"): Promise<PushBrowser> {
    const keys = (await subtle.generateKey(CURVE, true, ["deriveBits"])) as CryptoKeyPair;
    const publicKey = new Uint8Array((await subtle.exportKey("raw", keys.publicKey)) as ArrayBuffer);
    return new PushBrowser(behaviour, keys, publicKey);
  }

  /** As `PushSubscription.toJSON()` of the browser. */
  toJSON() {
    const keys = { p256dh: base64url.encode(this.#publicKey), auth: base64url.encode(this.#auth) };
    return { endpoint: this.endpoint, expirationTime: null, keys };
  }

  /** Requests of the receiver that change how its `fragile` paths behave. */
  async service(change: "break" | "repair"): Promise<void> {
    await fetch(`${SERVICE}/${change}/${this.name}/now`);
  }

  async pushed(): Promise<Pushed[]> {
    const received = (await (await fetch(`${SERVICE}/received/${this.name}`)).json()) as Received[];
    return Promise.all(
      received.map(async ({ headers, base64 }) => ({
        headers,
        data: await this.#open(base64ToBytes(base64)),
      })),
    );
  }

  /** RFC 8291 within RFC 8188. */
  async #open(body: Uint8Array<ArrayBuffer>): Promise<unknown> {
    const [salt, idLength] = [body.slice(0, 16), body[20] ?? 0];
    const [sender, record] = [body.slice(21, 21 + idLength), body.slice(21 + idLength)];
    const theirs = await subtle.importKey("raw", sender, CURVE, false, []);
    // workers-types call the field `$public`, which is its name in C++.
    const algorithm: object = { name: "ECDH", public: theirs };
    const shared = await subtle.deriveBits(algorithm as { name: string }, this.#keys.privateKey, 256);
    const info = concatBytes(utf8("WebPush: info\0"), this.#publicKey, sender);
    const input = await derive(new Uint8Array(shared), this.#auth, info, 32);
    const [key, iv] = [
      await derive(input, salt, utf8("Content-Encoding: aes128gcm\0"), 16),
      await derive(input, salt, utf8("Content-Encoding: nonce\0"), 12),
    ];
    const aes = await subtle.importKey("raw", key, "AES-GCM", false, ["decrypt"]);
    const padded = new Uint8Array(await subtle.decrypt({ name: "AES-GCM", iv }, aes, record));
    const end = padded.lastIndexOf(2);
    if (padded.slice(end + 1).some((byte) => byte !== 0)) throw new Error("The padding is broken");
    return JSON.parse(new TextDecoder().decode(padded.slice(0, end)));
  }
}

/** The claims of a push's proof, verified by the key with which browsers subscribe; `now` is in epoch ms. */
export async function verifyVapid(authorization: string, publicKey: string, now: number) {
  const [, token = "", key] = /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(authorization) ?? [];
  if (key !== publicKey) throw new Error(`Another key has signed ${JSON.stringify(decodeJwt(token))}`);
  const point = base64url.decode(publicKey);
  const [x, y] = [base64url.encode(point.slice(1, 33)), base64url.encode(point.slice(33))];
  const verifier = await importJWK({ kty: "EC", crv: "P-256", x, y }, "ES256");
  return (await jwtVerify(token, verifier, { currentDate: new Date(now) })).payload;
}
