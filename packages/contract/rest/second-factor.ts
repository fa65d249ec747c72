/** The second factor on the wire of the dashboard's requests. */

import * as z from "zod";
import { Code, KnownPassword } from "./people.ts";

export const FactorSetUpRequest = z.strictObject({ password: KnownPassword });

/** A secret to be confirmed by its first code. */
export interface FactorSetUp {
  /** Base32. */
  readonly secret: string;
  /** The `otpauth:` address that authenticator apps read from a QR code. */
  readonly url: string;
  /** The secret, sealed for the request that confirms it. */
  readonly ticket: string;
}

export const FactorConfirmation = z.strictObject({ ticket: z.string().max(1024), code: Code });
export type FactorConfirmation = z.infer<typeof FactorConfirmation>;

export const FactorProofInput = z.strictObject({ password: KnownPassword, code: Code.optional() });
export type FactorProofInput = z.infer<typeof FactorProofInput>;

export interface RecoveryCodes {
  readonly recovery_codes: readonly string[];
}

export interface FactorStatus {
  /** Null without one. `recovery_codes` counts those that are left. */
  readonly second_factor: { readonly created_at: string; readonly recovery_codes: number } | null;
}
