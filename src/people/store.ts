/** The only SQL about people, but for what better-auth runs itself. */
import { eq, lt, sql } from "drizzle-orm";
import { accounts } from "../accounts/table.ts";
import { build, prepared, type Statement, statement } from "../database.ts";
import { memberships } from "../members/table.ts";
import { people, sessions } from "./table.ts";

/** A session with all that it opens. */
export interface SessionRow {
  readonly id: string;
  readonly tokenHash: string;
  readonly expiresAt: number;
  readonly personId: string;
  readonly name: string;
  readonly email: string;
  /** JSON: a list of `id`, `name` and `role`, the first one joined first. */
  readonly organizations: string;
}

/** A person's organizations as JSON, inside of a statement that has the person. */
const ORGANIZATIONS = sql<string>`(
  SELECT json_group_array(json_object('id', id, 'name', name, 'role', role)) FROM (
    SELECT ${accounts.id} AS id, ${accounts.name} AS name, ${memberships.role} AS role
    FROM ${memberships} JOIN ${accounts} ON ${accounts.id} = ${memberships.accountId}
    WHERE ${memberships.personId} = ${people.id}
    ORDER BY ${memberships.joinedAt}, ${memberships.accountId}
  )
)`;

const sessionByHash = prepared(() =>
  build
    .select({
      id: sql<string>`${sessions.id}`.as("id"),
      tokenHash: sql<string>`${sessions.tokenHash}`.as("tokenHash"),
      expiresAt: sql<number>`${sessions.expiresAt}`.as("expiresAt"),
      personId: sql<string>`${people.id}`.as("personId"),
      name: sql<string>`${people.name}`.as("name"),
      email: sql<string>`${people.email}`.as("email"),
      organizations: ORGANIZATIONS.as("organizations"),
    })
    .from(sessions)
    .innerJoin(people, eq(people.id, sessions.personId))
    .where(eq(sessions.tokenHash, sql.placeholder("tokenHash"))),
);

/** The session of a token with its person and that person's organizations, expired or not. */
export const selectSession = (tokenHash: string): Statement<SessionRow> => sessionByHash({ tokenHash });

/** The organizations of a person, as after signing in. */
export const selectOrganizations = (personId: string): Statement<Pick<SessionRow, "organizations">> =>
  statement(
    build
      .select({ organizations: ORGANIZATIONS.as("organizations") })
      .from(people)
      .where(eq(people.id, personId)),
  );

export const updatePerson = (personId: string, name: string, now: number): Statement =>
  statement(build.update(people).set({ name, updatedAt: now }).where(eq(people.id, personId)));

export const deleteSession = (tokenHash: string): Statement =>
  statement(build.delete(sessions).where(eq(sessions.tokenHash, tokenHash)));

export const deleteExpiredSessions = (now: number): Statement =>
  statement(build.delete(sessions).where(lt(sessions.expiresAt, now)));
