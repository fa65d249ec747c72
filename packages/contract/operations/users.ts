/** Operations on the room itself and its users, and whom they follow. */
import * as z from "zod";
import { LIMITS } from "../limits.ts";
import { Room } from "../resources/room.ts";
import { User } from "../resources/user.ts";
import { text } from "../text.ts";
import { expensiveRead, operation, WRITE } from "./operation.ts";
import { Id, Nothing } from "./values.ts";

const UserPage = z
  .object({
    limit: z.int().min(1).max(LIMITS.usersShown).default(LIMITS.usersShown),
    offset: z.int().min(0).default(0),
    after: z.object({ created_at: z.iso.datetime(), id: Id }).optional(),
    userIds: z.array(Id).max(LIMITS.usersNamed).optional(),
    search: text(0, LIMITS.searchLength).default(""),
  })
  .refine(({ search, offset, after, userIds }) => search === "" || (offset === 0 && !after && !userIds), {
    path: ["search"],
    message: "cannot be combined with offset, after or userIds",
  });
export type UserPage = z.infer<typeof UserPage>;

const usersOf = ({ limit, userIds, search }: UserPage): number =>
  search === "" ? (userIds?.length ?? limit) : Math.min(limit, LIMITS.usersFound);

const follow = { input: () => z.object({ userId: Id }), output: () => Nothing, right: "own:write" } as const;

export const USER_OPERATIONS = {
  ROOM_GET: operation({
    done: "Room retrieved",
    input: () => Nothing,
    output: () => z.object({ room: Room }),
    right: "read",
    cost: expensiveRead(1, 1),
  }),
  USERS_GET: operation({
    done: "Users retrieved",
    input: () => UserPage,
    output: () =>
      z.object({
        users: z.array(User).readonly(),
        total: z.int(),
        follows: z.record(z.string(), z.array(z.string())),
        seq: z.int(),
      }),
    right: "read",
    cost: expensiveRead<UserPage>((page) => usersOf(page) / 10, 1),
  }),
  USER_FOLLOW: operation({
    ...follow,
    done: "User followed",
    cost: { ...WRITE, reads: 1 },
    isLasting: true,
  }),
  USER_UNFOLLOW: operation({
    ...follow,
    done: "User unfollowed",
    cost: { ...WRITE, reads: 1 },
    isLasting: true,
  }),
} as const;
