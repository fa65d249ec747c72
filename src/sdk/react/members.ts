/** The users who are online, with their presence. */
import type { PresenceOf, PresenceState, Registered, User } from "../client/index.ts";
import { type AnyClient, registered } from "./any-client.ts";
import { shallowEqual } from "./equality.ts";
import { ExternalSource, type Source, together } from "./external-source.ts";

type RegisteredPresence = Registered extends { readonly presence: infer Shown extends object }
  ? PresenceOf<Shown>
  : PresenceState;

/** A user who is online: the same object until the user or the presence changes. */
export interface Member {
  readonly user: User;
  /** The user's presence, with a `color` from the service; null if there is none. Validate it: users set it freely. */
  readonly presence: RegisteredPresence | null;
}

export interface Members {
  /** Yourself as the others see you; null until the room was joined. */
  readonly self: Member | null;
  /** All others, in the order in which they joined. */
  readonly others: readonly Member[];
}

export function memberSource(client: AnyClient): Source<Members> {
  const known = new WeakMap<User, Member>();
  const memberOf = (user: User): Member => {
    const presence = registered(client).presence.getStates().get(user.id) ?? null;
    const before = known.get(user);
    if (before?.presence === presence) return before;
    const member = { user, presence };
    known.set(user, member);
    return member;
  };
  let latest: Members = { self: null, others: [] };
  const compute = (): Members => {
    const user = client.currentUser;
    const others = [...client.users.online.values()].filter(({ id }) => id !== client.userId).map(memberOf);
    latest = {
      // A user who was deleted is not in the room any more.
      self: user === null ? latest.self : memberOf(user),
      others: shallowEqual(others, latest.others) ? latest.others : others,
    };
    return latest;
  };
  return new ExternalSource(
    (changed) => together(client.users.on("updated", changed), client.presence.sync("*", changed)),
    compute,
    latest,
  );
}
