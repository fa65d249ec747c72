/** The commands on members and invitations. */
import { type RequestContext, requireOwner } from "../context/context.ts";
import { insertAuditEntry } from "../http/audit/store.ts";
import type { AuditRow } from "../http/audit/table.ts";
import { addressWithin, insertMail, selectNames } from "../mail/mail-store.ts";
import { createLinkToken, linkHashOf } from "../people/link-token.ts";
import type { DashboardContext } from "../people/person-context.ts";
import type { OwnOrganization, Person } from "../people/schema.ts";
import { evictPerson } from "../people/verify-cookie.ts";
import type { Database, Statement } from "../platform/d1.ts";
import { violatedConstraint } from "../platform/d1-errors.ts";
import { AppError, notFound } from "../platform/errors.ts";
import { shortAddress } from "../platform/network.ts";
import type { MemberContext } from "./context.ts";
import { INVITATION_LIFETIME_MS, invitationPath } from "./invitation.ts";
import { INVITATION_MAILS, INVITATION_TOPIC, invitationMail } from "./invitation-mail.ts";
import {
  acceptInvitation,
  deleteExpiredInvitations,
  deleteInvitationsOf,
  deleteInvitation as deleteRow,
  insertInvitation,
} from "./invitation-store.ts";
import { getInvitation, invitationGone } from "./queries.ts";
import {
  type Invitation,
  type InvitationCreation,
  type Member,
  type MemberUpdate,
  presentInvitation,
  presentMember,
} from "./schema.ts";
import { deleteMembership, insertOrganization, selectMember, selectMembership, updateRole } from "./store.ts";
import type { InvitationRow } from "./table.ts";

/**
 * Creates an invitation for the person with an address, to whom the service mails the link if it sends mail, or for
 * anyone who has its link. No other response contains the link.
 */
export async function createInvitation(
  ctx: MemberContext,
  { role, email = null }: InvitationCreation,
): Promise<{ invitation: Invitation; url: string; mailed: boolean }> {
  requireOwner(ctx);
  const token = createLinkToken();
  const now = ctx.now();
  const row = {
    id: ctx.newId(),
    accountId: ctx.accountId,
    role,
    email,
    tokenHash: await linkHashOf(token),
    invitedBy: ctx.actor.type === "person" ? ctx.actor.personId : null,
    createdAt: now,
    expiresAt: now + INVITATION_LIFETIME_MS,
  };
  const data = { invitation: presentInvitation(row), url: ctx.origin + invitationPath(token) };
  const mail = await planMail(ctx, row, token);
  const [, ...stored] = await ctx.commit([insertInvitation(row), ...(mail?.statements ?? [])], data);
  mail?.send();
  return { ...data, mailed: stored.flat().length > 0 };
}

/** The mail of an invitation for one address; null where there is none, or the service sends no mail. */
async function planMail(ctx: MemberContext, row: InvitationRow, token: string) {
  const { id, email, createdAt, expiresAt, invitedBy } = row;
  const outbox = email === null ? null : ctx.mail();
  if (email === null || outbox === null) return null;
  const [[names]] = await ctx.db.run([selectNames(ctx, invitedBy)]);
  const url = outbox.origin + invitationPath(token);
  const facts = { id, accountId: ctx.accountId, topic: INVITATION_TOPIC, createdAt, expiresAt };
  const mail = await outbox.seal(
    facts,
    invitationMail(names?.organization ?? "", names?.person ?? null, url),
  );
  return {
    statements: [insertMail(mail, addressWithin(email, mail, INVITATION_MAILS))],
    send: () => ctx.defer(outbox.send(ctx.db, ctx.now())),
  };
}

/** Withdraws an invitation. */
export async function deleteInvitation(ctx: RequestContext, id: string): Promise<Record<string, never>> {
  requireOwner(ctx);
  const [deleted] = await ctx.commit([deleteRow(ctx, id, ctx.now())]);
  if (deleted.length === 0) throw notFound("Accounts", "Invitation");
  return {};
}

