/** Exports the personal data of the signed-in person, page by page. */

import { AppError } from "@atrium/contract/errors.ts";
import type { PersonExport, PersonRecord } from "@atrium/contract/rest/privacy.ts";
import { presentNullableTime, presentTime } from "@atrium/contract/time.ts";
import * as z from "zod";
import { decodeCursor, decodePosition, encodeCursor, toPage } from "../../http/lists.ts";
import type { Database, Results } from "../../platform/d1/d1.ts";
import type { PlacedTenant } from "../../platform/d1/databases.ts";
import { readAuditEntries } from "../audit/queries.ts";
import type { PersonContext } from "../people/context.ts";
import { PASSWORD_PROVIDER } from "../people/table.ts";
import { type MembershipOfPerson, selectMembershipsOf, selectOwnData } from "./statements.ts";

const CHANGES_AT_ONCE = 500;

/** The next position in the audit logs: an organization's ID, and the cursor there. */
const Position = z.tuple([z.string(), z.string().nullable()]);

const encode = (accountId: string, after: string | null): string => encodeCursor([accountId, after]);

function decode(cursor: string): z.infer<typeof Position> {
  const position = decodeCursor(Position, cursor);
  if (position !== null) return position;
  const why = "after: must be the cursor of an earlier page; leave it out to start at the first";
  throw new AppError("Auth", "VALIDATION_ERROR", why);
}

export const exportMe = async (ctx: PersonContext, after: string | null) => ({
  data: await exportPerson(ctx.db, ctx.tenantOf, ctx.person.personId, after),
});

/** A page of the export: first the person's own records, then their changes in one organization after the other. */
export async function exportPerson(
  db: Database,
  tenantOf: (accountId: string) => PlacedTenant | Promise<PlacedTenant>,
  personId: string,
  after: string | null,
): Promise<PersonExport> {
  if (after === null) {
    const [memberships, ...own] = await db.run([selectMembershipsOf(personId), ...selectOwnData(personId)]);
    const [first] = memberships;
    return { records: presentOwn(memberships, own), cursor: first ? encode(first.accountId, null) : null };
  }
  const [accountId, changesAfter] = decode(after);
  const [memberships] = await db.run([selectMembershipsOf(personId)]);
  // Organizations that the person has left meanwhile are skipped.
  const index = memberships.findIndex((one) => one.accountId >= accountId);
  const membership = memberships[index];
  if (membership === undefined) return { records: [], cursor: null };
  const from = membership.accountId === accountId ? changesAfter : null;
  const { records, next } = await changesOf(await tenantOf(membership.accountId), personId, from);
  if (next !== null) return { records, cursor: encode(membership.accountId, next) };
  const following = memberships[index + 1];
  return { records, cursor: following ? encode(following.accountId, null) : null };
}

function presentOwn(
  memberships: readonly MembershipOfPerson[],
  [people, credentials, passkeys, factors, signIns, invitations, links, mails]: Results<
    ReturnType<typeof selectOwnData>
  >,
): PersonRecord[] {
  const lifetime = (row: { readonly createdAt: number; readonly expiresAt: number }) => ({
    created_at: presentTime(row.createdAt),
    expires_at: presentTime(row.expiresAt),
  });
  const records = <Row>(rows: readonly Row[], present: (row: Row) => PersonRecord) => rows.map(present);
  return [
    ...records(people, ({ createdAt, ...person }) => ({
      type: "person",
      ...person,
      created_at: presentTime(createdAt),
    })),
    ...records(credentials, ({ provider, subject, createdAt, updatedAt }) =>
      provider === PASSWORD_PROVIDER
        ? { type: "password", created_at: presentTime(createdAt), updated_at: presentTime(updatedAt) }
        : { type: "provider", issuer: provider, subject, created_at: presentTime(createdAt) },
    ),
    ...records(passkeys, (row) => ({
      type: "passkey",
      name: row.name,
      created_at: presentTime(row.createdAt),
      last_used_at: presentNullableTime(row.lastUsedAt),
    })),
    ...records(factors, ({ createdAt, left }) => ({
      type: "second_factor",
      created_at: presentTime(createdAt),
      recovery_codes: left,
    })),
    ...records(signIns, (row) => ({
      ...{ type: "sign_in", id: row.id, browser: row.browser },
      ...lifetime(row),
      last_used_at: presentTime(row.updatedAt),
    })),
    ...records(memberships, ({ accountId, organization, role, joinedAt }) => ({
      type: "membership",
      organization_id: accountId,
      organization,
      role,
      joined_at: presentTime(joinedAt),
    })),
    ...records(invitations, (row) => ({
      type: "invitation",
      organization_id: row.accountId,
      id: row.id,
      email: row.email,
      ...lifetime(row),
    })),
    ...records(links, (row) => ({ type: "password_link", ...lifetime(row) })),
    ...records(mails, (row) => ({
      type: "mail",
      organization_id: row.accountId,
      topic: row.topic,
      state: row.isDone ? "done" : "waiting",
      ...lifetime(row),
    })),
  ];
}

/** The person's changes in an organization, newest first. */
async function changesOf(tenant: PlacedTenant, personId: string, after: string | null) {
  const position = after === null ? undefined : (decodePosition(after) ?? undefined);
  const page = toPage({ limit: CHANGES_AT_ONCE, offset: 0, after: position });
  const { entries, cursor } = await readAuditEntries(tenant, page, { actorId: personId });
  const organization_id = tenant.accountId;
  const records = entries.map((entry) => ({ type: "change", organization_id, entry }) as const);
  return { records, next: cursor };
}
