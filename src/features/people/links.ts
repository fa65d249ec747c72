/** The secrets of invitations, of links for a new password, and of the first owner. */
import { sha256 } from "../../platform/crypto/encoding.ts";

const TOKEN_BYTES = 32;

/** A new token of 256 random bits, as links contain it. */
export const createLinkToken = (): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(TOKEN_BYTES))).toString("base64url");

/** The hash under which a link is stored: SHA-256 of its token. */
export const linkHashOf = (token: string): Promise<string> => sha256(new TextEncoder().encode(token.trim()));

/** A link for a new password; paths are below the address of the service. */
export const passwordLink = {
  lifetimeMs: 60 * 60 * 1000,
  path: (token: string): string => `/dashboard/password-links/${token}`,
};

export const invitationLink = {
  lifetimeMs: 7 * 24 * 60 * 60 * 1000,
  path: (token: string): string => `/dashboard/invitations/${token}`,
};

/** The code of the first owner: an invitation that is read from a screen, or from the log of a build. */
export const setupCode = {
  lifetimeMs: 60 * 60 * 1000,
  path: "/setup",
};

/** Without I, O, 0 and 1, which look alike. */
const CODE_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const CODE_LENGTH = 12;

/** A new code of 60 random bits, such as `ABCD-EFGH-JKLM`. */
export const createSetupCode = (): string =>
  Array.from(
    crypto.getRandomValues(new Uint8Array(CODE_LENGTH)),
    (byte) => CODE_ALPHABET[byte % CODE_ALPHABET.length],
  )
    .join("")
    .replace(/.{4}(?=.)/g, "$&-");

/** Begins the hashes of codes. No hash of a link does, so a code opens nothing where links do, uncounted. */
export const SETUP_PREFIX = "setup:";

/** The hash under which a code is stored, whatever its case and the characters between its groups. */
export const setupHashOf = async (code: string): Promise<string> =>
  SETUP_PREFIX + (await sha256(new TextEncoder().encode(code.toUpperCase().replace(/[^A-Z0-9]/g, ""))));
