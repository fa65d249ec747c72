/** A socket that has joined, as the pure parts of a room see it. */

import { ALL_RIGHTS } from "@atrium/contract/resources/permissions.ts";
import type { Joined } from "../../../src/room/transport/connection.ts";

/** An editor's socket that was never seen, with a token that has expired, unless `fields` say otherwise. */
export const joinedSocket = (fields: Partial<Joined> = {}): Joined => ({
  phase: "joined",
  id: "socket",
  userId: "ada",
  rights: ALL_RIGHTS,
  ceiling: ALL_RIGHTS,
  tokenExpiresAt: 0,
  lastSeenAt: 0,
  savedLastSeenAt: 0,
  batch: true,
  subscriptions: [],
  presence: null,
  ...fields,
});
