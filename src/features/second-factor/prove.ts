/** Verifies a code of a person's second factor, where they have one. */

import { AppError } from "@atrium/contract/errors.ts";
import type { Person } from "@atrium/contract/rest/people.ts";
import type { Statement } from "../../platform/d1/d1.ts";
import { logError } from "../../platform/log.ts";
import type { DashboardContext } from "../people/context.ts";
import { factorSealer, placeOf } from "./sealed-secret.ts";
import {
  hasNoFactor,
  recoveryCodeIsUnused,
  type StoredFactor,
  selectFactor,
  selectRecoveryCode,
  spendRecoveryCode,
  spendStep,
  stepIsUnused,
} from "./store.ts";
import { normalizeCode, recoveryHashOf, stepOf } from "./totp.ts";

interface FactorProof {
  /** False for a person without a second factor, who needs no code. */
  readonly hasFactor: boolean;
  /** The condition of everything that the code permits: it holds until the code is used. */
  readonly proof: ReturnType<typeof hasNoFactor>;
  /** Uses the code up: behind all else in the same batch, so that of two batches with one code only one does anything. */
  readonly use: readonly Statement[];
}

const refusal = (why: string) => new AppError("Auth", "VALIDATION_ERROR", `code: ${why}`);

export const wrongCode = () => refusal("this code is wrong or was used; enter the next one");

/**
 * Verifies the code of a person who has proved themselves by their password. A wrong one counts as a guess for the
 * person, wherever it comes from. VALIDATION_ERROR for a missing or wrong one, RATE_LIMITED while a pause lasts.
 */
export async function proveFactor(
  ctx: DashboardContext,
  person: Pick<Person, "id" | "email">,
  code: string | undefined,
): Promise<FactorProof> {
  const [[factor]] = await ctx.db.run([selectFactor(person.id)]);
  return proveCode(ctx, person, code, factor);
}

/** The same for a second factor that has been read; undefined for none. */
export async function proveCode(
  ctx: DashboardContext,
  { id, email }: Pick<Person, "id" | "email">,
  code: string | undefined,
  factor: StoredFactor | undefined,
): Promise<FactorProof> {
  if (factor === undefined) return { hasFactor: false, proof: hasNoFactor(id), use: [] };
  const given = normalizeCode(code ?? "");
  if (given === "") throw refusal("enter a code of your second factor");
  const guess = await ctx.limits.countCode(email);
  const codeHash = await recoveryHashOf(given);
  const found = await (codeHash === null ? byApp(ctx, factor, given) : byRecovery(ctx, id, codeHash));
  if (found === null) throw wrongCode();
  await guess.forgive();
  return { hasFactor: true, ...found };
}

async function byApp(ctx: DashboardContext, factor: StoredFactor, code: string) {
  let secret: string;
  try {
    secret = await factorSealer(ctx.jwtSecrets()).open(factor, placeOf(factor.personId));
  } catch (error) {
    logError("A second factor can no longer be decrypted", { request: ctx.requestId }, error);
    throw refusal("the codes of your app can no longer be checked; enter a recovery code");
  }
  const step = await stepOf(secret, code, ctx.now());
  if (step === null || step <= factor.lastStep) return null;
  return { proof: stepIsUnused(factor, step), use: [spendStep(factor, step)] };
}

async function byRecovery(ctx: DashboardContext, personId: string, codeHash: string) {
  const [[row]] = await ctx.db.run([selectRecoveryCode(personId, codeHash)]);
  if (row === undefined) return null;
  return { proof: recoveryCodeIsUnused(personId, codeHash), use: [spendRecoveryCode(personId, codeHash)] };
}
