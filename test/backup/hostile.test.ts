/** Backups and restores refuse other tokens, other organizations' rows and objects, and unsigned data. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { ARCHIVE_FORMAT, type Manifest, SCHEMA } from "../../src/features/backup/format.ts";
import { signaturesOf } from "../../src/features/backup/operator-call.ts";
import { createOperatorToken } from "../../src/features/backup/statements.ts";
import { jwtSecrets } from "../../src/platform/config.ts";
import { runScheduledTasks } from "../../src/scheduled.ts";
import { account } from "../support/api.ts";
import { begin, Operator, type Sent, type Signed, sentOf } from "./operator.ts";

const encode = (value: object) => new Uint8Array(new TextEncoder().encode(JSON.stringify(value)));

/** A backup that the service could have written, of an organization that does not exist. */
class Forged {
  readonly accountId = crypto.randomUUID();
  readonly backupId = crypto.randomUUID();

  async sign(part: string, value: object, accountId = this.accountId): Promise<Signed> {
    const bytes = encode(value);
    const place = [`format ${ARCHIVE_FORMAT}`, accountId, this.backupId, part];
    return { bytes, signature: await signaturesOf(jwtSecrets(env)).sign(place, bytes) };
  }

  manifest(changes: Partial<Manifest> = {}): Promise<Signed> {
    const [startedAt, finishedAt] = ["2026-01-31T09:00:00.000Z", "2026-01-31T09:01:00.000Z"];
    const organization = { id: this.accountId, name: "Forged", createdAt: 1, tokenEpoch: 0 };
    return this.sign("manifest", {
      ...{ format: ARCHIVE_FORMAT, schema: SCHEMA, backupId: this.backupId, organization },
      ...{ startedAt, finishedAt, parts: [], files: { count: 0, bytes: 0 } },
      ...changes,
    });
  }

  /** A restore that has begun. */
  async begun(): Promise<Operator> {
    const operator = await Operator.with(this.accountId, "restore");
    const { accountId, backupId } = this;
    const archive = { accountId, backupId, parts: new Map(), files: new Map(), refs: [] };
    await begin({ ...archive, manifest: await this.manifest() }, operator);
    return operator;
  }

  async rows(part: string, rows: readonly object[]): Promise<Sent> {
    return sentOf(await this.sign(part, { rows, after: null }), { part });
  }
}

const roomOf = (accountId: string, id: string = crypto.randomUUID()) => ({
  ...{ account_id: accountId, id, name: "Room", name_folded: "room", custom_id: null, state: "active" },
  ...{ created_at: 1, first_join_at: null, total_users_created: 0, last_active_at: 0, store_bytes: 0 },
});

describe("an operation", () => {
  it("is for who has the token of that organization and purpose, until it expires", async () => {
    const [owner, other] = [await account(), await account()];
    const operator = await Operator.with(owner.id, "backup");
    const expired = await Operator.with(other.id, "restore", -1);
    const refused = "401 UNAUTHORIZED";
    expect((await operator.raw("begin")).status).toBe(200);
    for (const [accountId, purpose, token] of [
      [owner.id, "backup", createOperatorToken()],
      [owner.id, "backup", owner.apiKey],
      [owner.id, "restore", operator.token],
      [other.id, "backup", operator.token],
      [other.id, "restore", expired.token],
    ] as const)
      expect(await new Operator(accountId, purpose, token).refusal("begin")).toBe(refused);
    await runScheduledTasks(env, Date.now());
    const left = await env.DB.prepare("SELECT account_id FROM operator_tokens").all();
    expect(left.results).toContainEqual({ account_id: owner.id });
    expect(left.results).not.toContainEqual({ account_id: other.id });
  });

  it("does not exist for what is no organization, and under another name", async () => {
    const { id } = await account();
    for (const [accountId, operation] of [
      ["../x", "begin"],
      [id, "constructor"],
      [id, "cancel"],
    ] as const)
      expect(await new Operator(accountId, "backup", "").refusal(operation)).toBe("404 NOT_FOUND");
  });

  it("reads nothing of another organization", async () => {
    const [owner, other] = [await account(), await account()];
    const room = await other.api.createRoom();
    const user = await other.api.createUser(room.id);
    const file = await other.api.upload({ roomId: room.id, userId: user.id }, new File(["x"], "x.txt"));
    const operator = await Operator.with(owner.id, "backup");
    const backupId = crypto.randomUUID();
    const objects = [
      { kind: "room", id: room.id },
      { kind: "log", id: "9" },
      { kind: "inbox", id: crypto.randomUUID() },
    ];
    const answer = await operator.raw("objects", {
      json: { backupId, part: "objects", objects, after: null },
    });
    expect(await answer.json()).toEqual({ objects: [], next: null });
    const { key } = file.data.file;
    expect(await operator.refusal("file", { json: { backupId, key, offset: 0 } })).toBe("404 NOT_FOUND");
  });
});

