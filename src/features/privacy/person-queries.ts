/** Reads what is kept of the person who is signed in, page by page. */
import { base64url } from "jose";
import * as z from "zod";
import { decodePosition, toPage } from "../../http/lists.ts";
import type { Database } from "../../platform/d1/d1.ts";
import type { PlacedTenant } from "../../platform/d1/databases.ts";
import { AppError } from "../../platform/errors.ts";
import { presentTime } from "../../platform/time.ts";
import { readAuditEntries } from "../audit/queries.ts";
import type { DashboardResult, PersonContext } from "../people/context.ts";
import { type MembershipOfPerson, selectMembershipsOf, selectOwnData } from "./person-store.ts";
import type { PersonExport, PersonRecord } from "./schema.ts";

const CHANGES_AT_ONCE = 500;

/** Where the audit log of an organization goes on. */
interface ChangePosition {
  readonly accountId: string;
  readonly after: string | null;
}

const Position = z
  .tuple([z.string(), z.string().nullable()])
  .transform(([accountId, after]): ChangePosition => ({ accountId, after }));

const encode = ({ accountId, after }: ChangePosition): string =>
  base64url.encode(JSON.stringify([accountId, after]));

function decode(cursor: string): ChangePosition {
  try {
    return Position.parse(JSON.parse(new TextDecoder().decode(base64url.decode(cursor))));
  } catch {
    const why = "after: must be the cursor of an earlier page; leave it out to start at the first";
    throw new AppError("Auth", "VALIDATION_ERROR", why);
  }
}

/** The export of the signed-in person. */
export const exportMe = async (
  ctx: PersonContext,
  after: string | null,
): Promise<DashboardResult<PersonExport>> => ({
  data: await exportPerson(ctx.db, ctx.tenantOf, ctx.person.personId, after),
});

/** Some of what is kept of a person: first everything but what the person changed in organizations, then that, one organization after the other. */
export async function exportPerson(
  db: Database,
  tenantOf: (accountId: string) => PlacedTenant | Promise<PlacedTenant>,
  personId: string,
  after: string | null,
): Promise<PersonExport> {
  if (after === null) {
    const [memberships, ...own] = await db.run([selectMembershipsOf(personId), ...selectOwnData(personId)]);
    const [first] = memberships;
    const cursor = first === undefined ? null : encode({ accountId: first.accountId, after: null });
    return { records: presentOwn(memberships, own), cursor };
  }
  const { accountId, after: changesAfter } = decode(after);
  const [memberships] = await db.run([selectMembershipsOf(personId)]);
  // Of organizations that the person has left meanwhile, nothing is shown.
  const index = memberships.findIndex((one) => one.accountId >= accountId);
  const membership = memberships[index];
  if (membership === undefined) return { records: [], cursor: null };
  const from = membership.accountId === accountId ? changesAfter : null;
  const { records, next } = await changesOf(await tenantOf(membership.accountId), personId, from);
  const following = memberships[index + 1];
  if (next !== null) return { records, cursor: encode({ accountId: membership.accountId, after: next }) };
  return { records, cursor: following === undefined ? null : encode({ ...following, after: null }) };
}

type OwnData = Awaited<ReturnType<typeof readOwn>>;
const readOwn = (db: Database, personId: string) => db.run(selectOwnData(personId));

function presentOwn(
  memberships: readonly MembershipOfPerson[],
  [people, passwords, signIns, invitations, links, mails]: OwnData,
): PersonRecord[] {
  const lifetime = (row: { readonly createdAt: number; readonly expiresAt: number }) => ({
    created_at: presentTime(row.createdAt),
    expires_at: presentTime(row.expiresAt),
  });
  return [
    ...people.map(({ createdAt, ...person }) => ({
      ...({ type: "person", ...person, created_at: presentTime(createdAt) } as const),
    })),
    ...passwords.map(({ createdAt, updatedAt }) => ({
      ...({
        type: "password",
        created_at: presentTime(createdAt),
        updated_at: presentTime(updatedAt),
      } as const),
    })),
    ...signIns.map((row) => ({ type: "sign_in", id: row.id, ...lifetime(row) }) as const),
    ...memberships.map(({ accountId, organization, role, joinedAt }) => ({
      ...({ type: "membership", organization_id: accountId, organization, role } as const),
      joined_at: presentTime(joinedAt),
    })),
    ...invitations.map((row) => ({
      ...({ type: "invitation", organization_id: row.accountId, id: row.id, email: row.email } as const),
      ...lifetime(row),
    })),
    ...links.map((row) => ({ type: "password_link", ...lifetime(row) }) as const),
    ...mails.map(({ accountId, topic, isDone, ...row }) => ({
      ...({ type: "mail", organization_id: accountId, topic } as const),
      ...({ state: isDone ? "done" : "waiting", ...lifetime(row) } as const),
    })),
  ];
}

/** What the person changed in an organization, newest first. */
async function changesOf(
  tenant: PlacedTenant,
  personId: string,
  after: string | null,
): Promise<{ readonly records: PersonRecord[]; readonly next: string | null }> {
  const position = after === null ? undefined : (decodePosition(after) ?? undefined);
  const page = toPage({ limit: CHANGES_AT_ONCE, offset: 0, after: position });
  const { entries, cursor } = await readAuditEntries(tenant, page, { actorId: personId });
  const records = entries.map((entry) => ({
    ...({ type: "change", organization_id: tenant.accountId, entry } as const),
  }));
  return { records, next: cursor };
}
