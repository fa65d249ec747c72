/** Signing in by a password and, where the person has a second factor, a code. */

import type { Me, SignIn } from "@atrium/contract/rest/people.ts";
import { planSignIn, verifySignIn, wrongPassword } from "../people/commands.ts";
import type { DashboardContext, DashboardResult } from "../people/context.ts";
import { proveCode, wrongCode } from "./prove.ts";
import { both, selectFactorOf } from "./store.ts";

/**
 * Signs a person in. A wrong password and an unknown address take the same work and get the same UNAUTHORIZED. Without
 * the code that the person needs, or with a wrong one, VALIDATION_ERROR of the field `code`.
 */
export async function signIn(
  ctx: DashboardContext,
  { code, ...input }: SignIn,
): Promise<DashboardResult<Me>> {
  const { me, proof, further } = await verifySignIn(ctx, input, selectFactorOf(input.email));
  const factor = await proveCode(ctx, me.person, code, further);
  const { cookies, statements } = await planSignIn(ctx, me.person, both(proof, factor.proof));
  const [begun] = await ctx.db.run([...statements, ...factor.use]);
  if (begun.length === 0) throw factor.hasFactor ? wrongCode() : wrongPassword();
  return { data: me, cookies };
}