describe("a restore", () => {
  it("takes only what the service has signed as this part of this backup", async () => {
    const forged = new Forged();
    const operator = await forged.begun();
    const slice = { rows: [], after: null };
    const genuine = await forged.sign("rooms", slice);
    const other = await forged.sign("rooms", slice, crypto.randomUUID());
    const query = { part: "rooms" };
    expect((await operator.raw("rows", sentOf(genuine, query))).status).toBe(200);
    for (const sent of [
      sentOf({ ...genuine, bytes: encode({ ...slice, more: 1 }) }, query),
      sentOf(genuine, { part: "users" }),
      sentOf(other, query),
      { ...sentOf(genuine, query), headers: {} },
    ])
      expect(await operator.refusal("rows", sent)).toBe("400 VALIDATION_ERROR");
    const [previous, current] = ["p".repeat(32), "c".repeat(32)];
    const signature = await signaturesOf([previous]).sign(["place"], genuine.bytes);
    const isGenuine = (secrets: readonly [string, ...string[]]) =>
      signaturesOf(secrets).isGenuine(signature, ["place"], genuine.bytes);
    expect([await isGenuine([current, previous]), await isGenuine([current])]).toEqual([true, false]);
  });

  it("writes no row of another organization, whatever its ID", async () => {
    const other = await account();
    const room = await other.api.createRoom();
    const user = await other.api.createUser(room.id, { name: "Theirs" });
    const forged = new Forged();
    const operator = await forged.begun();
    const own = roomOf(forged.accountId);
    expect((await operator.raw("rows", await forged.rows("rooms", [own]))).status).toBe(200);
    expect(await operator.refusal("rows", await forged.rows("rooms", [roomOf(other.id)]))).toBe(
      "400 VALIDATION_ERROR",
    );
    const stolen = {
      ...{ id: user.id, account_id: forged.accountId, room_id: own.id, name: "Mine", name_folded: "mine" },
      ...{ role: "editor", created_at: 1 },
    };
    expect(await operator.refusal("rows", await forged.rows("users", [stolen]))).toBe("409 CONFLICT");
    const receipt = {
      scope: other.id,
      key: "k",
      fingerprint: "f",
      data: null,
      created_at: 1,
      in_directory: 0,
    };
    expect(await operator.refusal("rows", await forged.rows("receipts", [receipt]))).toBe(
      "400 VALIDATION_ERROR",
    );
    const refs = { objects: [{ kind: "room", id: room.id }], next: null };
    const slice = { reading: "r", version: 1, schema: [], deleted: [], rows: [], cursor: null };
    const objects = { ...refs, objects: refs.objects.map((ref) => ({ ...ref, slice })) };
    expect(
      await operator.refusal("objects", sentOf(await forged.sign("objects", objects), { part: "objects" })),
    ).toBe("400 VALIDATION_ERROR");
    const { users } = (await other.api.get<{ users: unknown[] }>(`/users?roomId=${room.id}`)).data;
    expect(users).toEqual([expect.objectContaining({ name: "Theirs" })]);
  });

  it("refuses what another version of the service has written", async () => {
    const forged = new Forged();
    const operator = await Operator.with(forged.accountId, "restore");
    const query = { backup: forged.backupId };
    for (const changes of [{ schema: SCHEMA + 1 }, { format: ARCHIVE_FORMAT + 1 }])
      expect(await operator.refusal("begin", sentOf(await forged.manifest(changes), query))).toBe(
        "409 CONFLICT",
      );
  });

  it("is continued by its own backup only, until it is cancelled", async () => {
    const forged = new Forged();
    const operator = await forged.begun();
    await operator.data("rows", await forged.rows("rooms", [roomOf(forged.accountId)]));
    const second = new Forged();
    Object.assign(second, { accountId: forged.accountId });
    await expect(second.begun()).rejects.toThrow("CONFLICT: The organization is being restored from another");
    const cancelling = await forged.begun();
    await cancelling.data("cancel");
    await expect(second.begun()).rejects.toThrow("RATE_LIMITED: The organization was deleted");
    await runScheduledTasks(env, Date.now() + 120_000);
    await second.begun();
    const rows = await env.DB.prepare("SELECT id FROM rooms WHERE account_id = ?")
      .bind(forged.accountId)
      .all();
    expect(rows.results).toEqual([]);
  });

  it("makes members who are no people of this service, and none whose address another person has", async () => {
    const forged = new Forged();
    const operator = await forged.begun();
    const [known, email] = [crypto.randomUUID(), `${crypto.randomUUID()}@example.com`];
    await env.DB.prepare("INSERT INTO people VALUES (?, 'Known', ?, 1, 1)").bind(known, email).run();
    const member = (id: string, address: string) => ({
      ...{ account_id: forged.accountId, person_id: id, name: "Person", email: address },
      ...{ role: "owner", joined_at: 1, notices: 1 },
    });
    const unknown = crypto.randomUUID();
    const rows = [member(crypto.randomUUID(), email), member(unknown, `${unknown}@example.com`)];
    for (let times = 0; times < 2; times += 1)
      await operator.data("rows", await forged.rows("members", rows));
    const found = await env.DB.prepare(
      `SELECT people.id, people.name, credentials.password FROM memberships JOIN people ON people.id = memberships.person_id
       LEFT JOIN credentials ON credentials.person_id = people.id WHERE account_id = ? ORDER BY people.name`,
    )
      .bind(forged.accountId)
      .all();
    expect(found.results).toEqual([{ id: unknown, name: "Person", password: null }]);
  });
});
