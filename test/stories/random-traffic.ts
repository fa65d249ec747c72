/** Random requests and joins in one room until the service is killed, and a check of the events that they caused. */

import type { UserWithToken } from "../../src/features/users/schema.ts";
import type { Event } from "../../src/wire/events.ts";
import { EventHistory } from "../room/simulation/event-history.ts";
import { type Random, randomOf } from "../support/random.ts";
import type { Customer, Tab } from "./client.ts";

/** Actors send one request at a time, side by side. */
const ACTORS = 3;
/** The kill follows one of the first requests, by up to this delay. */
const MAX_REQUESTS = 40;
const MAX_LATE_MS = 12;

interface Actor {
  readonly users: { user: UserWithToken; tab: Tab | null }[];
}

export class RandomTraffic {
  /** The number of successful requests. */
  acknowledged = 0;
  readonly #customer: Customer;
  readonly #roomId: string;
  /** A whole number from 0 below `end`. */
  readonly #draw: Random;
  #names = 0;
  #isDead = false;
  /** Called before each request. */
  #beforeRequest: () => void = () => undefined;
  readonly #actors: readonly Actor[] = Array.from({ length: ACTORS }, () => ({ users: [] }));

  constructor(customer: Customer, roomId: string, seed: number) {
    this.#customer = customer;
    this.#roomId = roomId;
    this.#draw = randomOf(seed);
  }

  /** Sends requests, calls `kill` at a moment that the seed determines, and waits until it has settled. */
  async until(kill: () => Promise<void>): Promise<void> {
    this.#isDead = false;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let left = 1 + this.#draw(MAX_REQUESTS);
    const lateMs = this.#draw(MAX_LATE_MS);
    this.#beforeRequest = () => {
      left -= 1;
      if (left !== 0) return;
      setTimeout(() => {
        this.#isDead = true;
        kill().then(resolve, reject);
      }, lateMs);
    };
    await Promise.all([promise, ...this.#actors.map((actor) => this.#act(actor))]);
    for (const { users } of this.#actors) for (const each of users) each.tab = null;
  }

  async #act(actor: Actor): Promise<void> {
    while (!this.#isDead) {
      this.#beforeRequest();
      const step = this.#step(actor);
      // The service may be killed before it answers: then the request may or may not have taken effect.
      await step.catch((error: unknown) => {
        if (!this.#isDead) throw error;
      });
    }
  }

  async #step(actor: Actor): Promise<void> {
    const index = this.#draw(actor.users.length + 1);
    const chosen = actor.users[index];
    if (chosen === undefined) {
      const user = await this.#customer.createUser(this.#roomId, this.#newName());
      this.acknowledged += 1;
      actor.users.push({ user, tab: null });
      return;
    }
    const path = `/users/${chosen.user.id}?roomId=${this.#roomId}`;
    const choice = this.#draw(8);
    if (choice === 0) {
      actor.users.splice(index, 1);
      await this.#customer.send("DELETE", path);
    } else if (choice <= 2) await this.#customer.send("PATCH", path, { name: this.#newName() });
    else if (chosen.tab === null) chosen.tab = await this.#customer.join(chosen.user);
    else {
      chosen.tab.send("LEAVE_ROOM");
      await chosen.tab.closed;
      chosen.tab = null;
    }
    this.acknowledged += 1;
  }

  #newName(): string {
    this.#names += 1;
    return `Name ${this.#names}`;
  }

  /** How `events` differ from the state that the service reports; null when they match it. */
  async findGap(events: readonly Event[]): Promise<string | null> {
    const { data } = await this.#customer.send<{ users: UserWithToken[]; total: number }>(
      "GET",
      `/users?roomId=${this.#roomId}&limit=100`,
    );
    if (data.total > data.users.length) throw new Error("There are too many users to compare");
    const gap = findUserGap(events, data.users);
    if (gap !== null) return gap;
    const history = new EventHistory();
    for (const event of events) if (isOfLiveRoom(event)) history.add(JSON.stringify(event));
    if (history.online.size > 0 || history.hasSession) return "a participant has not left";
    for (const user of data.users) {
      const { sessions } = await this.#customer.getUser(user);
      const ids = sessions.map(({ id }) => id).sort();
      for (const name of ["participant.joined", "participant.left"] as const) {
        const reported = events.flatMap(({ event, data: content }) =>
          event === name && "sessionId" in content && "userId" in content && content.userId === user.id
            ? [content.sessionId]
            : [],
        );
        if (reported.sort().join() !== ids.join())
          return `${name} of ${user.name}: ${reported} instead of ${ids}`;
      }
    }
    return null;
  }
}

/** Events of users, files and the room itself are recorded where REST writes them. */
const isOfLiveRoom = ({ event }: Event): boolean => /^(participant|session)\./.test(event);

/** The existing users must be those that were created and not deleted, under a name that an event reported. */
function findUserGap(events: readonly Event[], users: readonly UserWithToken[]): string | null {
  const names = new Map<string, Set<string>>();
  const deleted = new Set<string>();
  for (const event of events) {
    if (event.event === "user.created") names.set(event.user.id, new Set([event.user.name]));
    if (event.event === "user.updated") names.get(event.user.id)?.add(event.user.name);
    if (event.event === "user.deleted") deleted.add(event.user.id);
  }
  const reported = [...names.keys()].filter((id) => !deleted.has(id)).sort();
  const real = users.map(({ id }) => id).sort();
  if (reported.join() !== real.join()) return `users: ${reported} instead of ${real}`;
  const unnamed = users.find(({ id, name }) => !names.get(id)?.has(name));
  return unnamed === undefined ? null : `no event reported the name ${unnamed.name}`;
}
