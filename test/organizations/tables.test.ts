/** The list of the tables that belong to organizations, and the parts of their backups: complete, and true to the tables. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { EVENT_LOG_SCHEMA } from "../../src/delivery/event-log/event-log-store.ts";
import { SUBSCRIBER_SCHEMA } from "../../src/delivery/subscriber/delivery-store.ts";
import { COPIED, RESTORED, rowPartOf } from "../../src/features/backup/parts.ts";
import { SCHEMA as INBOX_SCHEMA } from "../../src/features/inbox/shard/inbox-tables.ts";
import { ORGANIZATION_TABLES, type OrganizationTable } from "../../src/features/organizations/tables.ts";
import { statement } from "../../src/platform/d1/d1.ts";
import { createTables } from "../../src/platform/objects/object-tables.ts";
import { partsOf, shapeOf } from "../../src/platform/objects/row-store.ts";
import { ROOM_SCHEMA } from "../../src/room/storage/sqlite-tables.ts";

/** People and their access, which is not bound to one organization's database; and the organization itself. */
const DIRECTORY = [
  ...["accounts", "api_keys", "people", "credentials", "sessions", "memberships", "invitations"],
  ...["passkeys", "password_links", "mails", "mail_counts", "second_factors", "recovery_codes"],
];
/** Tables of moves (docs/decisions/0027) and backups (0034) of organizations, and of copies of the databases. */
const OF_MOVES = ["copies", "data_locations", "fences", "moves", "operator_tokens", "restores"];
/** Tables without a part in an organization's backup, and why. */
const NOT_IN_BACKUPS = {
  accounts: "the manifest has the organization's row",
  people: "a deployment's backup has a part of its own",
  credentials: "likewise, with the hashes encrypted",
  passkeys: "likewise, as they are: public keys",
  second_factors: "likewise, sealed",
  recovery_codes: "likewise, as hashes",
  sessions: "people sign in again",
  password_links: "over within hours",
  mails: "over within hours",
  mail_counts: "over within a day",
  quotas: "a part, though no list has it: its use is derived",
  backlogs: "subscribers report what waits",
  retired_scripts: "scripts of deleted workflows in this deployment's namespace",
  fences: "of moves and restores under way",
  moves: "of this deployment's databases",
  copies: "of this deployment's databases",
  data_locations: "of this deployment's databases",
  operator_tokens: "of operations under way",
  restores: "of operations under way",
};
/** Objects without an archive, and why. */
const NOT_ARCHIVED = {
  GUESS_LIMITS: "counts of a day",
  REQUEST_LOGS: "a sample of seven days",
  REQUEST_RATES: "counts of seconds",
};
/** Triggers make their rows; the tables of searches include those of FTS5. */
const DERIVED = /^(quotas|search_\w+)$/;
const OF_THE_PLATFORM = /^(sqlite_|_cf_|d1_migrations$)/;

async function tableNames(): Promise<string[]> {
  const { results } = await env.DB.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
  return results.map(({ name }) => String(name)).filter((name) => !OF_THE_PLATFORM.test(name));
}

describe("the tables of organizations", () => {
  it("are all that are neither of the directory nor derived", async () => {
    const names = (await tableNames()).filter((name) => !DERIVED.test(name));
    const listed = new Set([...ORGANIZATION_TABLES.map(({ name }) => name), ...DIRECTORY, ...OF_MOVES]);
    expect(names.toSorted()).toEqual([...listed].toSorted());
  });

  it.each(ORGANIZATION_TABLES.map((table) => [table.name, table.where, table] as const))(
    "are listed with their key, in an order by columns that they have: %s where %s",
    async (name, _, { primaryKey, order }) => {
      const columns = await env.DB.prepare("SELECT name, pk FROM pragma_table_info(?)").bind(name).all();
      const named = columns.results.map((column) => String(column.name));
      expect(columns.results.filter(({ pk }) => pk !== 0).map((column) => column.name)).toEqual(primaryKey);
      expect(named).toEqual(expect.arrayContaining(order.map(({ column }) => column)));
    },
  );
});

describe("a backup of an organization", () => {
  it("has a part for each table, or a reason to leave it out", async () => {
    const parts = COPIED.flatMap(({ name }) => rowPartOf(name) ?? []);
    // The rows of members name the people besides.
    const copied = parts.map(({ name, table }) => (name === "members" ? "memberships" : table.name));
    const named = [...copied, ...Object.keys(NOT_IN_BACKUPS)];
    const names = (await tableNames()).filter((name) => !name.startsWith("search_"));
    expect([...new Set(named)].toSorted()).toEqual(names.toSorted());
    expect(copied.filter((name) => name in NOT_IN_BACKUPS)).toEqual(["quotas", "quotas"]);
  });

  it("has each part of the rows that a move copies, and restores all that it copies", () => {
    const slices = COPIED.flatMap(({ name }) => rowPartOf(name) ?? []);
    const conditionOf = ({ where }: OrganizationTable) => statement`${where("an organization")}`.sql;
    for (const moved of ORGANIZATION_TABLES.filter((table) => !(table.name in NOT_IN_BACKUPS)))
      if (!conditionOf(moved).includes("state <> 'stored'"))
        // uploads under way
        expect(
          slices.some(
            ({ table }) => table.name === moved.name && conditionOf(table).startsWith(conditionOf(moved)),
          ),
        ).toBe(true);
    expect(RESTORED.toSorted()).toEqual(COPIED.map(({ name }) => name).toSorted());
  });

  it("archives each kind of object, or has a reason not to", () => {
    const isObjects = (binding: unknown) => Object(binding).constructor?.name === "DurableObjectNamespace";
    const names = Object.entries(env).flatMap(([name, binding]) => (isObjects(binding) ? [name] : []));
    const archived = ["ROOMS", "SUBSCRIBERS", "EVENT_LOGS", "INBOXES"];
    expect(names.toSorted()).toEqual([...archived, ...Object.keys(NOT_ARCHIVED)].toSorted());
  });

  it.each([
    ["a room", env.ROOMS, ROOM_SCHEMA],
    ["a shard of inboxes", env.INBOXES, INBOX_SCHEMA],
    ["a shard of the event log", env.EVENT_LOGS, EVENT_LOG_SCHEMA],
    ["a subscriber", env.SUBSCRIBERS, SUBSCRIBER_SCHEMA],
  ] as const)("reads each table of %s by its key", async (_, objects, schema) => {
    const stub = (objects as DurableObjectNamespace).getByName(`${crypto.randomUUID()}:0`);
    await runInDurableObject(stub, (__, { storage }) => {
      createTables(storage, schema);
      const parts = partsOf(storage.sql).filter(({ type }) => type === "table");
      expect(parts.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(schema.tables)));
      for (const { name } of parts)
        expect([name, shapeOf(storage.sql, name)?.key.length]).not.toEqual([name, 0]);
    });
  });
});

it.each([...new Set(ORGANIZATION_TABLES.map(({ name }) => name))])(
  "a fence keeps every write out of %s",
  async (name) => {
    const triggers = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?";
    const { results } = await env.DB.prepare(triggers).bind(name).all<{ name: string }>();
    for (const write of ["insert", "update", "delete"])
      expect(results.map((trigger) => trigger.name)).toContain(`fence_${write}_of_${name}`);
  },
);
