/** Codes of authenticator apps (TOTP, RFC 6238), and recovery codes. */
import { sha256 } from "../../platform/crypto/encoding.ts";
import { lazily } from "../../platform/lazily.ts";

const otpauth = lazily(() => import("otpauth"));

const ISSUER = "Atrium";
/** 160 bits, as RFC 4226 recommends. */
const SECRET_BYTES = 20;
const RECOVERY_CODES = 10;
const RECOVERY_BYTES = 10;

/** A new secret in Base32, and the same as the address that authenticator apps read from a QR code. */
export async function createTotp(email: string): Promise<{ readonly secret: string; readonly url: string }> {
  const { Secret, TOTP } = await otpauth();
  const totp = new TOTP({ issuer: ISSUER, label: email, secret: new Secret({ size: SECRET_BYTES }) });
  return { secret: totp.secret.base32, url: totp.toString() };
}

/** Spaces, hyphens and upper case make no difference. */
export const normalizeCode = (code: string): string => code.replaceAll(/[\s-]/g, "").toLowerCase();

/** The time step of a normalized code of this secret, at most one from that of `now` (epoch ms); null for any other code. */
export async function stepOf(secret: string, code: string, now: number): Promise<number | null> {
  if (!/^[0-9]{6}$/.test(code)) return null;
  const { Secret, TOTP } = await otpauth();
  const totp = new TOTP({ secret: Secret.fromBase32(secret) });
  const delta = totp.validate({ token: code, timestamp: now, window: 1 });
  return delta === null ? null : totp.counter({ timestamp: now }) + delta;
}

/** The hash under which a recovery code is stored; null for a normalized code that cannot be one. */
export const recoveryHashOf = async (code: string): Promise<string | null> =>
  /^[a-z2-7]{16}$/.test(code) ? sha256(new TextEncoder().encode(code)) : null;

/** New recovery codes of 80 random bits, in groups of four characters, and their hashes. */
export async function createRecoveryCodes(): Promise<{
  readonly codes: readonly string[];
  readonly hashes: readonly string[];
}> {
  const { Secret } = await otpauth();
  const plain = Array.from({ length: RECOVERY_CODES }, () =>
    new Secret({ size: RECOVERY_BYTES }).base32.toLowerCase(),
  );
  const hashes = await Promise.all(plain.map((code) => sha256(new TextEncoder().encode(code))));
  return { codes: plain.map((code) => code.replaceAll(/(.{4})(?=.)/g, "$1-")), hashes };
}
