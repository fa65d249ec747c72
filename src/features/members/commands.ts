/** The commands on members, invitations, and a member's wish for notices by mail. */

import { AppError, notFound } from "@atrium/contract/errors.ts";
import type { InvitationCreation, MemberUpdate } from "@atrium/contract/rest/members.ts";
import { dropIfUnchanged } from "../../http/audit/store.ts";
import type { RequestContext } from "../../platform/d1/context.ts";
import { requireRight } from "../../platform/d1/rights.ts";
import { layOut, type Mail, nameInMail } from "../mail/mail.ts";
import { addressWithin, insertMail, selectNames } from "../mail/statements.ts";
import type { PersonContext, WaysToSignIn } from "../people/context.ts";
import { createLinkToken, invitationLink, linkHashOf } from "../people/links.ts";
import { evictPerson } from "../people/sessions.ts";
import { guardInvitation, type QuotaContext } from "../quotas/guard.ts";
import { insertOwnEntry } from "./onboarding.ts";
import { presentInvitation, presentMember } from "./present.ts";
import {
  deleteInvitationsOf,
  deleteMembership,
  deleteInvitation as deleteRow,
  insertInvitation,
  selectMember,
  updateNotices,
  updateRole,
} from "./store.ts";
import type { InvitationRow } from "./table.ts";

export interface MemberContext
  extends RequestContext,
    QuotaContext,
    Pick<PersonContext, "mail">,
    WaysToSignIn {}

const conflict = (why: string) => new AppError("Accounts", "CONFLICT", why);

/** Removes a member, whose open invitations end as well. Owners remove anyone, members only themselves. CONFLICT for the last owner. */
export async function removeMember(ctx: RequestContext, personId: string) {
  if (ctx.actor.type !== "person" || ctx.actor.personId !== personId) requireRight(ctx, "owner");
  const [before, deleted] = await ctx.commit([
    selectMember(ctx, personId),
    deleteMembership(ctx, personId),
    deleteInvitationsOf(ctx, personId),
  ]);
  if (before.length === 0) throw notFound("Accounts", "Member");
  if (deleted.length === 0) throw conflict("The last owner cannot be removed; invite another owner first");
  evictPerson(personId);
  return {};
}

/** Changes a member's role, within 10 seconds everywhere; a former owner's invitations end. CONFLICT for the last owner. */
export async function updateMember(ctx: RequestContext, personId: string, { role }: MemberUpdate) {
  const [, , [member]] = await ctx.commit([
    updateRole(ctx, personId, role),
    deleteInvitationsOf(ctx, personId),
    selectMember(ctx, personId),
  ]);
  if (member === undefined) throw notFound("Accounts", "Member");
  if (member.role !== role)
    throw conflict("role: the last owner cannot become a member; make another member an owner first");
  evictPerson(personId);
  return { member: presentMember(member) };
}

/** Per organization and day: anyone who signs up could otherwise send mails to strangers in masses. */
const INVITATION_MAILS = { total: 100, perRecipient: 3 };

function invitationMail(organization: string, invitedBy: string | null, url: string): Mail {
  const name = nameInMail(organization);
  const invitation =
    invitedBy === null
      ? `You are invited to ${name} on Atrium.`
      : `${nameInMail(invitedBy)} invites you to ${name} on Atrium.`;
  return layOut({
    subject: `Invitation to ${name}`,
    paragraphs: [invitation, "Open this link to join. It works once, within seven days, for this address."],
    link: { label: "Join", url },
    after: ["If you do not know who invites you, ignore this mail."],
  });
}

/**
 * Creates an invitation for anyone who has its link, or for one address, to which the service mails the link if it sends
 * mail. No other response contains the link. FORBIDDEN beyond the quota of invitations, and at that of members.
 */
export async function createInvitation(ctx: MemberContext, { role, email = null }: InvitationCreation) {
  const token = createLinkToken();
  const now = ctx.now();
  const row = {
    id: ctx.newId(),
    accountId: ctx.accountId,
    role,
    email,
    tokenHash: await linkHashOf(token),
    invitedBy: ctx.actor.type === "person" ? ctx.actor.personId : null,
    invitedByKey: ctx.actor.type === "key" ? ctx.actor.keyId : null,
    createdAt: now,
    expiresAt: now + invitationLink.lifetimeMs,
  };
  const data = { invitation: presentInvitation(row), url: ctx.origin + invitationLink.path(token) };
  const mail = await planMail(ctx, row, token);
  const quota = guardInvitation(ctx);
  const [, ...stored] = await ctx
    .commit([insertInvitation(row), ...quota.statements, ...(mail?.statements ?? [])], data)
    .catch(quota.refuse);
  mail?.send();
  return { ...data, mailed: stored.flat().length > 0 };
}

/** The mail of an invitation for one address; null without an address, or where the service sends no mail. */
async function planMail(ctx: MemberContext, row: InvitationRow, token: string) {
  const { id, accountId, email, createdAt, expiresAt, invitedBy } = row;
  const outbox = email === null ? null : ctx.mail();
  if (email === null || outbox === null) return null;
  const [[names]] = await ctx.db.run([selectNames(ctx, invitedBy)]);
  const url = outbox.origin + invitationLink.path(token);
  const text = invitationMail(names?.organization ?? "", names?.person ?? null, url);
  const mail = await outbox.seal({ id, accountId, topic: "invitation", createdAt, expiresAt }, text);
  return {
    statements: [insertMail(mail, addressWithin(email, mail, INVITATION_MAILS))],
    send: () => ctx.defer(outbox.send(ctx.db, ctx.now())),
  };
}

export async function deleteInvitation(ctx: RequestContext, id: string) {
  const [deleted] = await ctx.commit([deleteRow(ctx, id, ctx.now())]);
  if (deleted.length === 0) throw notFound("Accounts", "Invitation");
  return {};
}

/** Sets whether a member receives notices by mail. NOT_FOUND unless the person is a member of the organization. */
export async function setNotices(ctx: PersonContext, accountId: string, isWanted: boolean) {
  const { personId, name } = ctx.person;
  const entryId = ctx.newId();
  const entry = { operation: "updateNotices", resource: "member", resourceId: personId } as const;
  const [, [row]] = await ctx.db.run([
    insertOwnEntry(ctx, accountId, { id: personId, name }, entry, { notices: isWanted }, entryId),
    updateNotices({ accountId }, personId, isWanted),
    dropIfUnchanged(entryId),
  ]);
  if (row === undefined) throw notFound("Accounts", "Organization");
  return { data: { wanted: isWanted, by_mail: ctx.mail() !== null } };
}
