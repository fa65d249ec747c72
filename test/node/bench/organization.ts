/** An organization for the benches: inserted into D1, with everything else created over REST. */

import type { Room } from "@atrium/contract/resources/room.ts";
import type { UserWithToken } from "@atrium/contract/rest/users.ts";
import { createApiKey, fingerprintOf } from "../../../src/features/accounts/api-key.ts";
import type { Database } from "./serve.ts";

export class Organization {
  readonly #origin: string;
  readonly accountId: string;
  readonly apiKey: string;
  readonly headers: Readonly<Record<string, string>>;

  private constructor(origin: string, accountId: string, key: string) {
    this.#origin = origin;
    this.accountId = accountId;
    this.apiKey = key;
    this.headers = { Authorization: `Bearer ${Buffer.from(`${accountId}:${key}`).toString("base64")}` };
  }

  static async create(db: Database, origin: string): Promise<Organization> {
    const accountId = crypto.randomUUID();
    const key = createApiKey();
    const { hash, prefix, lastFour } = await fingerprintOf(key);
    const now = Date.now();
    await db.batch([
      db.prepare("INSERT INTO accounts (id, name, created_at) VALUES (?, 'Bench', ?)").bind(accountId, now),
      db
        .prepare(
          `INSERT INTO api_keys (id, account_id, name, hash, prefix, last_four, created_at)
           VALUES (?, ?, 'Bench', ?, ?, ?, ?)`,
        )
        .bind(crypto.randomUUID(), accountId, hash, prefix, lastFour, now),
    ]);
    return new Organization(origin, accountId, key);
  }

  /** The id of a new room. */
  async createRoom(name: string): Promise<string> {
    return (await this.#send<{ room: Room }>("POST", "rooms", { name })).room.id;
  }

  /** The token of a new user. */
  async createUser(name: string, roomId: string): Promise<string> {
    return (await this.#createUser(name, roomId)).token;
  }

  /** The id of a new user. */
  async createUserId(name: string, roomId: string): Promise<string> {
    return (await this.#createUser(name, roomId)).id;
  }

  /** The token of a new identity, which may edit the room. */
  async identify(name: string, roomId: string): Promise<string> {
    await this.#send("PUT", `rooms/${roomId}/access`, { defaultAccesses: "editor" });
    const identification = { customId: crypto.randomUUID(), name, rooms: [roomId] };
    return (await this.#send<{ token: string }>("POST", "identify", identification)).token;
  }

  async #createUser(name: string, roomId: string): Promise<UserWithToken> {
    return (await this.#send<{ user: UserWithToken }>("POST", "users", { name, roomId })).user;
  }

  async #send<Data>(method: string, path: string, body: object): Promise<Data> {
    const response = await fetch(`${this.#origin}/v1/accounts/${this.accountId}/${path}`, {
      method,
      headers: { ...this.headers, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as { data: Data; description: string };
    if (!response.ok) throw new Error(`Seeding failed: ${response.status} ${answer.description}`);
    return answer.data;
  }
}
