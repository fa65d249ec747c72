/** Sendings of an inbox: decides what is sent of the items that stay unread, and has it sent by its channel. */

import { patched } from "@atrium/contract/merge-patch.ts";
import { backoffMs } from "@atrium/contract/pacing/backoff.ts";
import {
  ALL_WANTED,
  type Channel,
  isWanted,
  NotificationSettings,
  type NotificationSettingsUpdate,
  parseSettings,
} from "@atrium/contract/resources/notification-settings.ts";
import type { Outcome, Reason, Sending, SentItem } from "@atrium/contract/resources/sent-notification.ts";
import { HOUR_MS, MINUTE_MS } from "@atrium/contract/time.ts";
import * as z from "zod";
import type { FailureStreak } from "../../../platform/flow/failure-streak.ts";
import { type Recipient, visibleRooms } from "../recipients/access.ts";
import type { InboxStore } from "./inbox-store.ts";
import type { InboxItem } from "./present.ts";
import type { Attempt, DueSending, Sender, Senders } from "./sender.ts";
import { SendingStore } from "./sending-store.ts";

interface SendingPorts {
  readonly store: InboxStore;
  now(): number;
  newId(): string;
  readRecipient(roomIds: readonly string[]): Promise<Recipient>;
  senders(): Senders;
  /** The failures to decide, and those of each channel. */
  readonly streaks: FailureStreaks;
  report(what: string, error: unknown): void;
}

export type FailureStreaks = Readonly<Record<Channel | "decisions", FailureStreak>>;

/** The items of a sending that are unread, and wanted, now. */
interface Current {
  readonly items: readonly SentItem[];
  readonly recipient: Recipient;
}

const RETRY = { firstMs: MINUTE_MS, maxMs: 2 * HOUR_MS };
const MAX_FAILURES = 8;
/** An attempt whose end was not recorded by then was cut off by a crash. */
const ATTEMPT_MS = 5 * MINUTE_MS;
const FOREVER = Number.MAX_SAFE_INTEGER;

export class InboxSendings {
  readonly #ports: SendingPorts;
  readonly #queue: SendingStore;

  constructor(ports: SendingPorts) {
    this.#ports = ports;
    this.#queue = new SendingStore(ports.store);
  }

  /** Null before the identity has changed any. */
  get ownSettings(): NotificationSettings | null {
    const stored = this.#ports.store.settings;
    return stored === null ? null : parseSettings(stored);
  }

  get settings(): NotificationSettings {
    return this.ownSettings ?? ALL_WANTED;
  }

  /** Null when the identity was deleted; the reason for a refusal when there would be too many entries. */
  change(update: NotificationSettingsUpdate): NotificationSettings | string | null {
    const changed = NotificationSettings.safeParse(patched(this.settings, update));
    if (!changed.success) return z.prettifyError(changed.error);
    return this.#ports.store.keepSettings(JSON.stringify(changed.data)) ? changed.data : null;
  }

  /** The latest first, with the items that were not wanted when they arrived. */
  list(limit?: number): readonly Sending[] {
    return this.#queue.list(limit);
  }

