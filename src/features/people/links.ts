/** The secrets in links that people send each other: invitations, and links for a new password. */
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
