/** The commands of passkeys: adding, renaming and deleting one's own, and signing in by one. */

import { AppError, notFound } from "@atrium/contract/errors.ts";
import type {
  PasskeyCreation,
  PasskeyDeletion,
  PasskeyProof,
  PasskeySignIn,
  Transports,
} from "@atrium/contract/rest/passkeys.ts";
import { MAX_PASSKEYS } from "@atrium/contract/sign-in.ts";
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from "@simplewebauthn/server";
import { violatedConstraint } from "../../platform/d1/d1.ts";
import { log } from "../../platform/log.ts";
import { planSignIn, requirePasswords } from "../people/commands.ts";
import type { DashboardContext, DashboardResult, PersonContext } from "../people/context.ts";
import { requireProof } from "../people/password-commands.ts";
import { evictPerson } from "../people/sessions.ts";
import { CHALLENGE_LIFETIME_MS, challengeIn, createChallenge, readChallenge } from "./passkey-challenge.ts";
import { presentPasskey } from "./present.ts";
import {
  deleteOtherSignIns,
  deletePasskey,
  insertPasskey,
  isNew,
  type KnownPasskey,
  type PasskeyRow,
  type PasskeyUse,
  selectPasskey,
  selectPasskeyName,
  selectPasskeys,
  updatePasskey,
  updateUse,
} from "./store.ts";

/** COSE numbers of EdDSA, ES256 and RS256: every authenticator knows one of them. */
const ALGORITHMS = [-8, -7, -257];

const RP_NAME = "Atrium";

/** The domain that passkeys are bound to. FORBIDDEN at an IP address, where browsers make none. */
function relyingPartyOf({ origin }: DashboardContext): string {
  const { hostname } = new URL(origin);
  if (/^\[|^[\d.]+$/.test(hostname))
    throw new AppError(
      "Auth",
      "FORBIDDEN",
      `Passkeys need a name instead of the address ${hostname}; on this machine, open http://localhost`,
    );
  return hostname;
}

const tooMany = () =>
  new AppError("Auth", "FORBIDDEN", `You have ${MAX_PASSKEYS} passkeys, which is the most; remove one first`);

/** Only the session that proved itself can answer its challenge. */
const registrationOf = ({ person }: PersonContext): string => `registration ${person.tokenHash}`;

/** The person's ID as authenticators keep it, and return it with each use. */
const handleOf = (personId: string): string => Buffer.from(personId).toString("base64url");

/** The browser's options for a new passkey. FORBIDDEN when the person has as many as they can have. */
export async function planPasskey(ctx: PersonContext, { password }: PasskeyProof) {
  requirePasswords(ctx);
  const rpId = relyingPartyOf(ctx);
  const refusal = new AppError("Auth", "VALIDATION_ERROR", "password: this is not your password");
  await requireProof(ctx, password, refusal);
  const { personId, name, email } = ctx.person;
  const [rows] = await ctx.db.run([selectPasskeys(personId)]);
  if (rows.length >= MAX_PASSKEYS) throw tooMany();
  const options: PublicKeyCredentialCreationOptionsJSON = {
    rp: { id: rpId, name: RP_NAME },
    user: { id: handleOf(personId), name: email, displayName: name },
    challenge: createChallenge(registrationOf(ctx), ctx.cookieSecret, ctx.now()),
    timeout: CHALLENGE_LIFETIME_MS,
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ alg, type: "public-key" })),
    excludeCredentials: rows.map(({ credentialId: id, transports }) => ({
      ...{ id, type: "public-key" },
      transports: JSON.parse(transports) as Transports,
    })),
    authenticatorSelection: {
      residentKey: "required",
      requireResidentKey: true,
      userVerification: "required",
    },
    attestation: "none",
  };
  return { data: { options } };
}

/** Adds a passkey. VALIDATION_ERROR unless the browser made it for this session's challenge; CONFLICT for a known one. */
export async function createPasskey(ctx: PersonContext, { name, credential }: PasskeyCreation) {
  const { tokenHash, personId } = ctx.person;
  const made = await verifyRegistration(ctx, credential);
  const row: PasskeyRow = {
    id: ctx.newId(),
    personId,
    name,
    ...made,
    transports: JSON.stringify(credential.response.transports),
    challengedAt: 0,
    createdAt: ctx.now(),
    lastUsedAt: null,
  };
  const [rows, inserted] = await ctx.db
    .run([selectPasskeys(personId), insertPasskey(row, tokenHash)])
    .catch((error: unknown) => {
      throw violatedConstraint(error) === "unique:passkeys.credential_id" ? known() : error;
    });
  if (inserted.length === 0)
    throw rows.length >= MAX_PASSKEYS
      ? tooMany()
      : new AppError("Auth", "UNAUTHORIZED", "Not signed in; sign in first");
  return { data: { passkey: presentPasskey(row) } };
}

