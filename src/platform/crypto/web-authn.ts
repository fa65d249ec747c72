/** Verifies what authenticators sign. Loading the library takes more processor time than a request of the Worker has. */
import {
  type AuthenticationResponseJSON,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from "@simplewebauthn/server";

/** What an answer must have been signed for. */
export interface Expected {
  /** In base64url, as in the answer. */
  readonly challenge: string;
  readonly origin: string;
  /** The domain that the passkey is bound to. */
  readonly rpId: string;
}

const expectationsOf = ({ challenge, origin, rpId }: Expected) => ({
  expectedChallenge: challenge,
  expectedOrigin: origin,
  expectedRPID: rpId,
});

export interface NewPasskey {
  /** Its ID and its COSE key, in base64url. */
  readonly credentialId: string;
  readonly publicKey: string;
  /** The authenticator's count of signatures. */
  readonly counter: number;
}

/** A passkey that an unlocked authenticator has made for a challenge; null for anything else. */
export async function verifyNewPasskey(
  response: RegistrationResponseJSON,
  expected: Expected,
): Promise<NewPasskey | null> {
  const made = await verifyRegistrationResponse({ response, ...expectationsOf(expected) }).catch(refuse);
  if (made?.registrationInfo === undefined) return null;
  const { id, publicKey, counter } = made.registrationInfo.credential;
  return { credentialId: id, publicKey: Buffer.from(publicKey).toString("base64url"), counter };
}

/** The count of signatures after a use of a passkey by an unlocked authenticator; null for anything else. */
export async function verifyPasskeyUse(
  response: AuthenticationResponseJSON,
  { credentialId: id, publicKey }: Pick<NewPasskey, "credentialId" | "publicKey">,
  expected: Expected,
): Promise<number | null> {
  // The library compares counters before it knows whose they are; callers do so once the signature is verified.
  const credential = { id, publicKey: Buffer.from(publicKey, "base64url"), counter: 0 };
  const use = await verifyAuthenticationResponse({ response, credential, ...expectationsOf(expected) }).catch(
    refuse,
  );
  return use?.verified === true ? use.authenticationInfo.newCounter : null;
}

/** The library throws for each thing that is wrong with an answer. */
const refuse = () => null;
