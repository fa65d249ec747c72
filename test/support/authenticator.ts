/** An authenticator in software: it makes passkeys with Ed25519 keys, and signs challenges as a browser hands them over. */
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from "@simplewebauthn/server";
import { isoCBOR } from "@simplewebauthn/server/helpers";
import { ORIGIN } from "./api.ts";

const FLAGS = { present: 0x01, verified: 0x04, attested: 0x40 };
const ED_DSA = -8;

interface Circumstances {
  /** Of the page that asks. */
  readonly origin: string;
  /** False for a person who did not unlock the authenticator. */
  readonly isVerified: boolean;
  /** The domain that the authenticator signs for; by default, that of the options. */
  readonly rpId?: string;
}

const HERE: Circumstances = { origin: ORIGIN, isVerified: true };

const base64url = (bytes: ArrayBuffer | Uint8Array): string =>
  Buffer.from(bytes as Uint8Array).toString("base64url");

const sha256 = async (bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.from(text));

const clientDataOf = (type: "webauthn.create" | "webauthn.get", challenge: string, origin: string) =>
  bytesOf(JSON.stringify({ type, challenge, origin, crossOrigin: false }));

const uint = (value: number, length: 2 | 4): Buffer => {
  const bytes = Buffer.alloc(length);
  bytes.writeUIntBE(value, 0, length);
  return bytes;
};

/** One passkey on the authenticator. */
export class SoftPasskey {
  readonly id = base64url(crypto.getRandomValues(new Uint8Array(32)));
  /** The count of signatures; 0 stays 0, as that of passkeys that are synchronized. */
  counter: number;
  userHandle = "";
  readonly #keys: CryptoKeyPair;

  private constructor(keys: CryptoKeyPair, counter: number) {
    this.#keys = keys;
    this.counter = counter;
  }

  static async create(counter = 0): Promise<SoftPasskey> {
    const keys = (await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"])) as CryptoKeyPair;
    return new SoftPasskey(keys, counter);
  }

  /** The credential for the options of a registration. */
  async register(
    options: PublicKeyCredentialCreationOptionsJSON,
    circumstances: Partial<Circumstances> = {},
  ) {
    const { origin, isVerified, rpId = options.rp.id ?? "" } = { ...HERE, ...circumstances };
    this.userHandle = options.user.id;
    const x = new Uint8Array((await crypto.subtle.exportKey("raw", this.#keys.publicKey)) as ArrayBuffer);
    const key = isoCBOR.encode(
      new Map<number, number | Uint8Array>([
        [1, 1],
        [3, ED_DSA],
        [-1, 6],
        [-2, x],
      ]),
    );
    const id = Buffer.from(this.id, "base64url");
    const attested = Buffer.concat([Buffer.alloc(16), uint(id.length, 2), id, key]);
    const authData = Buffer.concat([await this.#head(rpId, isVerified, FLAGS.attested), attested]);
    const attestation = new Map<string, unknown>([
      ["fmt", "none"],
      ["attStmt", new Map()],
      ["authData", new Uint8Array(authData)],
    ]);
    return this.#credential({
      clientDataJSON: base64url(clientDataOf("webauthn.create", options.challenge, origin)),
      attestationObject: base64url(isoCBOR.encode(attestation as never)),
      transports: ["internal", "a transport of tomorrow"],
    });
  }

  /** The credential for the options of a sign-in. */
  async sign(options: PublicKeyCredentialRequestOptionsJSON, circumstances: Partial<Circumstances> = {}) {
    const { origin, isVerified, rpId = options.rpId ?? "" } = { ...HERE, ...circumstances };
    if (this.counter > 0) this.counter += 1;
    const clientData = clientDataOf("webauthn.get", options.challenge, origin);
    const authenticatorData = await this.#head(rpId, isVerified);
    const signed = new Uint8Array(Buffer.concat([authenticatorData, await sha256(clientData)]));
    return this.#credential({
      clientDataJSON: base64url(clientData),
      authenticatorData: base64url(authenticatorData),
      signature: base64url(await crypto.subtle.sign("Ed25519", this.#keys.privateKey, signed)),
      userHandle: this.userHandle,
    });
  }

  async #head(rpId: string, isVerified: boolean, further = 0): Promise<Buffer> {
    const flags = FLAGS.present | (isVerified ? FLAGS.verified : 0) | further;
    const hash = await sha256(bytesOf(rpId));
    return Buffer.concat([hash, Buffer.from([flags]), uint(this.counter, 4)]);
  }

  #credential<Response extends object>(response: Response) {
    const { id } = this;
    const extensions = { credProps: { rk: true } };
    return { id, rawId: id, type: "public-key", response, clientExtensionResults: extensions };
  }
}
