/** Backups of a deployment beyond its organizations: rights, the list of organizations, and people. */
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { app } from "../../src/app.ts";
import {
  DEPLOYMENT,
  type DeploymentManifest,
  HEADERS,
  type ListedOrganization,
  type OrganizationPage,
  type PeopleSlice,
  SCHEMA,
} from "../../src/features/backup/format.ts";
import { RESTORING_EPOCH } from "../../src/platform/token-claims.ts";
import { account, ORIGIN } from "../support/api.ts";
import { DashboardBrowser, PASSWORD, type SignedUp, signUp } from "../support/person.ts";
import { Operator, readJson, type Signed, sentOf, signed } from "./operator.ts";

const deployment = (purpose: "backup" | "restore") => Operator.with(DEPLOYMENT, purpose);

describe("an operator's token for the deployment", () => {
  it("is for all of its organizations, and theirs are not for the deployment", async () => {
    const owner = await account();
    const own = await Operator.with(owner.id, "backup");
    const operator = await deployment("backup");
    expect((await new Operator(owner.id, "backup", operator.token).raw("begin")).status).toBe(200);
    const json = { after: null };
    expect((await operator.raw("organizations", { json })).status).toBe(200);
    for (const [accountId, purpose, token, operation] of [
      [DEPLOYMENT, "backup", own.token, "organizations"],
      [DEPLOYMENT, "restore", operator.token, "finish"],
      [owner.id, "restore", operator.token, "cancel"],
    ] as const)
      expect(await new Operator(accountId, purpose, token).refusal(operation, { json })).toBe(
        "401 UNAUTHORIZED",
      );
    expect((await own.raw("begin")).status).toBe(200);
  });

  it("is of no use once the backup is complete", async () => {
    const operator = await deployment("backup");
    const json = {
      ...{ backupId: crypto.randomUUID(), startedAt: new Date().toISOString(), parts: [] },
      ...{ organizations: 0, people: 0 },
    };
    const manifest = readJson<DeploymentManifest>(await signed(await operator.raw("finish", { json })));
    expect(manifest).toMatchObject({ ...json, format: 1, schema: SCHEMA });
    expect(await operator.refusal("organizations", { json: { after: null } })).toBe("401 UNAUTHORIZED");
  });

  it("does not open operations of an organization for the deployment", async () => {
    const operator = await deployment("restore");
    for (const operation of ["rows", "cancel", "constructor"])
      expect(await operator.refusal(operation)).toBe("404 NOT_FOUND");
  });
});

describe("the organizations of a deployment", () => {
  it("come page by page, in the order of their IDs", async () => {
    const prefix = `z-${crypto.randomUUID()}-`;
    const ids = Array.from({ length: 501 }, (_, index) => prefix + String(index).padStart(3, "0"));
    await env.DB.prepare(
      "INSERT INTO accounts (id, name, created_at) SELECT value, 'Listed', 1 FROM json_each(?)",
    )
      .bind(JSON.stringify(ids))
      .run();
    try {
      const operator = await deployment("backup");
      const page = (after: string) => operator.data<OrganizationPage>("organizations", { json: { after } });
      const first = await page(prefix);
      const idsOf = ({ organizations }: OrganizationPage) => organizations.map(({ id }) => id);
      expect([idsOf(first), first.after]).toEqual([ids.slice(0, 500), ids[499]]);
      const second = await page(first.after ?? "");
      expect([idsOf(second).slice(0, 1), second.after]).toEqual([ids.slice(500), null]);
    } finally {
      await env.DB.prepare("DELETE FROM accounts WHERE id >= ? AND id < ?").bind(prefix, `${prefix}~`).run();
    }
  });

  it("are without those that were deleted, and say which are being restored", async () => {
    const [{ id: present }, { id: deleted }, { id: restoring }] = [
      await account(),
      await account(),
      await account(),
    ];
    await env.DB.batch([
      env.DB.prepare("UPDATE accounts SET deleted_at = ? WHERE id = ?").bind(Date.now(), deleted),
      env.DB.prepare("UPDATE accounts SET token_epoch = ? WHERE id = ?").bind(RESTORING_EPOCH, restoring),
    ]);
    const operator = await deployment("restore");
    const find = async (id: string) =>
      (await operator.data<{ organization: ListedOrganization | null }>("organization", { json: { id } }))
        .organization;
    expect(await find(present)).toMatchObject({ id: present, isBeingRestored: false });
    expect(await find(restoring)).toMatchObject({ id: restoring, isBeingRestored: true });
    expect(await find(deleted)).toBeNull();
    const { organizations } = await (await deployment("backup")).data<OrganizationPage>("organizations", {
      json: { after: deleted.slice(0, -1) },
    });
    expect(organizations.map(({ id }) => id)).not.toContain(deleted);
  });
});

