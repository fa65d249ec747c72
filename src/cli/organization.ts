/** Organizations as the operator changes them, directly in the database: created, moved, limited, and their tokens ended. */

import type { AuditResource } from "@atrium/contract/resources/audit-names.ts";
import { isInDirectory, QUOTAS, type QuotaName } from "@atrium/contract/resources/quota.ts";
import { sql } from "drizzle-orm";
import { insertForOnlineRooms } from "../delivery/outbox/outbox-store.ts";
import { createApiKey, fingerprintOf } from "../features/accounts/api-key.ts";
import { countUsed } from "../features/quotas/statements.ts";
import { endTokensOfAccount } from "../features/users/statements.ts";
import { listed, type Statement, statement } from "../platform/d1/d1.ts";
import { selectPlacement } from "../platform/d1/placement-store.ts";
import type { RoomCommand } from "../room/types/room-object.ts";
import {
  type Database,
  databasePort,
  executeOnTables,
  isDirectory,
  listBindings,
  type Rows,
} from "./database.ts";
import { CommandError, UsageError } from "./process/command.ts";
import type { Credentials } from "./secrets.ts";

const MAX_NAME_LENGTH = 255;

/** Whether an organization may have the name: 1 to 255 code points, none of them NUL or an unpaired surrogate. */
export function isOrganizationName(name: string): boolean {
  const length = [...name].length;
  return length >= 1 && length <= MAX_NAME_LENGTH && name.isWellFormed() && !name.includes("\0");
}

const notFound = (accountId: string): CommandError =>
  new CommandError(`No organization has the ID ${accountId}; the dashboard shows it under Settings.`);

async function requireBinding(database: Database, place: string): Promise<void> {
  const bindings = await listBindings(database.kind);
  if (!bindings.includes(place))
    throw new UsageError(`${place} is no database of the service: it has ${bindings.join(", ")}.`);
}

/** The operator's entry in an organization's audit log, `ifChanged` only if the statement before has changed something. */
const insertAuditEntry = (
  accountId: string,
  operation: string,
  resource: AuditResource,
  changes: object,
  { inDirectory = false, ifChanged = false } = {},
): Statement => {
  const isWanted = ifChanged ? sql`changes() > 0` : sql`TRUE`;
  return statement`INSERT INTO audit_entries (id, account_id, at, actor_type, operation, resource, changes, in_directory,
        changes_before)
      SELECT ${crypto.randomUUID()}, id, ${Date.now()}, 'operator', ${operation}, ${resource},
        ${JSON.stringify(changes)}, ${Number(inDirectory)}, 0
      FROM accounts WHERE id = ${accountId} AND ${isWanted}`;
};

const insertOrganization = (accountId: string, name: string, now: number, place: string): Statement =>
  statement`INSERT INTO accounts (id, name, created_at, database) VALUES (${accountId}, ${name}, ${now}, ${place})`;

/** The credentials of a new organization, and the statements that create it in the directory. */
export async function planOrganization(name: string, place = "DB") {
  const accountId = crypto.randomUUID();
  const { credentials, statements } = await planKey(accountId, "First key");
  const creation = insertOrganization(accountId, name, Date.now(), place);
  return { credentials, statements: [creation, ...statements] };
}

/** The credentials of a new API key of an organization, and the statements that create it in the directory. */
export async function planKey(accountId: string, name: string) {
  const apiKey = createApiKey();
  const { hash, prefix, lastFour } = await fingerprintOf(apiKey);
  const statements = [
    statement`INSERT INTO api_keys (id, account_id, name, hash, prefix, last_four, created_at)
        VALUES (${crypto.randomUUID()}, ${accountId}, ${name}, ${hash}, ${prefix}, ${lastFour}, ${Date.now()})`,
  ];
  return { credentials: { accountId, apiKey }, statements };
}

/** The organizations among these that exist. */
export async function existingOf(
  database: Database,
  accountIds: readonly string[],
  stop: AbortSignal,
): Promise<ReadonlySet<string>> {
  const query = statement`SELECT id FROM accounts WHERE deleted_at IS NULL AND id IN ${listed(accountIds)}`;
  const [rows = []] = await executeOnTables(database, [query], stop);
  return new Set(rows.map(({ id }) => String(id)));
}

/** Creates an organization in the database with this binding: there first, so that the directory names what exists. */
export async function createOrganization(
  database: Database,
  name: string,
  place: string,
  stop: AbortSignal,
): Promise<Credentials> {
  await requireBinding(database, place);
  const { credentials, statements } = await planOrganization(name, place);
  if (place !== "DB") {
    const row = insertOrganization(credentials.accountId, name, Date.now(), place);
    await executeOnTables({ ...database, binding: place }, [row], stop);
  }
  await executeOnTables(database, statements, stop);
  return credentials;
}

/** The database that an organization is placed in: the directory itself for one that it does not know. */
export async function placeOf(database: Database, accountId: string, stop: AbortSignal): Promise<Database> {
  if ((await listBindings(database.kind)).length === 1) return database;
  const [[row]] = await databasePort(database, stop).run([selectPlacement(accountId)]);
  return { ...database, binding: row?.database ?? "DB" };
}

