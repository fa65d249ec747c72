/** An organization for the benches: inserted into D1, with everything else created over REST. */
import { createApiKey, fingerprintOf } from "../../src/features/accounts/api-key.ts";
import type { UserWithToken } from "../../src/features/users/schema.ts";
import type { Room } from "../../src/wire/room.ts";
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
    return (await this.#create<{ room: Room }>("rooms", { name })).room.id;
  }

  /** The token of a new user. */
  async createUser(name: string, roomId: string): Promise<string> {
    return (await this.#createUser(name, roomId)).token;
  }

  /** The id of a new user. */
  async createUserId(name: string, roomId: string): Promise<string> {
    return (await this.#createUser(name, roomId)).id;
  }

  async #createUser(name: string, roomId: string): Promise<UserWithToken> {
    return (await this.#create<{ user: UserWithToken }>("users", { name, roomId })).user;
  }

  async #create<Data>(what: "rooms" | "users", body: object): Promise<Data> {
    const response = await fetch(`${this.#origin}/v1/accounts/${this.accountId}/${what}`, {
      method: "POST",
      headers: { ...this.headers, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as { data: Data; description: string };
    if (response.status !== 201) throw new Error(`Seeding failed: ${response.status} ${answer.description}`);
    return answer.data;
  }
}
