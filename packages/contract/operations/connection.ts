/** Messages about the connection itself. */
import * as z from "zod";
import { LIMITS } from "../limits.ts";
import { Role } from "../resources/user.ts";
import { FREE, message } from "./operation.ts";
import { Nothing, Seq } from "./values.ts";

export const OnlineLimit = z.int().min(1).max(LIMITS.onlinePage);

/** `data` of `JOIN_ROOM`. A token that is missing or not a string counts as empty, and is refused as invalid. */
const JoinRoom = z.object({
  token: z.string().catch(""),
  role: Role.default("editor"),
  since: Seq.optional(),
  epoch: z.string().max(LIMITS.idLength).optional(),
  batch: z.boolean().default(false),
  usersLimit: OnlineLimit.optional(),
});
export type JoinRoom = z.infer<typeof JoinRoom>;

export const CONNECTION_MESSAGES = {
  JOIN_ROOM: message({ input: () => JoinRoom, cost: { ...FREE, reads: 1 } }),
  LEAVE_ROOM: message({ input: () => Nothing, cost: { ...FREE, excess: "follows" } }),
  TOKEN_REFRESH: message({
    input: () => z.object({ token: z.string() }),
    cost: { ...FREE, reads: 1 },
  }),
  MARK: message({ input: () => z.object({ mark: z.int().min(0) }), cost: FREE }),
} as const;
