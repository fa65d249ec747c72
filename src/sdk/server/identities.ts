/** Identities and groups for back ends. */
import type { IdentityData } from "../../features/privacy/schema.ts";
import type { Rest } from "../core/rest.ts";
import type * as input from "../wire/requests.ts";
import type * as wire from "../wire/resources.ts";
import {
  eachOf,
  type Filter,
  type IdentitySearch,
  type Listed,
  Resource,
  type Scroll,
  type ScrollShown,
  type Search,
} from "./pages.ts";

/** `AtriumServer.identities`: your end users in all rooms, and agents. */
export class Identities extends Resource {
  create(identity: input.IdentityInput): Promise<wire.Identity> {
    return this.only("identity", this.rest.post(["identities"], identity));
  }

  /** Newest first, or in the order of `sort`. */
  list(search: IdentitySearch = {}): Promise<Listed<"identities", wire.Identity>> {
    return this.rest.get(["identities"], search);
  }

  /** All identities, 100 at a time: `for await (const identity of atrium.identities.each())`. */
  each(search: Filter<IdentitySearch> = {}): AsyncGenerator<wire.Identity, void, void> {
    return eachOf("identities", (part) => this.list({ ...search, ...part }));
  }

  get(identityId: string): Promise<wire.Identity> {
    return this.only("identity", this.rest.get(["identities", identityId]));
  }

  /** Like {@link get}, by the `customId` that you gave the identity. */
  getByCustomId(customId: string): Promise<wire.Identity> {
    return this.only("identity", this.rest.get(["identities", "custom", customId]));
  }

  /** Changes the given fields; null removes a field. */
  update(identityId: string, changes: input.IdentityUpdateInput): Promise<wire.Identity> {
    return this.only("identity", this.rest.patch(["identities", identityId], changes));
  }

  /** Erases the identity, and takes it out of its groups. */
  delete(identityId: string): Promise<void> {
    return this.rest.delete(["identities", identityId]);
  }

  /** All kept data of an identity in all rooms: `for await (const record of atrium.identities.eachRecord(identityId))`. */
  eachRecord(identityId: string): AsyncGenerator<wire.RecordOfIdentity, void, void> {
    const path = ["identities", identityId, "personal-data"];
    return eachOf("records", ({ after }) => this.rest.get<IdentityData>(path, { after }));
  }

  /** Deletes the identity, and its users in all rooms with what they wrote and uploaded, for good. Repeatable. */
  erase(identityId: string): Promise<void> {
    return this.rest.delete(["identities", identityId, "personal-data"]);
  }

  /** All groups of an identity, by name. */
  listGroups(identityId: string): Promise<{ readonly groups: wire.Group[] }> {
    return this.rest.get(["identities", identityId, "groups"]);
  }

  /** The rooms in which it has a user, those first where it came last. */
  listRooms(identityId: string, part: Scroll = {}): Promise<Listed<"rooms", wire.RoomOfIdentity>> {
    return this.rest.get(["identities", identityId, "rooms"], part);
  }

  /** A token as from `identifyUser`, of an identity that exists. */
  createToken(identityId: string, token: input.IdentityTokenInput = {}): Promise<wire.IdentityToken> {
    return this.rest.post(["identities", identityId, "tokens"], token);
  }

  /** Refuses all tokens of the identity and of its users so far, and closes the sockets that joined with them. */
  endTokens(identityId: string): Promise<void> {
    return this.rest.delete(["identities", identityId, "tokens"]);
  }
}

/** Filters the notifications of an inbox. */
export interface InboxSearch extends Pick<Scroll, "limit" | "after"> {
  /** Only those that are unread, or with `false` only those that are read. */
  readonly unread?: boolean | undefined;
  readonly roomId?: string | undefined;
  readonly kind?: string | undefined;
}

/** `AtriumServer.inbox(identityId)`: the notifications of an identity, as far as it may enter their rooms now. */
export class Inbox extends Resource {
  readonly #identity: readonly string[];
  readonly #path: readonly string[];

