/** The endpoints for invitations. */
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { SHOWN_ONCE } from "../../http/idempotency/replay.ts";
import { scrolling, toPage } from "../../http/lists/paginate.ts";
import { scrollShape } from "../../http/lists/presented-page.ts";
import type { MemberContext } from "./context.ts";
import { createInvitation, deleteInvitation } from "./invitation-commands.ts";
import { listInvitations } from "./queries.ts";
import { Invitation, InvitationCreation } from "./schema.ts";

const { endpoint } = endpointsFor<MemberContext>();

export const invitationEndpoints = [
  endpoint({
    method: "GET",
    path: "/invitations",
    operation: "listInvitations",
    module: "Accounts",
    access: "organization",
    database: "directory",
    summary: "List invitations",
    details: "Valid invitations, newest first, without their links.",
    errors: [],
    query: z.object(scrolling),
    status: 200,
    done: "Invitations retrieved",
    data: z.object({ invitations: z.array(Invitation), ...scrollShape }),
    handle: (ctx, { query }) => listInvitations(ctx, toPage(query)),
  }),
  endpoint({
    method: "POST",
    path: "/invitations",
    operation: "createInvitation",
    module: "Accounts",
    access: "organization",
    database: "directory",
    summary: "Invite a person",
    details:
      "`url` lets one person join within seven days: anyone who has it or, with `email`, only a person with this address, to whom the service mails it where it sends mail. It is shown only once; a retry with the same Idempotency-Key gets 409.",
    errors: ["CONFLICT"],
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
    module: "Accounts",
    access: "organization",
    database: "directory",
    summary: "Withdraw an invitation",
    details: "Its link stops working. Only owners and API keys can do this.",
    errors: ["NOT_FOUND"],
    status: 200,
    done: "Invitation withdrawn",
    data: z.object({}),
    audit: { resource: "invitation", id: ({ params }) => params.invitationId },
    handle: (ctx, { params }) => deleteInvitation(ctx, params.invitationId),
  }),
];
