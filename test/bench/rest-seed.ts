/** The organizations that the REST bench asks about: one that is only read, and one that fills up. */
import { createApiKey, fingerprintOf } from "../../src/accounts/api-key.ts";
import type { Database } from "./serve.ts";

const ROOMS = 200;
const USERS = 50;

/** An organization with its credential and one of its rooms. */
export interface Organization {
  readonly accountId: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly roomId: string;
}

/** Two of them, so that what the writes leave behind does not slow the reads down. */
export interface Seed {
  /** 200 rooms, one of them with 50 users. */
  readonly read: Organization;
  readonly written: Organization;
}

export async function seed(db: Database, origin: string): Promise<Seed> {
  const read = await createOrganization(db, origin);
  for (let room = 1; room < ROOMS; room += 1) await create(origin, read, "rooms", { name: `Room ${room}` });
  for (let user = 1; user <= USERS; user += 1) {
    await create(origin, read, "users", { name: `User ${user}`, roomId: read.roomId });
  }
  return { read, written: await createOrganization(db, origin) };
}

async function createOrganization(db: Database, origin: string): Promise<Organization> {
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
  const headers = { Authorization: `Bearer ${Buffer.from(`${accountId}:${key}`).toString("base64")}` };
  const data = await create(origin, { accountId, headers }, "rooms", { name: "The room" });
  return { accountId, headers, roomId: (data as { room: { id: string } }).room.id };
}

async function create(
  origin: string,
  { accountId, headers }: Pick<Organization, "accountId" | "headers">,
  what: "rooms" | "users",
  body: object,
): Promise<object> {
  const response = await fetch(`${origin}/v1/accounts/${accountId}/${what}`, {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as { data: object; description: string };
  if (response.status !== 201) throw new Error(`Seeding failed: ${response.status} ${answer.description}`);
  return answer.data;
}
