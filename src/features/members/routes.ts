/** The endpoints for members. */

import { scrollShape } from "@atrium/contract/rest/lists.ts";
import { Invitation, InvitationCreation, Member, MemberUpdate } from "@atrium/contract/rest/members.ts";
import { Timestamp } from "@atrium/contract/time.ts";
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { SHOWN_ONCE } from "../../http/idempotency/receipt.ts";
import { scrolling, sorting, toPage } from "../../http/lists.ts";
import { createPasswordLink } from "../people/password-commands.ts";
import {
  createInvitation,
  deleteInvitation,
  type MemberContext,
  removeMember,
  updateMember,
} from "./commands.ts";
import { listInvitations, listMembers } from "./queries.ts";

const { endpoint } = endpointsFor<MemberContext>({ module: "Accounts", database: "directory" });

const { parameter: sort, orderOf } = sorting("Accounts", "joined_at", "name", "email", "role");

export const endpoints = [
  endpoint({
    method: "GET",
    path: "/members",
    operation: "listMembers",
    isForAgents: false,
    sdk: [
      "organization.listMembers(page?: MemberSearch): data",
      "organization.eachMember(filter?: MemberSearch): each members",
    ],
    summary: "List members",
    details:
      "The people who can sign in to the dashboard for this organization, most recent first, or in the order of `sort`; of names without regard to the case of ASCII letters.",
    query: z.object({ ...scrolling, ...sort }),
    done: "Members retrieved",
    data: z.object({ members: z.array(Member), ...scrollShape }),
    handle: (ctx, { query }) => listMembers(ctx, toPage(query, orderOf(query))),
  }),
  endpoint({
    method: "PATCH",
    path: "/members/:personId",
    operation: "updateMember",
    isForAgents: false,
    right: "owner",
    sdk: "organization.setRole(personId, role): member",
    summary: "Make a member an owner, or an owner a member",
    details:
      "Takes effect within 30 seconds everywhere. Only owners and API keys can do this. The last owner stays one. The open invitations of an owner who becomes a member end at once.",
    errors: ["NOT_FOUND"],
    conflict: ["The member is the last owner.", "Make another member an owner first."],
    body: MemberUpdate,
    done: "Member updated",
    data: z.object({ member: Member }),
    audit: { resource: "member", id: ({ params }) => params.personId, shows: ["role"] },
    handle: (ctx, { params, body }) => updateMember(ctx, params.personId, body),
  }),
  endpoint({
    method: "POST",
    path: "/members/:personId/password-link",
    operation: "createPasswordLink",
    isForAgents: false,
    right: "owner",
    sdk: "organization.createPasswordLink(personId): data",
    summary: "Make a link for a member who forgot their password",
    details:
      "By `url`, which is shown only once, the person chooses a new password, once and within an hour; all of their sign-in sessions end then. Only owners and API keys can do this, and only for people who are members of no organization that the owner does not own. A newer link, or a change of the password, ends the earlier ones.",
    errors: ["NOT_FOUND"],
    replay: SHOWN_ONCE,
    status: 201,
    done: "Link created",
    data: z.object({
      url: z.string().meta({ example: "https://atrium.example/dashboard/password-links/Wk9…3Qz" }),
      expires_at: Timestamp,
    }),
    audit: { resource: "member", id: ({ params }) => params.personId },
    handle: (ctx, { params }) => createPasswordLink(ctx, params.personId),
  }),
  endpoint({
    method: "DELETE",
    path: "/members/:personId",
    operation: "removeMember",
    isForAgents: false,
    sdk: "organization.removeMember(personId)",
    summary: "Remove a member",
    details:
      "Takes effect within 30 seconds everywhere. Owners can remove anyone, members only themselves. The last owner cannot be removed. Invitations that the member made end at once.",
    errors: ["NOT_FOUND"],
    conflict: ["The member is the last owner.", "Make another member an owner first."],
    done: "Member removed",
    data: z.object({}),
    audit: { resource: "member", id: ({ params }) => params.personId },
    handle: (ctx, { params }) => removeMember(ctx, params.personId),
  }),
  endpoint({
    method: "GET",
    path: "/invitations",
    operation: "listInvitations",
    isForAgents: false,
    sdk: [
      "organization.listInvitations(page?: Scroll): data",
      "organization.eachInvitation(): each invitations",
    ],
    summary: "List invitations",
    details: "Valid invitations, newest first, without their links.",
    query: z.object(scrolling),
    done: "Invitations retrieved",
    data: z.object({ invitations: z.array(Invitation), ...scrollShape }),
    handle: (ctx, { query }) => listInvitations(ctx, toPage(query)),
  }),
  endpoint({
    method: "POST",
    path: "/invitations",
    operation: "createInvitation",
    isForAgents: false,
    right: "owner",
    sdk: 'organization.invite(role = "member", email = null): data',
    summary: "Invite a person",
    details:
      "`url` lets one person join within seven days: anyone who has it or, with `email`, only a person with this address, to whom the service mails it where it sends mail. It is shown only once; a retry with the same Idempotency-Key gets 409.",
    replay: SHOWN_ONCE,
    body: InvitationCreation,
    status: 201,
    done: "Invitation created",
    data: z.object({
      invitation: Invitation,
      url: z.string().meta({ example: "https://atrium.example/dashboard/invitations/Wk9…3Qz" }),
      mailed: z.boolean().meta({
        description:
          "True when the service mails the link to `email`: not where it sends no mail, and not beyond 100 invitations by mail a day, or three to one address.",
        example: false,
      }),
    }),
    audit: { resource: "invitation", created: ({ invitation }) => invitation.id, shows: ["role", "email"] },
    handle: (ctx, { body }) => createInvitation(ctx, body),
  }),
  endpoint({
    method: "DELETE",
    path: "/invitations/:invitationId",
    operation: "deleteInvitation",
    isForAgents: false,
    right: "owner",
    sdk: "organization.withdrawInvitation(invitationId)",
    summary: "Withdraw an invitation",
    details: "Its link stops working. Only owners and API keys can do this.",
    errors: ["NOT_FOUND"],
    done: "Invitation withdrawn",
    data: z.object({}),
    audit: { resource: "invitation", id: ({ params }) => params.invitationId },
    handle: (ctx, { params }) => deleteInvitation(ctx, params.invitationId),
  }),
];
