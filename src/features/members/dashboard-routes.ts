/** The endpoints in `/dashboard/api` by which people come to organizations. */
import * as z from "zod";
import { dropIfUnchanged } from "../../http/audit/store.ts";
import { notFound } from "../../platform/errors.ts";
import {
  type DashboardResult,
  type PersonContext,
  personEndpoint,
  publicEndpoint,
} from "../people/context.ts";
import { OrganizationCreation, SignUp } from "../people/schema.ts";
import { acceptInvitation, createOrganization, insertOwnEntry, signUp } from "./onboarding.ts";
import { getInvitation } from "./queries.ts";
import { presentInvitationPreview } from "./schema.ts";
import { selectNotices, updateNotices } from "./store.ts";

export const onboardingEndpoints = [
  publicEndpoint({
    method: "GET",
    path: "/sign-up",
    module: "Auth",
    status: 200,
    done: "Sign-up policy retrieved",
    handle: async (ctx) => ({ data: ctx.signUpPolicy() }),
  }),
  publicEndpoint({
    method: "POST",
    path: "/sign-up",
    module: "Auth",
    body: SignUp,
    status: 201,
    done: "Signed up",
    handle: (ctx, { body }) => signUp(ctx, body),
  }),
  personEndpoint({
    method: "POST",
    path: "/organizations",
    module: "Accounts",
    body: OrganizationCreation,
    status: 201,
    done: "Organization created",
    handle: (ctx, { body }) => createOrganization(ctx, body),
  }),
  publicEndpoint({
    method: "GET",
    path: "/invitations/:token",
    module: "Accounts",
    status: 200,
    done: "Invitation retrieved",
    handle: async ({ db, now }, { params }) => ({
      data: presentInvitationPreview(await getInvitation(db, params.token ?? "", now())),
    }),
  }),
  personEndpoint({
    method: "POST",
    path: "/invitations/:token/accept",
    module: "Accounts",
    status: 200,
    done: "Invitation accepted",
    handle: (ctx, { params }) => acceptInvitation(ctx, params.token ?? ""),
  }),
];

interface NoticeSettings {
  readonly wanted: boolean;
  /** Whether the service sends mail at all. */
  readonly by_mail: boolean;
}

const NoticeUpdate = z.strictObject({ wanted: z.boolean() });

/** NOT_FOUND for an organization that the person is not a member of. */
async function getNotices(ctx: PersonContext, accountId: string): Promise<DashboardResult<NoticeSettings>> {
  const [[row]] = await ctx.db.run([selectNotices({ accountId }, ctx.person.personId)]);
  if (row === undefined) throw notFound("Accounts", "Organization");
  return { data: { wanted: row.notices === 1, by_mail: ctx.mail() !== null } };
}

/** The same. */
async function setNotices(
  ctx: PersonContext,
  accountId: string,
  isWanted: boolean,
): Promise<DashboardResult<NoticeSettings>> {
  const { personId, name } = ctx.person;
  const entryId = ctx.newId();
  const changes = JSON.stringify({ notices: isWanted });
  const entry = { operation: "updateNotices", resource: "member", resourceId: personId, changes } as const;
  const [, [row]] = await ctx.db.run([
    insertOwnEntry(ctx, accountId, { id: personId, name }, entry, entryId),
    updateNotices({ accountId }, personId, isWanted),
    dropIfUnchanged(entryId),
  ]);
  if (row === undefined) throw notFound("Accounts", "Organization");
  return { data: { wanted: isWanted, by_mail: ctx.mail() !== null } };
}

export const noticeEndpoints = [
  personEndpoint({
    method: "GET",
    path: "/organizations/:accountId/notices",
    module: "Accounts",
    status: 200,
    done: "Setting retrieved",
    handle: (ctx, { params }) => getNotices(ctx, params.accountId ?? ""),
  }),
  personEndpoint({
    method: "PATCH",
    path: "/organizations/:accountId/notices",
    module: "Accounts",
    body: NoticeUpdate,
    status: 200,
    done: "Setting changed",
    handle: (ctx, { params, body }) => setNotices(ctx, params.accountId ?? "", body.wanted),
  }),
];
