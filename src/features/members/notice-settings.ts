/** Whether an owner receives mails about the organization's webhooks and workflows, which each decides alone. */
import * as z from "zod";
import { dropIfUnchanged } from "../../http/audit/store.ts";
import { notFound } from "../../platform/errors.ts";
import { personEndpoint } from "../people/dashboard-endpoint.ts";
import type { DashboardResult, PersonContext } from "../people/person-context.ts";
import { insertOwnEntry } from "./membership-plan.ts";
import { selectNotices, updateNotices } from "./notice-store.ts";

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