/** Removes a member, whose open invitations end as well. Owners remove anyone, members only themselves. CONFLICT for the last owner. */
export async function removeMember(ctx: RequestContext, personId: string): Promise<Record<string, never>> {
  if (ctx.actor.type !== "person" || ctx.actor.personId !== personId) requireOwner(ctx);
  const [before, deleted] = await ctx.commit([
    selectMembership(ctx, personId),
    deleteMembership(ctx, personId),
    deleteInvitationsOf(ctx, personId),
  ]);
  if (before.length === 0) throw notFound("Accounts", "Member");
  if (deleted.length === 0) {
    throw new AppError(
      "Accounts",
      "CONFLICT",
      "The last owner cannot be removed; invite another owner first",
    );
  }
  evictPerson(personId);
  return {};
}

/**
 * Changes a member's role, within 10 seconds everywhere. The open invitations of an owner who becomes a member end.
 * CONFLICT for the last owner.
 */
export async function updateMember(
  ctx: RequestContext,
  personId: string,
  { role }: MemberUpdate,
): Promise<{ member: Member }> {
  requireOwner(ctx);
  const [, , [member]] = await ctx.commit([
    updateRole(ctx, personId, role),
    deleteInvitationsOf(ctx, personId),
    selectMember(ctx, personId),
  ]);
  if (member === undefined) throw notFound("Accounts", "Member");
  if (member.role !== role) {
    throw new AppError(
      "Accounts",
      "CONFLICT",
      "role: the last owner cannot become a member; make another member an owner first",
    );
  }
  evictPerson(personId);
  return { member: presentMember(member) };
}

/** What becomes of a person's request for an organization. */
interface PlannedMembership {
  readonly organization: OwnOrganization;
  readonly statements: readonly [Statement, Statement, Statement];
}

/** The entry of the audit log for what a person does on a page of the dashboard. */
export const insertOwnEntry = (
  ctx: DashboardContext,
  accountId: string,
  { id: actorId, name: actorName }: Pick<Person, "id" | "name">,
  entry: Pick<AuditRow, "operation" | "resource" | "resourceId" | "changes">,
  id: string = ctx.newId(),
): Statement =>
  insertAuditEntry(
    accountId,
    {
      ...{ ...entry, id, at: ctx.now(), actorType: "person", actorId, actorName },
      ...{ address: shortAddress(ctx.address), requestId: ctx.requestId },
    },
    true,
  );

/** Plans a new organization in a database, with the person as its first owner. */
export function newOrganization(
  ctx: DashboardContext,
  owner: Pick<Person, "id" | "name">,
  name: string,
  database: string,
): PlannedMembership {
  const id = ctx.newId();
  const entry = insertOwnEntry(ctx, id, owner, {
    ...{ operation: "createOrganization", resource: "organization", resourceId: null },
    changes: JSON.stringify({ name }),
  });
  const statements = insertOrganization({ id, name, createdAt: ctx.now(), database }, owner.id);
  return { organization: { id, name, role: "owner" }, statements: [...statements, entry] };
}

/**
 * Plans a membership by an invitation, which it uses up. NOT_FOUND when the invitation is not valid any more, FORBIDDEN
 * when it is for another address. Pass the error of a batch with these statements through {@link membershipError}.
 */
export async function planInvitedMembership(
  ctx: DashboardContext,
  token: string,
  person: Person,
): Promise<PlannedMembership> {
  const now = ctx.now();
  const { accountId, organization, role, email } = await getInvitation(ctx.db, token, now);
  if (email !== null && email !== person.email) throw forAnother();
  const entry = insertOwnEntry(ctx, accountId, person, {
    ...{ operation: "acceptInvitation", resource: "member", resourceId: person.id },
    changes: JSON.stringify({ role }),
  });
  const statements = acceptInvitation(await linkHashOf(token), person.id, now);
  return { organization: { id: accountId, name: organization, role }, statements: [...statements, entry] };
}

const forAnother = () =>
  new AppError(
    "Accounts",
    "FORBIDDEN",
    "email: this invitation is for another address; use the one that you were invited with, or ask for a new invitation",
  );

/** Translates the error of a batch that adds a member for the person; returns other errors unchanged. */
export function membershipError(error: unknown): unknown {
  const violated = violatedConstraint(error);
  if (violated === "required:memberships.account_id") return invitationGone();
  if (violated?.startsWith("unique:memberships.") === true) {
    return new AppError("Accounts", "CONFLICT", "You are already a member of this organization");
  }
  return error;
}

/** Deletes expired invitations. */
export const purgeExpiredInvitations = (db: Database, now: number): Promise<unknown> =>
  db.run([deleteExpiredInvitations(now)]);
