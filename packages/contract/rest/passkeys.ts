/** Passkeys of people on the wire, with the credentials as browsers write them (`PublicKeyCredential.toJSON()`). */

import * as z from "zod";
import { Name } from "../text.ts";

/** Bytes in base64url. */
const bytes = (maxLength: number) =>
  z
    .string()
    .regex(/^[\w-]*$/, "must be base64url")
    .max(maxLength);

/** An authenticator's ID of a credential has up to 1023 bytes. */
const CredentialId = bytes(1364);

/** Browsers and authenticators add fields to their JSON. */
const credential = <Shape extends z.ZodRawShape>(response: Shape) =>
  z.looseObject({
    id: CredentialId,
    rawId: CredentialId,
    type: z.literal("public-key"),
    response: z.looseObject({ clientDataJSON: bytes(8192), ...response }),
    clientExtensionResults: z.looseObject({}),
  });

const TRANSPORTS = ["ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"] as const;

/** The ways to reach an authenticator: hints, of which unknown ones are dropped. */
const Transports = z
  .array(z.string().max(64))
  .max(16)
  .transform((names) => TRANSPORTS.filter((known) => names.includes(known)));
export type Transports = z.infer<typeof Transports>;

/** Body of `POST /dashboard/api/passkeys/options`. A person who has no password sends none. */
export const PasskeyProof = z.strictObject({ password: z.string().max(1024).optional() });
export type PasskeyProof = z.infer<typeof PasskeyProof>;

/** Body of `POST /dashboard/api/passkeys`. */
export const PasskeyCreation = z.strictObject({
  name: Name,
  credential: credential({ attestationObject: bytes(65_536), transports: Transports.default([]) }),
});
export type PasskeyCreation = z.infer<typeof PasskeyCreation>;

export const PasskeyUpdate = z.strictObject({ name: Name });

/** Body of `POST /dashboard/api/passkeys/:id/delete`. */
export const PasskeyDeletion = z.strictObject({ endSessions: z.boolean() });
export type PasskeyDeletion = z.infer<typeof PasskeyDeletion>;

/** Body of `POST /dashboard/api/sign-in/passkey`. */
export const PasskeySignIn = z.strictObject({
  credential: credential({
    authenticatorData: bytes(8192),
    signature: bytes(8192),
    userHandle: bytes(128).nullish(),
  }),
});
export type PasskeySignIn = z.infer<typeof PasskeySignIn>;

export interface Passkey {
  readonly id: string;
  readonly name: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
}
