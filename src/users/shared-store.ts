/** The statements about users that other features include in their batches. */
import { and, eq, sql } from "drizzle-orm";
import { build, columnsOf, preparedByShape, type Statement, type Tenant } from "../platform/d1.ts";
import { type UserRow, users } from "./table.ts";

/** Identifies a user of a room, by its ID or by its custom ID. */
export type UserKey = { readonly id: string } | { readonly customId: string };

const inRoom = and(
  eq(users.accountId, sql.placeholder("accountId")),
  eq(users.roomId, sql.placeholder("roomId")),
);

const userByKey = preparedByShape((shape: "id" | "customId") =>
  build
    .select(columnsOf(users))
    .from(users)
    .where(
      and(
        inRoom,
        shape === "id"
          ? eq(users.id, sql.placeholder("id"))
          : eq(users.customId, sql.placeholder("customId")),
      ),
    )
    .limit(1),
);

export const selectUser = ({ accountId }: Tenant, roomId: string, key: UserKey): Statement<UserRow> =>
  userByKey("id" in key ? "id" : "customId", { accountId, roomId, ...key });
