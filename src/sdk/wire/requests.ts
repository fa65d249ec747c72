/** Request bodies of the REST interface, inferred from the service's schemas. */
import type * as access from "../../features/access/schema.ts";
import type * as identities from "../../features/identities/schema.ts";
import type * as inbox from "../../features/inbox/schema.ts";
import type * as members from "../../features/members/schema.ts";
import type * as rooms from "../../features/rooms/schema.ts";
import type * as users from "../../features/users/schema.ts";
import type * as replays from "../../features/webhooks/delivery-schema.ts";
import type * as webhooks from "../../features/webhooks/schema.ts";
import type * as executions from "../../features/workflows/execution-schema.ts";
import type * as workflows from "../../features/workflows/schema.ts";
import type * as comments from "../../room/protocol/comment.ts";
import type * as notifications from "../../wire/notification-settings.ts";

/** The same type for callers whose objects and lists are constants. */
type Immutable<Type> = Type extends readonly (infer Item)[]
  ? readonly Item[]
  : Type extends object
    ? { readonly [Name in keyof Type]: Immutable<Type[Name]> }
    : Type;

export type CommentInput = Immutable<comments.CommentInput>;
export type CommentUpdateInput = Immutable<comments.CommentUpdateInput>;
export type GroupInput = Immutable<identities.GroupCreation>;
export type GroupUpdateInput = Immutable<identities.GroupUpdate>;
export type IdentificationInput = Immutable<identities.IdentificationInput>;
export type IdentityTokenInput = Immutable<identities.IdentityTokenInput>;
export type IdentityInput = Immutable<identities.IdentityInput>;
export type IdentityUpdateInput = Immutable<identities.IdentityUpdate>;
export type InboxTriggerInput = Immutable<inbox.InboxTriggerInput>;
export type NotificationDefaultsUpdate = Immutable<notifications.NotificationDefaultsUpdate>;
export type NotificationSettingsUpdate = Immutable<notifications.NotificationSettingsUpdate>;
export type InvitationInput = Immutable<members.InvitationInput>;
export type RoomAccessInput = Immutable<access.RoomAccessInput>;
export type RoomLinkInput = Immutable<identities.RoomLinkInput>;
export type RoomInput = Immutable<rooms.RoomInput>;
export type RoomUpdateInput = Immutable<rooms.RoomUpdateInput>;
export type TokenInput = Immutable<users.TokenCreation>;
export type UserInput = Immutable<users.UserInput>;
export type UserUpdateInput = Immutable<users.UserUpdateInput>;
export type ReplayInput = Immutable<replays.ReplayInput>;
export type WebhookInput = Immutable<webhooks.WebhookInput>;
export type WebhookUpdateInput = Immutable<webhooks.WebhookUpdateInput>;
export type WorkflowInput = Immutable<workflows.WorkflowInput>;
export type WorkflowRunInput = Immutable<executions.WorkflowRunInput>;
export type WorkflowUpdateInput = Immutable<workflows.WorkflowUpdateInput>;
