/** Finds the people whom comments and threads concern: identities, and their right to read the room. */

import { notFound } from "@atrium/contract/errors.ts";
import type { Mention, MentionRecipients, Reader } from "@atrium/contract/resources/thread.ts";
import type { Tenant } from "../../platform/d1/d1.ts";
import { MAX_AGENTS, selectAgents, selectGroups, selectReaders } from "../access/statements.ts";
import { selectRoom } from "../rooms/statements.ts";
import { rightsOfUser, selectAuthor, selectBearers } from "../users/statements.ts";

/** A user of a room as its threads know it: by its identity, or by itself without one. */
export const readerOf = ({
  id,
  identityId,
}: {
  readonly id: string;
  readonly identityId: string | null;
}) => ({
  subject: identityId ?? id,
  userId: id,
});

/**
 * Sorts mentions into those who are notified and those who do not exist or may not read the room. A guest mentions users
 * of the room, and no one else. `authorId` is null for the organization. One round trip.
 */
export async function findRecipients(
  tenant: Tenant,
  roomId: string,
  mentions: readonly (string | Mention)[],
  authorId: string | null,
): Promise<MentionRecipients> {
  const ofKind = (kind: "user" | "group") =>
    mentions.flatMap((mention) => (typeof mention === "object" && mention.kind === kind ? [mention.id] : []));
  const [userIds, identityIds, groupIds] = [
    mentions.filter((mention) => typeof mention === "string"),
    ofKind("user"),
    ofKind("group"),
  ];
  const [users, identities, foundGroups, foundAgents, [author]] = await tenant.db.run([
    selectBearers(tenant, roomId, "id", userIds),
    selectReaders(tenant, roomId, identityIds),
    selectGroups(tenant, groupIds),
    selectAgents(tenant, roomId, { userIds, identityIds, groupIds }),
    selectAuthor(tenant, roomId, authorId ?? ""),
  ]);
  const { identityId = null, kind = null } = author ?? {};
  const mayBeGuest = author === undefined || (identityId !== null && (kind ?? "guest") === "guest");
  const byGuest = authorId !== null && mayBeGuest;
  const groups = byGuest ? [] : foundGroups;
  const found = [
    ...users.map((user) => {
      return { mention: user.id, reader: readerOf(user), mayRead: rightsOfUser(user) !== 0 };
    }),
    ...identities.map(({ id, userId, mayRead }) => {
      const mayHear = mayRead === 1 && (userId !== null || !byGuest);
      return { mention: id, reader: { subject: id, userId }, mayRead: mayHear };
    }),
  ];
  const reached = found.filter(({ mayRead }) => mayRead);
  const notified = new Set([...reached.map(({ mention }) => mention), ...groups.map(({ id }) => id)]);
  const agents = foundAgents.filter(({ mention, isOfGroup }) =>
    isOfGroup === 1 ? !byGuest : notified.has(mention),
  );
  const asleep = agents.filter(({ isOpen }) => isOpen === 0); // no agent reads a closed room
  // Agents that were not read are not woken: the groups may have some.
  const areCut = foundAgents.length === MAX_AGENTS && !byGuest;
  const named = [
    ...[...userIds, ...identityIds, ...groupIds].filter((id) => !notified.has(id)),
    ...new Set(asleep.map(({ mention }) => mention)),
  ];
  return {
    agents: asleep.length > 0 ? [] : agents.map(({ id, mention }) => ({ identityId: id, mention })),
    // A user whose identity was deleted may have been an agent's, and is bounded as one.
    ...(author && { author: { identityId, kind: kind ?? (identityId === null ? "person" : "agent") } }),
    readers: reached.map(({ reader }) => reader),
    others: found.filter(({ mayRead }) => !mayRead).map(({ reader }) => reader),
    groups: groups.map(({ id }) => id),
    groupSizes: Object.fromEntries(groups.map(({ id, size }) => [id, size])),
    byGuest,
    unnotified: areCut ? [...named, ...groups.map(({ id }) => id)] : named,
  };
}

/** A reader of a room's threads, by the ID of a user of the room or of an identity. NOT_FOUND without it, or the room. */
export async function getReader(tenant: Tenant, roomId: string, id: string): Promise<Reader> {
  const [[room], [user], [identity]] = await tenant.db.run([
    selectRoom(tenant, { id: roomId }),
    selectBearers(tenant, roomId, "id", [id]),
    selectReaders(tenant, roomId, [id]),
  ]);
  if (room === undefined) throw notFound("Rooms", "Room");
  if (user !== undefined) return readerOf(user);
  if (identity === undefined) throw notFound("Users", "User");
  return { subject: identity.id, userId: identity.userId };
}
