/** Sets up and turns off a person's second factor, and makes new recovery codes. */

import { AppError } from "@atrium/contract/errors.ts";
import type {
  FactorConfirmation,
  FactorProofInput,
  FactorSetUp,
  FactorStatus,
} from "@atrium/contract/rest/second-factor.ts";
import { MINUTE_MS, presentTime } from "@atrium/contract/time.ts";
import { openTicket, sealTicket } from "../../platform/crypto/sealer.ts";
import type { PersonContext } from "../people/context.ts";
import { requireProof } from "../people/password-commands.ts";
import { proveFactor, wrongCode } from "./prove.ts";
import { factorSealer, placeOf } from "./sealed-secret.ts";
import { deleteFactor, insertFactor, replaceRecoveryCodes, selectFactorStatus } from "./store.ts";
import { createRecoveryCodes, createTotp, normalizeCode, stepOf } from "./totp.ts";

/** The time to scan the QR code and to enter the first code. */
const SET_UP_MS = 30 * MINUTE_MS;

const wrongPassword = () => new AppError("Auth", "VALIDATION_ERROR", "password: this is not your password");
const exists = () =>
  new AppError("Auth", "CONFLICT", "You have a second factor already; turn it off to set up another one");
const tooLate = () =>
  new AppError("Auth", "CONFLICT", "This took too long; begin to set up the second factor again");
const noPassword = () =>
  new AppError("Auth", "CONFLICT", "A second factor protects a password, and you have none; set one first");
const none = () => new AppError("Auth", "NOT_FOUND", "You have no second factor; set one up first");

export async function getFactorStatus(ctx: PersonContext): Promise<{ data: FactorStatus }> {
  const [[row]] = await ctx.db.run([selectFactorStatus(ctx.person.personId)]);
  const second_factor = row ? { created_at: presentTime(row.createdAt), recovery_codes: row.left } : null;
  return { data: { second_factor } };
}

const placeOfTicket = (personId: string) => ["set-up", ...placeOf(personId)];

/**
 * Makes a secret, which only this response contains; the ticket has it sealed until its first code confirms it.
 * VALIDATION_ERROR for a wrong password, CONFLICT without one and where a second factor is active.
 */
export async function setUpFactor(ctx: PersonContext, password: string): Promise<{ data: FactorSetUp }> {
  const { personId, email } = ctx.person;
  const { stored } = await requireProof(ctx, password, wrongPassword());
  if (stored === null) throw noPassword();
  const [[active]] = await ctx.db.run([selectFactorStatus(personId)]);
  if (active !== undefined) throw exists();
  const { secret, url } = await createTotp(email);
  const [sealer, place] = [factorSealer(ctx.jwtSecrets()), placeOfTicket(personId)];
  const ticket = await sealTicket(sealer, { secret }, ctx.now() + SET_UP_MS, place);
  return { data: { secret, url, ticket } };
}

/**
 * Activates a second factor by its first code, and returns its recovery codes, which only this response contains.
 * VALIDATION_ERROR for a wrong code, CONFLICT for an expired ticket and where a second factor is active.
 */
export async function confirmFactor(ctx: PersonContext, { ticket, code }: FactorConfirmation) {
  const { personId } = ctx.person;
  const sealer = factorSealer(ctx.jwtSecrets());
  const opened = await openTicket<{ secret: string }>(sealer, ticket, ctx.now(), placeOfTicket(personId));
  if (opened === null) throw tooLate();
  const { secret } = opened;
  const step = await stepOf(secret, normalizeCode(code), ctx.now());
  if (step === null) throw wrongCode();
  const { codes, hashes } = await createRecoveryCodes();
  const sealed = await sealer.seal(secret, placeOf(personId));
  const row = { personId, ...sealed, lastStep: step, createdAt: ctx.now() };
  const [inserted] = await ctx.db.run(insertFactor(row, hashes));
  if (inserted.length === 0) throw exists();
  return { data: { recovery_codes: codes } };
}

/** Verifies the password and a code of the person, who must have a second factor. */
async function proveBoth(ctx: PersonContext, { password, code }: FactorProofInput) {
  await requireProof(ctx, password, wrongPassword());
  const { personId: id, email } = ctx.person;
  const proved = await proveFactor(ctx, { id, email }, code);
  if (!proved.hasFactor) throw none();
  return proved;
}

/** VALIDATION_ERROR for a wrong password or code, NOT_FOUND without a second factor. */
export async function turnOffFactor(ctx: PersonContext, input: FactorProofInput) {
  const { proof } = await proveBoth(ctx, input);
  const [deleted] = await ctx.db.run([deleteFactor(ctx.person.personId, proof)]);
  if (deleted.length === 0) throw wrongCode();
  return { data: {} };
}

/** Replaces all recovery codes; only this response contains the new ones. The same errors. */
export async function renewRecoveryCodes(ctx: PersonContext, input: FactorProofInput) {
  const { proof, use } = await proveBoth(ctx, input);
  const { codes, hashes } = await createRecoveryCodes();
  const [made] = await ctx.db.run([...replaceRecoveryCodes(ctx.person.personId, hashes, proof), ...use]);
  if (made.length === 0) throw wrongCode();
  return { data: { recovery_codes: codes } };
}