  constructor(rest: Rest, identityId: string) {
    super(rest);
    this.#identity = ["identities", identityId];
    this.#path = [...this.#identity, "inbox-notifications"];
  }

  /** Newest first. */
  list(
    search: InboxSearch = {},
  ): Promise<Listed<"notifications", wire.InboxNotification, Pick<ScrollShown, "cursor">>> {
    return this.rest.get([...this.#path], search);
  }

  /** How many notifications are unread. */
  count(): Promise<number> {
    return this.only("unread", this.rest.get<{ unread: number }>([...this.#path, "count"]));
  }

  /**
   * Marks a notification as read, up to its latest activity or to the `seq` `upTo`; without an ID, all of them. What arrives
   * meanwhile stays unread. Returns how many are unread after it.
   */
  markRead(notificationId?: string, upTo?: number): Promise<number> {
    const read = notificationId === undefined ? { all: true } : { notificationId, upTo };
    return this.only("unread", this.rest.post<{ unread: number }>([...this.#path, "read"], read));
  }

  /** Deletes a notification, which a later activity shows again; without an ID, all of them. */
  delete(notificationId?: string): Promise<void> {
    return this.rest.delete([...this.#path, ...(notificationId === undefined ? [] : [notificationId])]);
  }

  /** The settings of the identity for notifications that stay unread. */
  getSettings(): Promise<wire.NotificationSettings> {
    return this.only("settings", this.rest.get([...this.#identity, "notification-settings"]));
  }

  /** Changes the given settings; null removes the entry of a kind or a room. */
  updateSettings(changes: input.NotificationSettingsUpdate): Promise<wire.NotificationSettings> {
    return this.only("settings", this.rest.patch([...this.#identity, "notification-settings"], changes));
  }

  /** The latest times that a channel was to send notifications, newest first, and why some were not sent. */
  listSent(part: Pick<Scroll, "limit"> = {}): Promise<wire.SentNotifications[]> {
    return this.only("sent", this.rest.get([...this.#identity, "sent-notifications"], part));
  }

  /** The browsers that the identity has subscribed to pushes, the latest first. */
  listPushSubscriptions(): Promise<wire.PushSubscriptions> {
    return this.rest.get([...this.#identity, "push-subscriptions"]);
  }

  /** Pushes to a browser no more. */
  deletePushSubscription(endpoint: string): Promise<void> {
    return this.rest.delete([...this.#identity, "push-subscriptions"], { body: { endpoint } });
  }
}

/** `AtriumServer.groups`: sets of identities, such as teams. */
export class Groups extends Resource {
  create(group: input.GroupInput): Promise<wire.Group> {
    return this.only("group", this.rest.post(["groups"], group));
  }

  /** Newest first, or in the order of `sort`. */
  list(search: Search = {}): Promise<Listed<"groups", wire.Group>> {
    return this.rest.get(["groups"], search);
  }

  get(groupId: string): Promise<wire.Group> {
    return this.only("group", this.rest.get(["groups", groupId]));
  }

  /** Like {@link get}, by the `customId` that you gave the group. */
  getByCustomId(customId: string): Promise<wire.Group> {
    return this.only("group", this.rest.get(["groups", "custom", customId]));
  }

  /** Changes the given fields; null removes the `customId`. */
  update(groupId: string, changes: input.GroupUpdateInput): Promise<wire.Group> {
    return this.only("group", this.rest.patch(["groups", groupId], changes));
  }

  /** Deletes the group. Its members stay identities. */
  delete(groupId: string): Promise<void> {
    return this.rest.delete(["groups", groupId]);
  }

  /** The members, latest first. */
  listMembers(groupId: string, part: Scroll = {}): Promise<Listed<"members", wire.GroupMember>> {
    return this.rest.get(["groups", groupId, "members"], part);
  }

  /** Adds an identity; a member stays one. An identity can be in 200 groups. */
  addMember(groupId: string, identityId: string): Promise<void> {
    return this.rest.put(["groups", groupId, "members", identityId]);
  }

  removeMember(groupId: string, identityId: string): Promise<void> {
    return this.rest.delete(["groups", groupId, "members", identityId]);
  }
}