/**
 * Begins a move to the database with this binding, or cancels an incomplete one from there; the cron trigger makes it.
 * `phase` is null unless the organization is on its way. Does nothing to a move in the same direction.
 */
export async function moveOrganization(database: Database, accountId: string, to: string, stop: AbortSignal) {
  await requireBinding(database, to);
  const now = Date.now();
  const entryOf = (operation: string) =>
    insertAuditEntry(accountId, operation, "organization", { to }, { inDirectory: true, ifChanged: true });
  const results = await executeOnTables(
    database,
    [
      statement`UPDATE moves SET phase = 'cancelled', step = 0, cursor = NULL, fencing_token = max(fencing_token + 1, ${now})
          WHERE account_id = ${accountId} AND source = ${to} AND phase IN ('copying', 'comparing')`,
      entryOf("cancelMove"),
      statement`INSERT INTO moves (account_id, source, target, phase, step, fencing_token, started_at)
          SELECT id, database, ${to}, 'copying', 0, 0, ${now} FROM accounts
          WHERE id = ${accountId} AND deleted_at IS NULL AND database <> ${to}
            AND NOT EXISTS (SELECT 1 FROM restores WHERE account_id = ${accountId})
          ON CONFLICT (account_id) DO NOTHING`,
      entryOf("moveOrganization"),
      statement`SELECT accounts.database, moves.phase FROM accounts LEFT JOIN moves ON moves.account_id = accounts.id
          WHERE accounts.id = ${accountId} AND accounts.deleted_at IS NULL`,
    ],
    stop,
  );
  const [row] = results.at(-1) ?? [];
  if (row === undefined) throw notFound(accountId);
  return { database: String(row.database), phase: row.phase == null ? null : String(row.phase) };
}

/** The limits to set; null for the deployment's default. */
type LimitChanges = ReadonlyMap<QuotaName, number | null>;

export interface ShownQuota {
  readonly quota: string;
  readonly used: number;
  readonly limit: number | null;
}

const CHANGE = /^([a-z_]+)=(default|0|[1-9]\d{0,14})$/;

/** Parses `name=value`, where the value is a whole number or `default`. */
export const parseLimits = (args: readonly string[]): LimitChanges =>
  new Map(
    args.map((arg) => {
      const [, name, value] = CHANGE.exec(arg) ?? [];
      const quota = QUOTAS.find((candidate) => candidate === name);
      if (quota === undefined || value === undefined)
        throw new UsageError(
          `${arg}: write NAME=VALUE, with one of ${QUOTAS.join(", ")} and a whole number or "default".`,
        );
      return [quota, value === "default" ? null : Number(value)] as const;
    }),
  );

/** Sets the limits, and returns all quotas of the organization, some of which may be in the directory. */
export async function setLimits(
  database: Database,
  accountId: string,
  changes: LimitChanges,
  stop: AbortSignal,
): Promise<readonly ShownQuota[]> {
  const place = await placeOf(database, accountId, stop);
  const set = (where: Database, isHere: (quota: string) => boolean, inDirectory: boolean) =>
    setLimitsIn(
      where,
      accountId,
      new Map([...changes].filter(([quota]) => isHere(quota))),
      inDirectory,
      stop,
    ).then((rows) => rows.filter(({ quota }) => isHere(String(quota))));
  const rows = isDirectory(place)
    ? await set(place, () => true, false)
    : [
        ...(await set(place, (quota) => !isInDirectory(quota), false)),
        ...(await set(database, isInDirectory, true)),
      ];
  if (rows.length === 0) throw notFound(accountId);
  return QUOTAS.flatMap((quota) =>
    rows
      .filter((row) => row.quota === quota)
      .map(({ used, max }) => ({ quota, used: Number(used), limit: max === null ? null : Number(max) })),
  );
}

async function setLimitsIn(
  database: Database,
  accountId: string,
  changes: LimitChanges,
  inDirectory: boolean,
  stop: AbortSignal,
): Promise<Rows> {
  const statements = [...changes].map(
    ([quota, max]) =>
      statement`UPDATE quotas SET max = ${max} WHERE account_id = ${accountId} AND quota = ${quota}`,
  );
  if (changes.size > 0)
    statements.push(
      insertAuditEntry(accountId, "setLimits", "quotas", Object.fromEntries(changes), { inDirectory }),
    );
  statements.push(statement`SELECT quota, used, max FROM quotas WHERE account_id = ${accountId}`);
  return (await executeOnTables(database, statements, stop)).at(-1) ?? [];
}

const TOKENS_ENDED: RoomCommand = { type: "tokens.ended", userId: null };

/**
 * Begins a new token epoch of the organization. Returns the number of rooms with users online, which are notified and
 * close their sockets within about a minute.
 */
export async function endTokens(database: Database, accountId: string, stop: AbortSignal): Promise<number> {
  const db = databasePort(await placeOf(database, accountId, stop), stop);
  const now = Date.now();
  const [[online]] = await db.run([
    countUsed({ accountId, db }, "online_rooms"),
    endTokensOfAccount({ accountId, db }, now),
    insertForOnlineRooms({ accountId, command: JSON.stringify(TOKENS_ENDED), at: now }),
    insertAuditEntry(accountId, "endAllTokens", "tokens", {}),
  ]);
  if (online === undefined) throw notFound(accountId);
  return online.total;
}
