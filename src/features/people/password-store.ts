/** The only SQL about people's passwords. */
import { and, eq, exists } from "drizzle-orm";
import { build, type Statement, statement } from "../../platform/d1/d1.ts";
import { credentials } from "./table.ts";

/** How `credentials` names the password among the ways to sign in. */
export const PASSWORD_PROVIDER = "credential";

const passwordOf = (personId: string) =>
  and(eq(credentials.providerId, PASSWORD_PROVIDER), eq(credentials.providerAccountId, personId));

/** The hash of a person's password. */
export const selectPassword = (personId: string): Statement<{ password: string | null }> =>
  statement(build.select({ password: credentials.password }).from(credentials).where(passwordOf(personId)));

export const insertPassword = (id: string, personId: string, password: string, now: number): Statement =>
  statement(
    build.insert(credentials).values({
      ...{ id, personId, password },
      ...{ providerId: PASSWORD_PROVIDER, providerAccountId: personId },
      ...{ createdAt: now, updatedAt: now },
    }),
  );

/** Replaces a password, unless it has been replaced since `verified`, its hash, was read. */
export const updatePassword = (
  personId: string,
  verified: string,
  password: string,
  now: number,
): Statement =>
  statement(
    build
      .update(credentials)
      .set({ password, updatedAt: now })
      .where(and(passwordOf(personId), eq(credentials.password, verified))),
  );

/** Replaces a password if `condition` selects a row when it runs. */
export const replacePassword = (
  personId: string,
  password: string,
  condition: Statement,
  now: number,
): Statement => ({
  sql: `UPDATE credentials SET password = ?, updated_at = ?
        WHERE provider_id = ? AND provider_account_id = ? AND EXISTS (${condition.sql})`,
  params: [password, now, PASSWORD_PROVIDER, personId, ...condition.params],
});

/** True while the person's password has this hash. */
export const hasPassword = (personId: string, password: string) =>
  exists(
    build
      .select({ id: credentials.id })
      .from(credentials)
      .where(and(passwordOf(personId), eq(credentials.password, password))),
  );
