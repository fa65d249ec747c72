/** Verifies and replaces passwords: the person's own, and a forgotten one. */
import type { Statement } from "../../platform/d1/d1.ts";
import { AppError } from "../../platform/errors.ts";
import { knownBrowserOf } from "./browser-cookie.ts";
import { hashPassword, verifyPassword } from "./password.ts";
import { deletePasswordLinksOf } from "./password-link-store.ts";
import { replacePassword, selectPassword, updatePassword } from "./password-store.ts";
import type { DashboardContext, DashboardResult, PersonContext } from "./person-context.ts";
import type { PasswordChange } from "./schema.ts";
import { type PersonKey, planSignIn } from "./sign-in-plan.ts";
import { deleteSignInsOf } from "./store.ts";
import { evictPerson } from "./verify-cookie.ts";

/**
 * Verifies the password of the signed-in person: throws `refusal` for a wrong one, which counts as a guess. Returns its
 * hash, and the guess to forgive.
 */
export async function verifyOwnPassword(ctx: PersonContext, password: string, refusal: AppError) {
  const { personId, email } = ctx.person;
  const browser = knownBrowserOf(ctx.browserCookie, email, ctx.cookieSecret);
  const guess = await ctx.limits.countPassword(email, browser);
  const [[row]] = await ctx.db.run([selectPassword(personId)]);
  const turn = await ctx.limits.takeTurn(email, browser);
  const stored = row?.password ?? "";
  if (!(await verifyPassword(password, stored))) throw refusal;
  await turn.forgive();
  return { stored, guess };
}

/**
 * Changes the password, ends all of the person's sign-in sessions and begins a new one in this browser: all or
 * nothing. VALIDATION_ERROR when the current password is wrong.
 */
export async function changePassword(
  ctx: PersonContext,
  { current, next }: PasswordChange,
): Promise<DashboardResult<Record<string, never>>> {
  const { personId, email } = ctx.person;
  const refusal = new AppError("Auth", "VALIDATION_ERROR", "current: this is not your password");
  const { stored, guess } = await verifyOwnPassword(ctx, current, refusal);
  const hash = await hashPassword(next);
  const { cookies, statements } = await planSignIn(ctx, { id: personId, email }, hash);
  const [, , begun] = await ctx.db.run([
    updatePassword(personId, stored, hash, ctx.now()),
    deleteSignInsOf(personId, hash),
    ...statements,
    deletePasswordLinksOf(personId),
  ]);
  evictPerson(personId);
  if (begun.length === 0) throw refusal;
  await guess.forgive();
  return { data: {}, cookies };
}

/**
 * Plans a new password in place of a forgotten one, if `condition` selects a row when the statements run. They also end
 * all of the person's sign-in sessions and begin one in this browser: the third returns a row if they did.
 */
export async function planNewPassword(
  ctx: DashboardContext,
  person: PersonKey,
  password: string,
  condition: Statement,
) {
  const hash = await hashPassword(password);
  const { cookies, statements } = await planSignIn(ctx, person, hash);
  const replacement = [
    replacePassword(person.id, hash, condition, ctx.now()),
    deleteSignInsOf(person.id, hash),
    ...statements,
  ] as const;
  return { cookies, statements: replacement };
}