  /** Sends the items that are due. Those that a sender does not take, and all when access cannot be read, are due again later. */
  async send(): Promise<void> {
    const { now, streaks } = this.#ports;
    try {
      for (const channel of this.#queue.dueChannels(now())) await this.#decide(channel);
      for (const sending of this.#queue.dueSendings(now())) await this.#attempt(sending);
      streaks.decisions.ended();
    } catch (error) {
      streaks.decisions.failed(error);
      this.#queue.postpone(now(), now() + RETRY.firstMs);
    }
    this.#ports.store.plan(false);
  }

  /** Decides on the items that wait and are due. Access was not asked for those that arrive meanwhile: they wait on. */
  async #decide(channel: Channel): Promise<void> {
    const { now, readRecipient, newId } = this.#ports;
    // A mail has all that is unread, so that no second one follows it.
    const by = channel === "email" ? FOREVER : now();
    const asked = this.#queue.waiting(channel, by);
    const recipient = await readRecipient(roomsOf(asked));
    const numbers = new Set(asked.map(({ number }) => number));
    const waiting = this.#queue.waiting(channel, by).filter(({ number }) => numbers.has(number)); // some were read meanwhile
    const refusal = this.#senderOf(channel, recipient).refusal(recipient);
    const outcomes = Map.groupBy(
      waiting,
      (item) => this.#refusal(channel, item, recipient) ?? refusal ?? "waiting",
    );
    const at = now();
    this.#ports.store.tables.transaction(() => {
      for (const [outcome, items] of outcomes) {
        const due = items.filter((item) => item.due <= at);
        // An item that is not due yet goes along with others, and is not refused before its time.
        if (due.length > 0)
          this.#queue.take(outcome === "waiting" ? items : due, { id: newId(), channel, at, outcome });
      }
    });
  }

  /** Why a notification is not to be sent by a channel; null if it is. */
  #refusal(channel: Channel, item: SentItem | InboxItem, recipient: Recipient): Reason | null {
    const isShown = recipient.epochs !== null && visibleRooms(recipient, {}).includes(item.roomId);
    if (!isShown) return "no_access";
    if (!isWanted(channel, item, this.settings, recipient.defaults)) return "unwanted";
    return null;
  }

  #senderOf(channel: Channel, { defaults }: Recipient): Sender {
    return this.#ports.senders()[defaults[channel].sender === "webhook" ? "webhook" : channel];
  }

  async #attempt(sending: DueSending): Promise<void> {
    const { report, now, streaks } = this.#ports;
    const streak = streaks[sending.channel];
    try {
      const outcome = await this.#send(sending);
      if (outcome !== "waiting") this.#queue.finish(sending, outcome);
      if (outcome === "sent") streak.ended();
    } catch (error) {
      const failures = sending.failures + 1;
      if (failures >= MAX_FAILURES) {
        report("Notifications could not be sent, and were given up", error);
        this.#queue.finish(sending, "failed");
      } else {
        streak.failed(error);
        this.#queue.retry(sending, now() + backoffMs(failures, RETRY));
      }
    }
  }

  async #send(sending: DueSending): Promise<Outcome> {
    const found = await this.#current(sending);
    if (typeof found === "string") return found;
    const { items, recipient } = found;
    const sender = this.#senderOf(sending.channel, recipient);
    const refusal = sender.refusal(recipient);
    if (refusal !== null) return refusal;
    const needed = new Set((await sender.needed?.(items)) ?? items);
    const left = this.#sift(sending, items, (item) => (needed.has(item) ? this.#readOf(item) : "online"));
    return typeof left === "string"
      ? left
      : sender.send(this.#attemptAt(sending, left, recipient), recipient);
  }

  #attemptAt(sending: DueSending, items: readonly SentItem[], recipient: Recipient): Attempt {
    const reasonOf = (item: SentItem) =>
      this.#readOf(item) ?? this.#refusal(sending.channel, item, recipient);
    return {
      ...sending,
      items,
      note: (done) => this.#queue.note(sending, done),
      begin: () => {
        const isCurrent = items.every((item) => reasonOf(item) === null);
        if (isCurrent) this.#queue.begin(sending, this.#ports.now() + ATTEMPT_MS);
        return isCurrent;
      },
    };
  }

  /** The items to be sent now, as before each attempt; or the reason why there are none. */
  async #current(sending: Sending): Promise<Current | Reason> {
    const recipient = await this.#ports.readRecipient(roomsOf(sending.items));
    const items = this.#sift(
      sending,
      sending.items,
      (item) => this.#readOf(item) ?? this.#refusal(sending.channel, item, recipient),
    );
    return typeof items === "string" ? items : { items, recipient };
  }

  #readOf({ id, seq }: SentItem): "read" | null {
    return this.#ports.store.hasUnread({ id, upTo: seq }) ? null : "read";
  }

  /** Items that have a reason not to be sent leave the sending. Returns the others, or the reason if there are none. */
  #sift(
    sending: Sending,
    items: readonly SentItem[],
    reasonOf: (item: SentItem) => Reason | null,
  ): readonly SentItem[] | Reason {
    const groups = Map.groupBy(items, reasonOf);
    const reason = groups.has(null) ? null : ([...groups.keys()][0] ?? "read");
    const left = groups.get(reason) ?? [];
    groups.delete(reason);
    if (groups.size > 0)
      this.#queue.split(sending, left, groups as Map<Reason, SentItem[]>, this.#ports.newId);
    return reason ?? left;
  }
}

/** The rooms that access is to be read of: an empty ID stands for none. */
function roomsOf(items: readonly Pick<SentItem, "roomId">[]): string[] {
  const rooms = new Set(items.map(({ roomId }) => roomId));
  rooms.delete("");
  return [...rooms];
}
