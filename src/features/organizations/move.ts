/** Moves organizations from one database to another, in chunks, by the cron trigger (docs/decisions/0027). */
import type { Database } from "../../platform/d1/d1.ts";
import { DIRECTORY, PLACEMENT_MEMORY_MS } from "../../platform/d1/databases.ts";
import { behindFence, lowerFence, raiseFence } from "../../platform/d1/fence-store.ts";
import { WorkBudget } from "../../platform/flow/work-budget.ts";
import {
  deleteAnchor,
  deleteMove,
  deleteQuotas,
  deleteRows,
  type MoveRow,
  selectAnchor,
  selectMoves,
  takeFencingToken,
  updateMove,
  updatePlacement,
  upsertAnchor,
} from "./move-store.ts";
import { type RowPosition, type RowSlice, readSlice } from "./row-stream.ts";
import { type Row, upsertRows } from "./statements.ts";
import { beyondDirectory, ORGANIZATION_TABLES, type OrganizationTable, organizationTable } from "./tables.ts";

/** The directory keeps the actions of members and keys, and their counts. */
const IN_BOTH = ["audit_entries", "receipts"];
const MOVED = ORGANIZATION_TABLES.map((table) =>
  IN_BOTH.includes(table.name) ? beyondDirectory(table) : table,
);
const QUOTAS = beyondDirectory(organizationTable("quotas", ["account_id", "quota"], { atOnce: 100 }));
/** Rooms twice: triggers count their users and files while these are copied. Quotas last, when nothing counts any more. */
const COPIED = [...MOVED, ...MOVED.filter(({ name }) => name === "rooms"), QUOTAS];
const ROOMS = COPIED.findIndex(({ name }) => name === "rooms");
const COMPARED = [...MOVED, QUOTAS];
const REMOVED = MOVED.toReversed();

/** Limits of one run of the cron trigger: the next one follows within a minute. */
const CHUNKS_PER_RUN = 2_000;
const MOVES_PER_RUN = 4;

/** Continues the moves that are not complete. Never rejects because of one of them: a later run continues it. */
export async function continueMoves(
  ports: MovePorts,
  budget: WorkBudget = new WorkBudget(CHUNKS_PER_RUN),
): Promise<void> {
  const [pending] = await ports.directory.run([selectMoves(MOVES_PER_RUN)]);
  await Promise.all(
    pending.map(({ accountId }) =>
      continueMove(ports, accountId, budget).catch((error: unknown) =>
        ports.log("An organization could not be moved on yet", error),
      ),
    ),
  );
}

async function continueMove(ports: MovePorts, accountId: string, budget: WorkBudget): Promise<void> {
  const [[taken]] = await ports.directory.run([takeFencingToken(accountId, ports.now())]);
  if (taken === undefined) return;
  const [source, target] = [openOf(ports, taken.source), openOf(ports, taken.target)];
  // The organization is in the target by then, or still there after a cancelled move.
  const isPlaced = taken.phase === "removing";
  await source.run([raiseFence(taken)]);
  await target.run([isPlaced ? lowerFence(taken) : raiseFence(taken)]);
  let move: MoveRow | null = taken;
  await budget.run(async () => {
    move = move && (await advance(ports, move));
    return move !== null;
  });
}

function openOf({ databases }: MovePorts, name: string): Database {
  const database = databases.get(name);
  if (database === undefined) throw new Error(`The database ${name} is not bound; bind it again`);
  return database;
}

/** Does one chunk, and returns where the move is then; null when it is complete, or another run has taken it over. */
async function advance(ports: MovePorts, move: MoveRow): Promise<MoveRow | null> {
  const databases = { source: openOf(ports, move.source), target: openOf(ports, move.target) };
  const next = await ADVANCES[move.phase](ports, move, databases);
  if (next === null) {
    await ports.directory.run([deleteMove(move)]);
    return null;
  }
  const isFlip = next.phase === "settling" && move.phase !== "settling";
  const [...results] = await ports.directory.run(
    isFlip ? [updatePlacement(next), updateMove(next)] : [updateMove(next)],
  );
  return results.at(-1)?.length === 1 ? next : null;
}

const DELETED_AT_ONCE = 500;
/**
 * Time after the flip until every isolate has forgotten the old placement: its memory, and as long again for
 * slow requests.
 */
const SETTLE_MS = 2 * PLACEMENT_MEMORY_MS;

