/** Inboxes of identities in rooms, and activities for them. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { InboxActivity, InboxPosition, InboxRemoval } from "@atrium/contract/resources/inbox.ts";
import { CHANNELS, DEFAULTS } from "@atrium/contract/resources/notification-settings.ts";
import { connectInbox, openInbox, shardName } from "../../src/delivery/inboxes.ts";
import type { InboxObjectBase } from "../../src/features/inbox/shard/inbox-object.ts";
import { TestSocket } from "../room/support/test-socket.ts";
import { type Account, account } from "../support/api.ts";

const open = openInbox<InboxObjectBase>(env);

/** A socket of an inbox that has yet to join, through the gateway of the service. */
export async function openInboxSocket(accountId: string, identityId: string): Promise<TestSocket> {
  const upgrade = new Request("https://atrium.test/", { headers: { Upgrade: "websocket" } });
  const { webSocket } = await connectInbox(env)(accountId, identityId, upgrade);
  if (webSocket === null) throw new Error("The upgrade returned no socket");
  return new TestSocket(webSocket);
}

/** The notifications of a shard that wait for a channel until they are due (epoch ms), by their identities. */
export const waitingIn = ({ sql }: DurableObjectStorage) =>
  sql
    .exec<{ id: string; email: number | null; webPush: number | null }>(
      `SELECT identity_id AS id, email_due AS email, web_push_due AS webPush FROM items
       WHERE seq > read_seq ORDER BY identity_id`,
    )
    .toArray()
    .flatMap(({ id, ...times }) =>
      CHANNELS.flatMap((channel) => {
        const due = times[channel];
        return due === null ? [] : [{ id, channel, due }];
      }),
    );

export const PAGE = { limit: 100, after: null } as const;

export const activity = (changes: Partial<InboxActivity> = {}): InboxActivity => ({
  id: crypto.randomUUID(),
  kind: "thread",
  roomId: null,
  subjectId: "subject",
  seq: 1,
  at: Date.now(),
  by: null,
  data: {},
  ...changes,
});

/** An identity of an organization, with an inbox. */
export class Inbox {
  readonly owner: Account;
  readonly identityId: string;

  private constructor(owner: Account, identityId: string) {
    this.owner = owner;
    this.identityId = identityId;
  }

  static async create(owner?: Account, name = "Ada"): Promise<Inbox> {
    const of = owner ?? (await account());
    const { data } = await of.api.post<{ identity: { id: string } }>("/identities", { name });
    return new Inbox(of, data.identity.id);
  }

  /** The number of its latest change. */
  seq(): Promise<number> {
    return runInDurableObject(this.stub, (_, { storage }) => {
      const query = "SELECT seq FROM inboxes WHERE identity_id = ?";
      return storage.sql.exec<{ seq: number }>(query, this.identityId).one().seq;
    });
  }

  static of(owner: Account, identityId: string): Inbox {
    return new Inbox(owner, identityId);
  }

  get caller() {
    return { identityId: this.identityId };
  }

  deliver(activities: readonly InboxActivity[], defaults = DEFAULTS): Promise<void> {
    return this.object.deliver([this.identityId], activities, defaults);
  }

  markRead(position: InboxPosition): Promise<void> {
    return this.object.markRead([this.identityId], position);
  }

  removeItems(removal: InboxRemoval): Promise<void> {
    return this.object.removeItems([this.identityId], removal);
  }

  /** Opened anew for each call, as the service does it. */
  get object() {
    return open(this.owner.id, this.identityId);
  }

  get stub() {
    return env.INBOXES.getByName(shardName(this.owner.id, this.identityId));
  }

  /** A room that the identity may enter. */
  async room(customId?: string): Promise<string> {
    const { id } = await this.owner.api.createRoom(customId === undefined ? {} : { customId });
    await this.allow(id, "editor");
    return id;
  }

  async allow(roomId: string, permissions: string | null): Promise<void> {
    await this.owner.api.put(`/rooms/${roomId}/access`, {
      identitiesAccesses: { [this.identityId]: permissions },
    });
  }

  async token(terms: object = {}): Promise<string> {
    const path = `/identities/${this.identityId}/tokens`;
    return (await this.owner.api.post<{ token: string }>(path, terms)).data.token;
  }

  /** The tables that have something of the inbox. */
  contents(): Promise<string[]> {
    return runInDurableObject(this.stub, (_, { storage }) => {
      const known = storage.sql
        .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'")
        .toArray()
        .map(({ name }) => name);
      const tables = ["inboxes", "items", "forgotten", "sendings", "push_targets"];
      return tables.filter(
        (table) =>
          known.includes(table) &&
          storage.sql.exec(`SELECT 1 FROM ${table} WHERE identity_id = ?`, this.identityId).toArray().length >
            0,
      );
    });
  }

  /** The subjects of the items that are shown, each with whether it is unread. */
  async shown(): Promise<Record<string, boolean>> {
    const page = await this.object.list(this.caller, PAGE);
    const items = page?.notifications ?? [];
    return Object.fromEntries(items.map(({ subject_id, unread }) => [subject_id, unread]));
  }
}

/** Two inboxes of an organization that have one shard: of some further identities, one has the digits of an earlier one. */
export async function shareShard(): Promise<[Inbox, Inbox]> {
  const first = await Inbox.create();
  const known = [first];
  for (;;) {
    const next = await Inbox.create(first.owner, "Ben");
    const sharing = known.find(({ stub }) => stub.id.equals(next.stub.id));
    if (sharing !== undefined) return [sharing, next];
    known.push(next);
  }
}
