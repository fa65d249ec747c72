/** The operator's token itself, as the command makes it: 256 random bits, so that its hash needs no slow function. */
import { hex, sha256 } from "../../platform/crypto/hash.ts";

/** How long a token is valid. The command that has it writes another one before. */
export const OPERATOR_TOKEN_LIFETIME_MS = 60 * 60 * 1000;

const PREFIX = "atrium_op_";
const TOKEN = new RegExp(`^${PREFIX}[0-9a-f]{64}$`);

export const createOperatorToken = (): string => PREFIX + hex(crypto.getRandomValues(new Uint8Array(32)));

/** False for what never was a token. */
export const isOperatorToken = (token: string): boolean => TOKEN.test(token);

/** What the database has of it. */
export const operatorTokenHash = (token: string): Promise<string> => sha256(new TextEncoder().encode(token));
