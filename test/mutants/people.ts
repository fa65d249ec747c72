/** Bugs in signing in and up. */
import type { Mutant } from "./mutant.ts";

export const PEOPLE: readonly Mutant[] = [
  {
    bug: "a pause after wrong passwords is not waited for",
    file: "src/features/people/sign-in-limits.ts",
    code: "const waitMs = await stub.guess(key, rule);",
    by: "const waitMs: any = stub.guess(key, rule);",
    tests: ["test/people/guessing.test.ts"],
  },
  {
    bug: "any password is right",
    file: "src/features/people/password.ts",
    code: "return timingSafeEqual(derived, expected);",
    by: "return derived.byteLength === expected.byteLength;",
    tests: ["test/people/password.test.ts"],
  },
  {
    bug: "a changed password leaves other browsers their access",
    file: "src/features/people/password-commands.ts",
    code: `evictPerson(personId);
  if (begun.length === 0) throw refusal;`,
    by: "if (begun.length === 0) throw refusal;",
    tests: ["test/people/sessions.test.ts"],
  },
  {
    bug: "a new password by a link leaves other browsers their access",
    file: "src/features/people/password-links.ts",
    code: `evictPerson(personId);
  if (begun.length === 0) throw linkGone();`,
    by: "if (begun.length === 0) throw linkGone();",
    tests: ["test/people/password-links.test.ts"],
  },
  {
    bug: "of two changes of a password at once the second undoes the first",
    file: "src/features/people/password-store.ts",
    code: ".where(and(passwordOf(personId), eq(credentials.password, verified)))",
    by: ".where(passwordOf(personId))",
    tests: ["test/people/sessions.test.ts"],
  },
  {
    bug: "a cookie works after signing out",
    file: "src/features/people/sign-in-plan.ts",
    code: `evictSignIn(tokenHashOf(token));
  return [deleteSignIn`,
    by: "return [deleteSignIn",
    tests: ["test/people/signing-in.test.ts"],
  },
  {
    bug: "scripts can read the cookie",
    file: "src/features/people/sign-in-cookie.ts",
    code: "httpOnly: true, ",
    by: "",
    tests: ["test/people/signing-in.test.ts"],
  },
  {
    bug: "anyone signs up in a closed deployment",
    file: "src/features/members/onboarding.ts",
    code: "if (invitation === undefined) requireMaySignUp(ctx.signUpPolicy(), input.email);",
    by: "",
    tests: ["test/people/sign-up-policy.test.ts"],
  },
  {
    bug: "look-alikes of an allowed domain sign up",
    file: "src/features/people/sign-up-policy.ts",
    code: 'domains.includes(email.slice(email.lastIndexOf("@") + 1));',
    by: "domains.some((domain) => email.endsWith(domain));",
    tests: ["test/people/sign-up-policy.test.ts"],
  },
  {
    bug: "other sites make changes with the cookie",
    file: "src/features/people/sign-in-scheme.ts",
    code: "requireSameOrigin(request, origin);",
    by: "",
    tests: ["test/people/signing-in.test.ts"],
  },
];
