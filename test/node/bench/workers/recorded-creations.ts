/** Records the batches of Atrium's creations once: a floor runs the same batch with values of its own. */

import { createRoom } from "../../../../src/features/rooms/commands.ts";
import type { RoomContext } from "../../../../src/features/rooms/context.ts";
import { createUser } from "../../../../src/features/users/commands.ts";
import type { UserContext } from "../../../../src/features/users/context.ts";
import type { Statement } from "../../../../src/platform/d1/d1.ts";

export type Batch = readonly Statement[];
type CreationContext = RoomContext & UserContext;

/** Placeholders for the IDs that a command makes, and for the time (epoch ms), from which it may derive others. */
const NEW_ID = "new-id-";
const NOW = Date.UTC(2100, 0);
const DERIVED_MS = 60_000;

/** Ends a command when it commits. */
class Committed extends Error {
  readonly batch: Batch;

  constructor(batch: Batch) {
    super("The batch is recorded");
    this.batch = batch;
  }
}

/** The batch that a command commits, in the place of its context, which is not used for anything else. */
async function record(accountId: string, create: (ctx: CreationContext) => Promise<unknown>): Promise<Batch> {
  let ids = 0;
  const ctx: object = {
    accountId,
    quotaDefaults: { rooms: Number.MAX_SAFE_INTEGER, users: Number.MAX_SAFE_INTEGER },
    trace: { requestId: crypto.randomUUID() },
    now: () => NOW,
    newId: () => {
      ids += 1;
      return `${NEW_ID}${ids}`;
    },
    commit: (batch: Batch) => Promise.reject(new Committed(batch)),
  };
  try {
    await create(ctx as CreationContext);
  } catch (error) {
    if (error instanceof Committed) return error.batch;
    throw error;
  }
  throw new Error("The command committed nothing");
}

export const recordRoom = (accountId: string, name: string): Promise<Batch> =>
  record(accountId, (ctx) => createRoom(ctx, { name }));

export const recordUser = (accountId: string, roomId: string, name: string): Promise<Batch> =>
  record(accountId, (ctx) => createUser(ctx, { name, roomId, role: "editor" }));

/** The batch with new IDs, and the present time. */
export function renew(batch: Batch): Batch {
  const ids = new Map<string, string>();
  const now = Date.now();
  const renewed = (value: unknown): unknown => {
    if (typeof value === "number") return Math.abs(value - NOW) < DERIVED_MS ? value - NOW + now : value;
    if (typeof value !== "string" || !value.startsWith(NEW_ID)) return value;
    const id = ids.get(value) ?? crypto.randomUUID();
    ids.set(value, id);
    return id;
  };
  return batch.map(({ sql, params }) => ({ sql, params: params.map(renewed) }));
}
