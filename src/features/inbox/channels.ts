/** Sends what stays unread by the channels beside the inbox: to those who may still read it, and want it. */
import * as z from "zod";
import { backoffMs } from "../../platform/flow/backoff.ts";
import { patched } from "../../wire/merge-patch.ts";
import {
  ALL_WANTED,
  type Channel,
  isWanted,
  NotificationSettings,
  type NotificationSettingsUpdate,
} from "../../wire/notification-settings.ts";
import type { Outcome, Reason, Sending, SentItem } from "../../wire/sent-notification.ts";
import { type Recipient, visibleRooms } from "./access.ts";
import { ChannelStore } from "./channel-store.ts";
import type { InboxStore } from "./inbox-store.ts";
import type { InboxItem } from "./schema.ts";

/** Sends by one channel. */
export interface Sender {
  /** Why it sends nothing to the recipient; null if it does. */
  refusal(recipient: Recipient): Reason | null;
  /** The items of which the recipient should hear by this channel; those that it sees already are left out. */
  needed?(items: readonly SentItem[]): Promise<readonly SentItem[]>;
  /** Idempotent by the ID of the sending. Rejects to be asked again later. */
  send(sending: Sending, recipient: Recipient): Promise<Outcome>;
}

export type Senders = Readonly<Record<Channel | "webhook", Sender>>;

interface ChannelPorts {
  readonly store: InboxStore;
  now(): number;
  newId(): string;
  readRecipient(roomIds: readonly string[]): Promise<Recipient>;
  senders(): Senders;
  report(what: string, error: unknown): void;
}

/** The items of a sending that are unread, and wanted, now. */
interface Current {
  readonly items: readonly SentItem[];
  readonly recipient: Recipient;
}

const RETRY = { firstMs: 60_000, maxMs: 2 * 60 * 60_000 };
const MAX_FAILURES = 8;
const FOREVER = Number.MAX_SAFE_INTEGER;
/** The outcomes of sendings that have yet to end. */
const IS_OPEN: ReadonlySet<Outcome> = new Set(["waiting", "queued"]);

export class InboxChannels {
  readonly #ports: ChannelPorts;
  readonly #queue: ChannelStore;

  constructor(ports: ChannelPorts) {
    this.#ports = ports;
    this.#queue = new ChannelStore(ports.store);
  }

  /** Null before the identity has changed any. */
  get ownSettings(): NotificationSettings | null {
    const stored = this.#ports.store.settings;
    return stored === null ? null : (JSON.parse(stored) as NotificationSettings);
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
    return this.#queue.list(this.#ports.now(), limit);
  }

  finish(sendingId: string, outcome: Outcome): void {
    this.#queue.finish(sendingId, outcome);
  }

  /** Sends the items that are due. Those that a sender does not take, and all when access cannot be read, are due again later. */
  async send(): Promise<void> {
    const { now, report } = this.#ports;
    try {
      for (const channel of this.#queue.dueChannels(now())) await this.#decide(channel);
      for (const sending of this.#queue.dueSendings(now())) await this.#hand(sending);
    } catch (error) {
      report("The notifications of an inbox could not be sent yet", error);
      this.#queue.postpone(now(), now() + RETRY.firstMs);
    }
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

  async #hand(sending: Sending): Promise<void> {
    const { report, now } = this.#ports;
    try {
      this.#queue.hand(sending.id, await this.#send(sending));
    } catch (error) {
      const failures = sending.failures + 1;
      const isLast = failures >= MAX_FAILURES;
      report(`Notifications could not be sent${isLast ? ", and were given up" : " yet"}`, error);
      if (isLast) this.#queue.finish(sending.id, "failed");
      else this.#queue.retry(sending.id, now() + backoffMs(failures, RETRY));
    }
  }

  async #send(sending: Sending): Promise<Outcome> {
    const found = await this.#current(sending);
    if (typeof found === "string") return found;
    const { items, recipient } = found;
    const sender = this.#senderOf(sending.channel, recipient);
    const refusal = sender.refusal(recipient);
    if (refusal !== null) return refusal;
    const needed = new Set((await sender.needed?.(items)) ?? items);
    const left = this.#sift(sending, items, (item) => (needed.has(item) ? this.#readOf(item) : "online"));
    return typeof left === "string" ? left : sender.send({ ...sending, items: left }, recipient);
  }

  /**
   * The content of a queued mail, as it is now; null if there is no reason for the mail any more. With an address, only
   * for this one.
   */
  async readMail(sendingId: string, address: string | null): Promise<Current | null> {
    const sending = this.#queue.find(sendingId);
    if (sending === null || !IS_OPEN.has(sending.outcome)) return null;
    const found = await this.#current(sending);
    if (typeof found !== "string") {
      const { email } = found.recipient;
      if (email !== null && (address ?? email) === email) return found;
    }
    this.#queue.finish(sendingId, typeof found === "string" ? found : "no_address");
    return null;
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
