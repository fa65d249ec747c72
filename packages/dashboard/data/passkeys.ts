/** Passkeys in the browser, which makes them and signs by them. Each of these is null when the person cancels it. */
import { callDashboard } from "./api.ts";

interface OptionsForSignIn {
  readonly options: PublicKeyCredentialRequestOptionsJSON & { readonly timeout: number };
}
interface OptionsForCreation {
  readonly options: PublicKeyCredentialCreationOptionsJSON;
}

/** Why this page has no passkeys, as a sentence; null where it has. */
export function findPasskeyProblem(): string | null {
  if (!isSecureContext) return "Passkeys need a secure connection; open this service by https.";
  return "PublicKeyCredential" in window && "parseCreationOptionsFromJSON" in PublicKeyCredential
    ? null
    : "This browser has no passkeys for this page; update it, or use another one.";
}

function requirePasskeys(): void {
  const problem = findPasskeyProblem();
  if (problem !== null) throw new Error(problem);
}

/** The person's cancel, a page that is left, and no passkey on the device: browsers do not say which. */
const CANCELS = ["NotAllowedError", "AbortError", "TimeoutError"];

const isNamed = (error: unknown, ...names: readonly string[]): boolean =>
  error instanceof DOMException && names.includes(error.name);

async function credentialOf(ceremony: Promise<Credential | null>) {
  try {
    const credential = await ceremony;
    return credential instanceof PublicKeyCredential ? credential.toJSON() : null;
  } catch (error) {
    if (isNamed(error, ...CANCELS)) return null;
    if (!isNamed(error, "InvalidStateError")) throw error;
    throw new Error(
      "This device has a passkey of yours already; remove that one first, or use another device.",
    );
  }
}

/** Makes a passkey for the person, who proves themselves to the service by `proof`. */
export async function makePasskey(proof: object) {
  requirePasskeys();
  const { options } = await callDashboard<OptionsForCreation>("POST", "passkeys/options", proof);
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  return credentialOf(navigator.credentials.create({ publicKey }));
}

const SIGN_IN = "sign-in/passkey";

const readOptions = async () => (await callDashboard<OptionsForSignIn>("GET", SIGN_IN)).options;

/** Asks the person for one of their passkeys. */
export async function askForPasskey() {
  requirePasskeys();
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(await readOptions());
  return credentialOf(navigator.credentials.get({ publicKey }));
}

/** Offers the person's passkeys beside the field for the address, until they choose one or `left` is aborted. */
export async function offerPasskeys(left: AbortSignal) {
  if (findPasskeyProblem() !== null || !(await PublicKeyCredential.isConditionalMediationAvailable()))
    return null;
  for (;;) {
    const options = await readOptions();
    const expired = AbortSignal.timeout(options.timeout);
    const signal = AbortSignal.any([left, expired]);
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
    const credential = await credentialOf(
      navigator.credentials.get({ publicKey, mediation: "conditional", signal }),
    );
    if (credential !== null || left.aborted || !expired.aborted) return credential;
  }
}

/** Signs in by what the authenticator signed. */
export const signInBy = (credential: object) => callDashboard<object>("POST", SIGN_IN, { credential });
