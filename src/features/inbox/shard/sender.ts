/** The port of a shard to its channels: who sends, to whom, and the memory of earlier attempts. */

import type { Channel } from "@atrium/contract/resources/notification-settings.ts";
import type { Outcome, Reason, Sending, SentItem } from "@atrium/contract/resources/sent-notification.ts";
import type { InboxNotification } from "@atrium/contract/rest/inbox.ts";
import type { Recipient } from "../recipients/access.ts";
import type { PushTargets } from "./push-store.ts";

export interface InboxKey {
  readonly accountId: string;
  readonly identityId: string;
}

/** The inbox as senders need it. */
export interface SentInbox {
  now(): number;
  readonly pushTargets: PushTargets;
  /** The items that are still shown, as they are now. */
  notifications(items: readonly SentItem[]): InboxNotification[];
}

/** A sending that is due, with the memory of earlier attempts. */
export interface DueSending extends Sending {
  /** The number of attempts that may have sent it. */
  readonly uncertain: number;
  /** The addresses and endpoints that earlier attempts have noted. */
  readonly done: readonly string[];
}

export interface Attempt extends DueSending {
  /** Replaces `done`, which is kept until the sending has ended. */
  note(done: readonly string[]): void;
  /**
   * Records an attempt whose end may stay unknown, right before it is made: without an end, the next one follows after five
   * minutes. False when an item was read, removed or turned off meanwhile: the sending has to be decided on again.
   */
  begin(): boolean;
}

/** Sends by one channel. */
export interface Sender {
  /** Why it sends nothing to the recipient; null if it does. */
  refusal(recipient: Recipient): Reason | null;
  /** The items of which the recipient should hear by this channel; those that it sees already are left out. */
  needed?(items: readonly SentItem[]): Promise<readonly SentItem[]>;
  /** Returns `waiting`, or rejects after a failure, to be asked again. A repeated attempt has the same ID. */
  send(attempt: Attempt, recipient: Recipient): Promise<Outcome>;
}

export type Senders = Readonly<Record<Channel | "webhook", Sender>>;
