/** The only SQL about people, but for what better-auth runs itself. */
import { eq, lt } from "drizzle-orm";
import { build, type Statement, statement } from "../platform/d1.ts";
import { people, sessions } from "./table.ts";

/** A session with all that it opens. */
export interface SessionRow {
  readonly tokenHash: string;
  readonly expiresAt: number;
  readonly personId: string;
  readonly name: string;
  readonly email: string;
  /** JSON: a list of `id`, `name` and `role`, the first one joined first. */
  readonly organizations: string;
}

/** SQL for the organizations of the person whose id `person` gives, as JSON. */
const organizationsOf = (person: string) => `(
  SELECT json_group_array(json_object('id', id, 'name', name, 'role', role)) FROM (
    SELECT accounts.id, accounts.name, memberships.role
    FROM memberships JOIN accounts ON accounts.id = memberships.account_id
    WHERE memberships.person_id = ${person}
    ORDER BY memberships.joined_at, memberships.account_id
  )
)`;

/** The session of a token with its person and that person's organizations, expired or not. */
export const selectSession = (tokenHash: string): Statement<SessionRow> => ({
  sql: `SELECT sessions.token_hash AS tokenHash, sessions.expires_at AS expiresAt,
          people.id AS personId, people.name, people.email, ${organizationsOf("people.id")} AS organizations
        FROM sessions JOIN people ON people.id = sessions.person_id WHERE sessions.token_hash = ?`,
  params: [tokenHash],
});

/** The organizations of a person, as after signing in. */
export const selectOrganizations = (personId: string): Statement<Pick<SessionRow, "organizations">> => ({
  sql: `SELECT ${organizationsOf("?")} AS organizations`,
  params: [personId],
});

export const updatePerson = (personId: string, name: string, now: number): Statement =>
  statement(build.update(people).set({ name, updatedAt: now }).where(eq(people.id, personId)));

export const deleteSession = (tokenHash: string): Statement =>
  statement(build.delete(sessions).where(eq(sessions.tokenHash, tokenHash)));

export const deleteExpiredSessions = (now: number): Statement =>
  statement(build.delete(sessions).where(lt(sessions.expiresAt, now)));