/** The slice of the deployment's people that has this one, of those whose IDs follow `from`. */
async function sliceWith(personId: string, backupId: string, from: string | null = null): Promise<Signed> {
  const operator = await deployment("backup");
  let after = from;
  do {
    const slice = await signed(await operator.raw("people", { json: { backupId, after } }));
    const { people, after: next } = readJson<PeopleSlice>(slice);
    if (people.some(({ id }) => id === personId)) return slice;
    after = next;
  } while (after !== null);
  throw new Error("The person is in no slice");
}

/** Rows of people, by their IDs. */
const rowsOf = async (...ids: string[]) =>
  (
    await env.DB.prepare(
      `SELECT people.*, password FROM people LEFT JOIN credentials ON credentials.person_id = people.id
       WHERE people.id IN (SELECT value FROM json_each(?)) ORDER BY people.id`,
    )
      .bind(JSON.stringify(ids))
      .all()
  ).results;

const forget = ({ id }: SignedUp) => env.DB.prepare("DELETE FROM people WHERE id = ?").bind(id).run();

/** The status of signing in with the password of the tests. */
const signIn = async ({ email }: SignedUp): Promise<number> =>
  (await new DashboardBrowser().post("/sign-in", { email, password: PASSWORD })).status;

describe("the people of a deployment", () => {
  it("are added with their passwords, which no one reads in the backup", async () => {
    const person = await signUp();
    const [before] = await rowsOf(person.id);
    const backupId = crypto.randomUUID();
    const slice = await sliceWith(person.id, backupId);
    expect(new TextDecoder().decode(slice.bytes)).not.toContain("scrypt");
    await forget(person);
    expect(await signIn(person)).toBe(401);
    const operator = await deployment("restore");
    const send = () => operator.data("people", sentOf(slice, { backup: backupId }));
    expect([await send(), await send()]).toEqual([{ added: 1 }, { added: 0 }]);
    expect(await rowsOf(person.id)).toEqual([before]);
    expect(await signIn(person)).toBe(200);
  });

  it("are added with their accounts at providers, which return to no one who can sign in without", async () => {
    const [forgotten, known] = [await signUp(), await signUp()];
    const connect = async ({ id }: SignedUp) =>
      env.DB.prepare("INSERT INTO credentials VALUES (?, ?, 'https://acme.example/', ?, NULL, 1, 1)")
        .bind(crypto.randomUUID(), id, `subject of ${id}`)
        .run();
    const connected = async ({ id }: SignedUp) =>
      (
        await env.DB.prepare(
          "SELECT provider_account_id AS subject FROM credentials WHERE person_id = ? AND provider_id <> 'credential'",
        )
          .bind(id)
          .all()
      ).results;
    const backupId = crypto.randomUUID();
    const slices: Signed[] = [];
    for (const person of [forgotten, known]) {
      await connect(person);
      slices.push(await sliceWith(person.id, backupId));
    }
    await forget(forgotten);
    await env.DB.prepare("DELETE FROM credentials WHERE provider_account_id = ?")
      .bind(`subject of ${known.id}`)
      .run();
    const operator = await deployment("restore");
    for (const slice of [...slices, ...slices])
      await operator.data("people", sentOf(slice, { backup: backupId }));
    expect(await connected(forgotten)).toEqual([{ subject: `subject of ${forgotten.id}` }]);
    expect(await connected(known)).toEqual([]);
    expect(await signIn(forgotten)).toBe(200);
  });

  it("are added with their passkeys, and no passkey comes back to a person who removed it", async () => {
    const person = await signUp();
    const passkeys = () =>
      env.DB.prepare(
        `SELECT id, name, credential_id, public_key, counter, transports, created_at, last_used_at FROM passkeys
         WHERE person_id = ? ORDER BY id`,
      )
        .bind(person.id)
        .all();
    for (const [name, usedAt] of [
      ["Laptop", null],
      ["Phone", 7],
    ])
      await env.DB.prepare("INSERT INTO passkeys VALUES (?, ?, ?, ?, 'a key', 5, '[\"usb\"]', 4, 3, ?)")
        .bind(crypto.randomUUID(), person.id, name, crypto.randomUUID(), usedAt)
        .run();
    const before = (await passkeys()).results;
    const backupId = crypto.randomUUID();
    const slice = await sliceWith(person.id, backupId);
    await forget(person);
    const operator = await deployment("restore");
    const send = () => operator.data("people", sentOf(slice, { backup: backupId }));
    await send();
    expect((await passkeys()).results).toEqual(before);
    expect(before).toHaveLength(2);
    await env.DB.prepare("DELETE FROM passkeys WHERE person_id = ? AND name = 'Phone'").bind(person.id).run();
    await send();
    expect((await passkeys()).results).toHaveLength(1);
    await env.DB.prepare("DELETE FROM passkeys WHERE person_id = ?").bind(person.id).run();
    await send();
    expect((await passkeys()).results).toEqual([]);
  });

  it("are added from slices that fit, however many and long their passkeys are", async () => {
    const prefix = crypto.randomUUID();
    const numbers = (count: number) => JSON.stringify(Array.from({ length: count }, (_, number) => number));
    await env.DB.batch([
      env.DB.prepare(
        `INSERT INTO people SELECT format('%s-%02d', ?1, value), 'Ada', format('%s-%d@example.com', ?1, value), 1, 1
         FROM json_each(?2)`,
      ).bind(prefix, numbers(60)),
      env.DB.prepare(
        `INSERT INTO passkeys SELECT people.id || value, people.id, ?2, people.id || value || ?3, ?4, 0, '[]', 1, 1, NULL
         FROM people JOIN json_each(?5) WHERE people.id BETWEEN ?1 AND ?1 || 'z'`,
      ).bind(prefix, "n".repeat(255), "c".repeat(1_300), "k".repeat(900), numbers(20)),
    ]);
    const count = () =>
      env.DB.prepare("SELECT count(*) FROM passkeys WHERE person_id BETWEEN ?1 AND ?1 || 'z'")
        .bind(prefix)
        .first("count(*)");
    expect(await count()).toBe(1_200);
    const backupId = crypto.randomUUID();
    const slices = new Map<string, Signed>();
    for (const number of ["00", "20", "40", "59"]) {
      const slice = await sliceWith(`${prefix}-${number}`, backupId, prefix);
      expect(slice.bytes.byteLength).toBeLessThan(2_000_000); // D1's limit for a value, which workerd does not have
      slices.set(slice.signature, slice);
    }
    await env.DB.prepare("DELETE FROM people WHERE id BETWEEN ?1 AND ?1 || 'z'").bind(prefix).run();
    const operator = await deployment("restore");
    for (const slice of slices.values()) await operator.data("people", sentOf(slice, { backup: backupId }));
    expect(await count()).toBe(1_200);
    await env.DB.prepare("DELETE FROM people WHERE id BETWEEN ?1 AND ?1 || 'z'").bind(prefix).run();
  });

  it("are added with their second factors, whose used codes a repetition does not bring back", async () => {
    const [person, without] = [await signUp(), await signUp()];
    const factors = () =>
      env.DB.prepare(
        `SELECT second_factors.*, code_hash FROM second_factors JOIN recovery_codes USING (person_id)
         WHERE person_id IN (?, ?) ORDER BY code_hash`,
      )
        .bind(person.id, without.id)
        .all();
    await env.DB.batch([
      env.DB.prepare("INSERT INTO second_factors VALUES (?, 'key', 'sealed', 7, 8)").bind(person.id),
      env.DB.prepare("INSERT INTO recovery_codes VALUES (?1, 'first'), (?1, 'second')").bind(person.id),
    ]);
    const { results: before } = await factors();
    expect(before).toHaveLength(2);
    const backupId = crypto.randomUUID();
    const slices = [await sliceWith(person.id, backupId), await sliceWith(without.id, backupId)];
    for (const each of [person, without]) await forget(each);
    const operator = await deployment("restore");
    const restore = async () => {
      for (const slice of slices) await operator.data("people", sentOf(slice, { backup: backupId }));
    };
    await restore();
    expect((await factors()).results).toEqual(before);
    expect([await signIn(person), await signIn(without)]).toEqual([400, 200]);
    await env.DB.prepare("DELETE FROM recovery_codes WHERE code_hash = 'first'").run();
    await restore();
    expect((await factors()).results).toEqual(before.slice(1));
  });

  it("stay as they are where the service knows them, by their ID or their address", async () => {
    const [known, addressed, without] = [await signUp(), await signUp(), await signUp()];
    const backupId = crypto.randomUUID();
    const people = [known, addressed, without];
    const slices: Signed[] = [];
    for (const { id } of people) slices.push(await sliceWith(id, backupId));
    const other = crypto.randomUUID();
    await env.DB.batch([
      env.DB.prepare("UPDATE people SET name = 'Renamed' WHERE id = ?").bind(known.id),
      env.DB.prepare("UPDATE credentials SET password = 'chosen since' WHERE person_id = ?").bind(known.id),
      env.DB.prepare("DELETE FROM people WHERE id = ?").bind(addressed.id),
      env.DB.prepare("INSERT INTO people VALUES (?, 'Other', ?, 1, 1)").bind(other, addressed.email),
      env.DB.prepare("UPDATE credentials SET password = NULL WHERE person_id = ?").bind(without.id),
    ]);
    const before = await rowsOf(known.id, addressed.id, other);
    expect(before).toHaveLength(2);
    const operator = await deployment("restore");
    for (const slice of slices) await operator.data("people", sentOf(slice, { backup: backupId }));
    expect(await rowsOf(known.id, addressed.id, other)).toEqual(before);
    expect(await signIn(without)).toBe(200);
  });

  it("are taken only as the service has signed them, for this backup and with its secret", async () => {
    const person = await signUp();
    const backupId = crypto.randomUUID();
    const slice = await sliceWith(person.id, backupId);
    const operator = await deployment("restore");
    const refused = "400 VALIDATION_ERROR";
    const query = { backup: backupId };
    const changed = {
      ...slice,
      bytes: new Uint8Array(new TextEncoder().encode('{"people":[],"after":null}')),
    };
    expect(await operator.refusal("people", sentOf(changed, query))).toBe(refused);
    expect(await operator.refusal("people", sentOf(slice, { backup: crypto.randomUUID() }))).toBe(refused);
    const elsewhere = { ...env, JWT_SECRET: "another-secret-than-that-of-the-backup" };
    const request = new Request(`${ORIGIN}/operator/restore/${DEPLOYMENT}/people?backup=${backupId}`, {
      method: "POST",
      headers: { Authorization: `Bearer ${operator.token}`, [HEADERS.signature]: slice.signature },
      body: slice.bytes,
    });
    const send = (settings: object) =>
      app.fetch(request.clone(), { ...elsewhere, ...settings }, createExecutionContext());
    const response = await send({});
    expect([response.status, await response.text()]).toEqual([
      400,
      expect.stringContaining("set the former one as JWT_SECRET_PREVIOUS"),
    ]);
    expect((await send({ JWT_SECRET_PREVIOUS: env.JWT_SECRET })).status).toBe(200);
  });
});

it("a backup of a deployment is continued, and restored, only where it was begun", async () => {
  const backupId = crypto.randomUUID();
  const operator = await deployment("backup");
  const beginning = await signed(await operator.raw("begin", { json: { backupId } }));
  const query = { backup: backupId };
  expect((await operator.raw("resume", sentOf(beginning, query))).status).toBe(200);
  const other = { ...beginning, signature: "0".repeat(64) };
  expect(await operator.refusal("resume", sentOf(other, query))).toBe("400 VALIDATION_ERROR");
  const restoring = await deployment("restore");
  expect(await restoring.refusal("begin", sentOf(beginning, query))).toBe("400 VALIDATION_ERROR");
});