const known = () => new AppError("Auth", "CONFLICT", "This passkey is added already; sign in with it");

async function verifyRegistration(ctx: PersonContext, response: PasskeyCreation["credential"]) {
  const { expected, challengedAt } = expectedOf(ctx, response, registrationOf(ctx));
  const made = challengedAt === null ? null : await ctx.limits.verifyNewPasskey(response, expected);
  if (made !== null) return made;
  const why = "The passkey was not made for this request, or too late; add it again";
  throw new AppError("Auth", "VALIDATION_ERROR", why);
}

/** What the answer must be signed for, and when its challenge was made; null for one of another purpose or time. */
function expectedOf(
  ctx: DashboardContext,
  { response }: { readonly response: { readonly clientDataJSON: string } },
  purpose: string,
) {
  const challenge = challengeIn(response.clientDataJSON);
  return {
    expected: { challenge, origin: ctx.origin, rpId: relyingPartyOf(ctx) },
    challengedAt: readChallenge(challenge, purpose, ctx.cookieSecret, ctx.now()),
  };
}

const noPasskey = () => notFound("Auth", "Passkey");

export async function renamePasskey(ctx: PersonContext, id: string, name: string) {
  const [[row]] = await ctx.db.run([updatePasskey(ctx.person.personId, id, name)]);
  if (row === undefined) throw noPasskey();
  return { data: { passkey: presentPasskey(row) } };
}

/**
 * Removes a passkey, and ends the person's other sign-in sessions if they want that. CONFLICT for the last way to
 * sign in.
 */
export async function removePasskey(ctx: PersonContext, id: string, { endSessions }: PasskeyDeletion) {
  const { personId, tokenHash } = ctx.person;
  const [[found], deleted] = await ctx.db.run([
    selectPasskeyName(personId, id),
    deletePasskey(personId, id, ctx.oidc()?.issuer ?? null),
    ...(endSessions ? [deleteOtherSignIns(personId, tokenHash, id)] : []),
  ]);
  if (found === undefined) throw noPasskey();
  if (deleted.length === 0)
    throw new AppError(
      "Auth",
      "CONFLICT",
      "You could not sign in without this passkey; add another one first",
    );
  if (endSessions) evictPerson(personId);
  return { data: {} };
}

const SIGN_IN = "sign-in";

/** The browser's options for signing in. They name no person: the authenticator knows its passkeys of this domain. */
export async function planPasskeySignIn(ctx: DashboardContext) {
  requirePasswords(ctx);
  const options: PublicKeyCredentialRequestOptionsJSON = {
    rpId: relyingPartyOf(ctx),
    challenge: createChallenge(SIGN_IN, ctx.cookieSecret, ctx.now()),
    timeout: CHALLENGE_LIFETIME_MS,
    userVerification: "required",
  };
  return { data: { options } };
}

const refused = () =>
  new AppError(
    "Auth",
    "UNAUTHORIZED",
    "This passkey does not sign anyone in; try again, or sign in another way",
  );

/** Signs a person in by a passkey alone, which is held and unlocked. UNAUTHORIZED for anything else. */
export async function signInByPasskey(
  ctx: DashboardContext,
  { credential }: PasskeySignIn,
): Promise<DashboardResult<object>> {
  requirePasswords(ctx);
  const guess = await ctx.limits.countPasskey();
  const [[passkey]] = await ctx.db.run([selectPasskey(credential.id)]);
  if (passkey === undefined) throw refused();
  const use = await verifyUse(ctx, guess, credential, passkey);
  const { personId: id, email } = passkey;
  const { cookies, statements } = await planSignIn(ctx, { id, email }, isNew(use));
  const [begun] = await ctx.db.run([...statements, updateUse(use, ctx.now())]);
  if (begun.length === 0) throw refused();
  await guess.forgive();
  return { data: {}, cookies };
}

async function verifyUse(
  ctx: DashboardContext,
  guess: Awaited<ReturnType<DashboardContext["limits"]["countPasskey"]>>,
  answer: PasskeySignIn["credential"],
  passkey: KnownPasskey,
): Promise<PasskeyUse> {
  const { userHandle, ...response } = answer.response;
  const { expected, challengedAt } = expectedOf(ctx, answer, SIGN_IN);
  if (challengedAt === null || userHandle !== handleOf(passkey.personId)) throw refused();
  const { credentialId, publicKey } = passkey;
  const counter = await guess.verify({ ...answer, response }, { credentialId, publicKey }, expected);
  if (counter === null) throw refused();
  if (passkey.counter > 0 && counter <= passkey.counter) {
    log("warn", "A passkey was refused: its counter went back, so it may have been copied", {
      passkey: passkey.id,
    });
    throw refused();
  }
  return { passkey, counter, challengedAt };
}
