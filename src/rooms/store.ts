/** The statements about rooms that only their own commands and queries use. */
import { and, count, eq, lte, sql } from "drizzle-orm";
import {
  build,
  columnsOf,
  type Page,
  placeholdersOf,
  prepared,
  preparedByShape,
  type Statement,
  statement,
  type Tenant,
} from "../platform/d1.ts";
import { countOnce, isUnfiltered, newestFirst, pageValues } from "../platform/newest-first.ts";
import { countUsed } from "../quotas/shared-store.ts";
import type { RoomStats } from "../realtime/port/snapshots.ts";
import { type RoomRow, rooms } from "./table.ts";

const ofAccount = eq(rooms.accountId, sql.placeholder("accountId"));

/** A page of rooms: of all, or of those in one state, or with or without users online. */
export interface RoomPage extends Page {
  readonly state?: RoomRow["state"] | undefined;
  readonly isOnline?: boolean | undefined;
}

const CONDITIONS = {
  search: sql`instr(${rooms.nameFolded}, ${sql.placeholder("search")})`,
  state: sql`${rooms.state} = ${sql.placeholder("state")}`,
  online: sql`${rooms.activeParticipants} > 0`,
  offline: sql`${rooms.activeParticipants} = 0`,
};
type Condition = keyof typeof CONDITIONS;

/** The conditions of a page, joined by spaces. */
function filterOf({ search, state, isOnline }: RoomPage): string {
  const conditions: (Condition | false)[] = [
    search !== "" && "search",
    state !== undefined && "state",
    isOnline !== undefined && (isOnline ? "online" : "offline"),
  ];
  return conditions.filter((condition) => condition !== false).join(" ");
}

const created = newestFirst(rooms.createdAt, rooms.id);

const filtered = (filter: string) =>
  and(
    ofAccount,
    created.where,
    ...Object.entries(CONDITIONS).flatMap(([name, condition]) =>
      filter.split(" ").includes(name) ? [condition] : [],
    ),
  );

const roomPage = preparedByShape((filter: string) =>
  build
    .select(columnsOf(rooms))
    .from(rooms)
    .where(filtered(filter))
    .orderBy(...created.orderBy)
    .limit(sql.placeholder("limit"))
    .offset(sql.placeholder("offset")),
);

export const selectRooms = ({ accountId }: Tenant, page: RoomPage): Statement<RoomRow> =>
  roomPage(filterOf(page), { accountId, state: page.state, ...pageValues(page) });

const roomCount = preparedByShape((filter: string) =>
  build
    .select({ total: count().as("total") })
    .from(rooms)
    .where(filtered(filter)),
);

/** Counts the rooms on all pages of {@link selectRooms}: at any number of them at once, unless something is filtered. */
export const countRooms = (tenant: Tenant, page: RoomPage): Statement<{ total: number }> =>
  countOnce(page, () => {
    const filter = filterOf(page);
    if (filter === "" && isUnfiltered(page)) return countUsed(tenant, "rooms");
    return roomCount(filter, { accountId: tenant.accountId, state: page.state, ...pageValues(page) });
  });

const insertion = prepared(() => build.insert(rooms).values(placeholdersOf(rooms)));

export const insertRoom = (_: Tenant, row: RoomRow): Statement => insertion(row);

const whereIs = ({ accountId }: Tenant, roomId: string) =>
  and(eq(rooms.accountId, accountId), eq(rooms.id, roomId));

export const updateRoom = (
  tenant: Tenant,
  roomId: string,
  changes: Partial<Pick<RoomRow, "name" | "nameFolded" | "customId" | "state">>,
): Statement<RoomRow> =>
  statement(build.update(rooms).set(changes).where(whereIs(tenant, roomId)).returning(columnsOf(rooms)));

/** The stats of a room, and what its stores have together. */
export interface ProjectedStats extends RoomStats {
  readonly storeBytes: number;
}

/** Writes a copy of a room's live stats, unless the row holds a newer one. Returns the organization's token epoch. */
export const updateStats = (
  tenant: Tenant,
  roomId: string,
  stats: ProjectedStats,
  statsVersion: number,
): Statement<{ accountTokenEpoch: number }> =>
  statement(
    build
      .update(rooms)
      .set({ ...stats, statsVersion })
      .where(and(whereIs(tenant, roomId), lte(rooms.statsVersion, statsVersion)))
      .returning({
        accountTokenEpoch:
          sql<number>`(SELECT accounts.token_epoch FROM accounts WHERE accounts.id = rooms.account_id)`.as(
            "accountTokenEpoch",
          ),
      }),
  );
