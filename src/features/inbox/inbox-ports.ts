/** The needs of inboxes, and the answers that they give. */
import type { NotificationSettings } from "../../wire/notification-settings.ts";
import type { Sending, SentItem } from "../../wire/sent-notification.ts";
import type { IdentityClaims } from "../../wire/token-claims.ts";
import type { InboxAccess, Recipient } from "./access.ts";
import type { Senders } from "./channels.ts";
import type { PushTarget, PushTargets } from "./push-store.ts";
import type { InboxNotification } from "./schema.ts";

export interface InboxKey {
  readonly accountId: string;
  readonly identityId: string;
}

/** The object's needs of features. */
export interface InboxPorts {
  /** Reads whether the identity exists, and its access to rooms, as they are now. */
  readAccess(key: InboxKey, roomIds: readonly string[]): Promise<InboxAccess>;
  /** The same, with the address and with the organization's defaults. */
  readRecipient(key: InboxKey, roomIds: readonly string[]): Promise<Recipient>;
  senders(key: InboxKey, inbox: SentInbox): Senders;
  /** Mails of these sendings that have yet to be sent are not, and the address of those that were is forgotten. */
  forgetMails(sendingIds: readonly string[]): Promise<void>;
  /** The claims of an identity's token that is valid at `now` (epoch ms). */
  verifyToken(token: string, now: number): Promise<IdentityClaims | null>;
  /** Whether a token of any organization, valid by itself, has not ended. */
  isTokenCurrent(claims: IdentityClaims): Promise<boolean>;
}

/** The inbox as senders need it. */
export interface SentInbox {
  now(): number;
  readonly pushTargets: PushTargets;
  /** The items that are still shown, as they are now. */
  notifications(items: readonly SentItem[]): InboxNotification[];
}

export interface InboxPage {
  readonly notifications: readonly InboxNotification[];
  /** The last item, if others may follow. */
  readonly next: { readonly notifiedAt: number; readonly id: string } | null;
}

export interface InboxExport extends InboxPage {
  /** Null as long as the identity wants what the organization does by default. */
  readonly settings: NotificationSettings | null;
  readonly sendings: readonly Sending[];
  readonly pushTargets: readonly PushTarget[];
}

/** The notifications of a mail. */
export interface MailContent {
  readonly notifications: readonly InboxNotification[];
  /** The address of the application's page, with its placeholders; null without one. */
  readonly link: string | null;
  /** The address of the identity now; absent from objects of the version before, which follow no change of it. */
  readonly address?: string;
}
