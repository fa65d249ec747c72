/** Moves organizations from one database to another, in chunks, by the cron trigger (docs/decisions/0027). */
import type { Database } from "../../platform/d1/d1.ts";
import { WorkBudget } from "../../platform/flow/work-budget.ts";
import { lowerFence, raiseFence } from "./fence-store.ts";
import { ADVANCES, type MovePorts } from "./move-phases.ts";
import {
  deleteMove,
  type MoveRow,
  selectMoves,
  takeTurn,
  updateMove,
  updatePlacement,
} from "./move-store.ts";

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
  const [[taken]] = await ports.directory.run([takeTurn(accountId, ports.now())]);
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
