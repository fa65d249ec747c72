/** The commands about notifications that stay unread: the organization's defaults, and an identity's settings. */
import { AppError } from "@atrium/contract/errors.ts";
import { ownIssues } from "@atrium/contract/issues.ts";
import { patched } from "@atrium/contract/merge-patch.ts";
import {
  NotificationDefaults,
  type NotificationDefaultsUpdate,
  type NotificationSettings,
  type NotificationSettingsUpdate,
} from "@atrium/contract/resources/notification-settings.ts";
import { presentSending, type SentNotifications } from "@atrium/contract/resources/sent-notification.ts";
import { noIdentity } from "../identities/queries.ts";
import type { InboxContext, OpenInbox } from "./commands.ts";
import { defaultsIn, selectDefaults, storeDefaults } from "./recipients/store.ts";

export async function getDefaults(ctx: InboxContext): Promise<{ defaults: NotificationDefaults }> {
  const [[row]] = await ctx.db.run([selectDefaults(ctx)]);
  return { defaults: defaultsIn(row) };
}

/** VALIDATION_ERROR with too many kinds. */
export async function changeDefaults(
  ctx: InboxContext,
  update: NotificationDefaultsUpdate,
): Promise<{ defaults: NotificationDefaults }> {
  const { defaults } = await getDefaults(ctx);
  const changed = NotificationDefaults.safeParse(patched(defaults, update));
  if (!changed.success) throw refused(ownIssues(changed.error.issues)[0]?.message);
  await ctx.commit([storeDefaults(ctx, changed.data)]);
  return { defaults: changed.data };
}

const refused = (why = "The settings are too large") => new AppError("Inbox", "VALIDATION_ERROR", why);

/** NOT_FOUND without the identity. */
export async function getSettings({ inbox, caller }: OpenInbox): Promise<{ settings: NotificationSettings }> {
  const settings = await inbox.readSettings(caller.identityId);
  if (settings === null) throw noIdentity();
  return { settings };
}

/** NOT_FOUND without the identity, VALIDATION_ERROR with too many kinds or rooms. */
export async function changeSettings(
  { inbox, caller }: OpenInbox,
  update: NotificationSettingsUpdate,
): Promise<{ settings: NotificationSettings }> {
  const settings = await inbox.changeSettings(caller.identityId, update);
  if (settings === null) throw noIdentity();
  if (typeof settings === "string") throw refused(settings);
  return { settings };
}

/** The latest first. NOT_FOUND without the identity. */
export async function listSent(
  { inbox, caller }: OpenInbox,
  limit: number,
): Promise<{ sent: SentNotifications[] }> {
  const sendings = await inbox.listSendings(caller.identityId, limit);
  if (sendings === null) throw noIdentity();
  return { sent: sendings.map(presentSending) };
}