export interface MovePorts {
  readonly directory: Database;
  readonly databases: ReadonlyMap<string, Database>;
  /** Epoch milliseconds. */
  now(): number;
  wait(ms: number): Promise<void>;
  log(message: string, error: unknown): void;
}

const ADVANCES = {
  copying: copy,
  comparing: compare,
  settling: settle,
  removing: remove,
  cancelled: cancel,
};

interface Databases {
  readonly source: Database;
  readonly target: Database;
}

const begin = (move: MoveRow, phase: MoveRow["phase"]): MoveRow => ({
  ...move,
  phase,
  step: 0,
  cursor: null,
});

/** The position behind a slice: in the same table, or at the next one. */
const behind = (move: MoveRow, { after }: RowSlice): MoveRow =>
  after === null
    ? { ...move, step: move.step + 1, cursor: null }
    : { ...move, cursor: JSON.stringify(after) };

function sliceOf(db: Database, table: OrganizationTable, { accountId, cursor }: MoveRow): Promise<RowSlice> {
  const after = cursor === null ? null : (JSON.parse(cursor) as RowPosition);
  return readSlice(db, table, accountId, after);
}

async function copy(_: MovePorts, move: MoveRow, { source, target }: Databases): Promise<MoveRow> {
  const table = COPIED[move.step];
  if (table === undefined) return begin(move, "comparing");
  if (move.step === 0 && move.cursor === null) {
    const [anchors] = await source.run([selectAnchor(move.accountId)]);
    await target.run(behindFence(move, anchors.map(upsertAnchor)));
  }
  const slice = await sliceOf(source, table, move);
  const { rows } = slice;
  const upsert = (written: readonly Row[]) => upsertRows(table.name, table.primaryKey, written);
  const counted =
    move.step === ROOMS ? rows.map((row) => ({ ...row, user_count: 0, file_count: 0, file_bytes: 0 })) : rows;
  // Nothing in the directory has counted these. A count that is 0 first and then grows triggers what follows
  // from it, such as an index.
  const uncounted = table === QUOTAS ? upsert(rows.map((row) => ({ ...row, used: 0 }))) : [];
  if (rows.length > 0) await target.run(behindFence(move, [...uncounted, ...upsert(counted)]));
  return behind(move, slice);
}

const textOf = (rows: readonly Row[]): string =>
  JSON.stringify(rows.map((row) => Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1))));

async function compare(ports: MovePorts, move: MoveRow, { source, target }: Databases): Promise<MoveRow> {
  const table = COMPARED[move.step];
  if (table === undefined) return { ...begin(move, "settling"), flippedAt: ports.now() };
  const [slice, copied] = await Promise.all([sliceOf(source, table, move), sliceOf(target, table, move)]);
  if (textOf(slice.rows) === textOf(copied.rows)) return behind(move, slice);
  ports.log(`The move of ${move.accountId} was cancelled: the copy of ${table.name} differs`, null);
  return begin(move, "cancelled");
}

/** Lowers the fence once no isolate reads the source. Until then, both databases hold the same data. */
async function settle(ports: MovePorts, move: MoveRow, { target }: Databases): Promise<MoveRow> {
  const leftMs = (move.flippedAt ?? 0) + SETTLE_MS - ports.now();
  if (leftMs > 0) await ports.wait(leftMs);
  await target.run([lowerFence(move)]);
  return begin(move, "removing");
}

/** Cancels the move: the organization stays in its database, and the copy is removed. */
async function cancel(_: MovePorts, move: MoveRow, { source }: Databases): Promise<MoveRow> {
  await source.run([lowerFence(move)]);
  return { ...begin(move, "removing"), source: move.target, target: move.source };
}

/** Keeps the fence around removed rows: a write that still arrives there looks the placement up again. */
async function remove(_: MovePorts, move: MoveRow, { source }: Databases): Promise<MoveRow | null> {
  const { accountId } = move;
  const table = REMOVED[move.step];
  if (table === undefined) {
    const last = move.source === DIRECTORY ? deleteQuotas(accountId) : deleteAnchor(accountId);
    await source.run(behindFence(move, [last]));
    return null;
  }
  const results = await source.run(behindFence(move, [deleteRows(table, accountId, DELETED_AT_ONCE)]));
  const isFull = results.at(-2)?.length === DELETED_AT_ONCE;
  return isFull ? move : { ...move, step: move.step + 1 };
}
