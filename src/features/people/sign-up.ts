/** Plans a new person with a first sign-in session. */
import type { Statement } from "../../platform/d1/d1.ts";
import { violatedConstraint } from "../../platform/d1/d1-errors.ts";
import { AppError } from "../../platform/errors.ts";
import { hashPassword } from "./password.ts";
import { insertPassword } from "./password-store.ts";
import type { DashboardContext } from "./person-context.ts";
import type { Person, SignUp } from "./schema.ts";
import { planSignIn } from "./sign-in-plan.ts";
import { insertPerson } from "./store.ts";

/** A person to create and to sign in, with the statements that do both. */
export interface PlannedSignUp {
  readonly person: Person;
  readonly statements: readonly [Statement, ...Statement[]];
  /** The `Set-Cookie` headers of the new sign-in session. */
  readonly cookies: readonly string[];
}

/**
 * Plans a person and their first sign-in session.
 * Pass the error of a batch with the statements through {@link signUpError}.
 */
export async function planSignUp(
  ctx: DashboardContext,
  personId: string,
  { name, email, password }: SignUp,
): Promise<PlannedSignUp> {
  const now = ctx.now();
  const hash = await hashPassword(password);
  const { cookies, statements } = await planSignIn(ctx, { id: personId, email }, hash);
  return {
    person: { id: personId, name, email },
    statements: [
      insertPerson(personId, { name, email }, now),
      insertPassword(ctx.newId(), personId, hash, now),
      ...statements,
    ],
    cookies,
  };
}

/** Translates the error of a batch that creates a person: CONFLICT for a taken address; other errors unchanged. */
export const signUpError = (error: unknown): unknown =>
  violatedConstraint(error) === "unique:people.email"
    ? new AppError("Auth", "CONFLICT", "This email address is taken; sign in if it is yours")
    : error;
