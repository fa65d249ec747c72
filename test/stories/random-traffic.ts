/** People who come and go in a room, and change, until the service dies; and what must have been told of it afterwards. */
import type { Event } from "../../src/delivery/events.ts";
import type { UserWithToken } from "../../src/users/schema.ts";
import { Chronicle } from "../realtime/simulation/event-history.ts";
import type { Customer, Tab } from "./client.ts";

/** Requests that are under way at once. */
const ACTORS = 3;
/** The service dies while one of so many requests is under way, and so much later. */
const MAX_REQUESTS = 40;
const MAX_LATE_MS = 12;

interface Actor {
  readonly users: { user: UserWithToken; tab: Tab | null }[];
}

export class RandomTraffic {
  /** Requests that were answered with a success. */
  acknowledged = 0;
  readonly #customer: Customer;
  readonly #roomId: string;
  #random: number;
  #names = 0;
  #isDead = false;
  /** Called before each request. */
  #beforeRequest: () => void = () => undefined;
  readonly #actors: readonly Actor[] = Array.from({ length: ACTORS }, () => ({ users: [] }));

  constructor(customer: Customer, roomId: string, seed: number) {
    this.#customer = customer;
    this.#roomId = roomId;
    this.#random = seed >>> 0;
  }

  /** A whole number from 0 below `end`, as the seed has it. */
  #draw(end: number): number {
    this.#random = (Math.imul(this.#random, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#random / 2 ** 32) * end);
  }

  /** Goes on until `kill`, which is called at a moment that the seed chooses, has settled. */
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
      // The service may die before it answers: whether the request was done then, nobody knows.
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

  /** What `events` lack or have too much, by what the service says has become so; null when they tell just that. */
  async findGap(events: readonly Event[]): Promise<string | null> {
    const { data } = await this.#customer.send<{ users: UserWithToken[]; total: number }>(
      "GET",
      `/users?roomId=${this.#roomId}&limit=100`,
    );
    if (data.total > data.users.length) throw new Error("There are too many users to compare");
    const gap = findUserGap(events, data.users);
    if (gap !== null) return gap;
    const chronicle = new Chronicle();
    for (const event of events) if (!isOfUser(event)) chronicle.tell(JSON.stringify(event));
    if (chronicle.inside.size > 0 || chronicle.hasSession) return "somebody has not left";
    for (const user of data.users) {
      const { sessions } = await this.#customer.getUser(user);
      const ids = sessions.map(({ id }) => id).sort();
      for (const name of ["participant.joined", "participant.left"] as const) {
        const told = events.flatMap(({ event, data: said }) =>
          event === name && "sessionId" in said && "userId" in said && said.userId === user.id
            ? [said.sessionId]
            : [],
        );
        if (told.sort().join() !== ids.join()) return `${name} of ${user.name}: ${told} instead of ${ids}`;
      }
    }
    return null;
  }
}

const isOfUser = ({ event }: Event): boolean => event.startsWith("user.");

/** The users that there are must be those who were created and not deleted, by the names that they were last told by. */
function findUserGap(events: readonly Event[], users: readonly UserWithToken[]): string | null {
  const names = new Map<string, Set<string>>();
  const deleted = new Set<string>();
  for (const event of events) {
    if (event.event === "user.created") names.set(event.user.id, new Set([event.user.name]));
    if (event.event === "user.updated") names.get(event.user.id)?.add(event.user.name);
    if (event.event === "user.deleted") deleted.add(event.user.id);
  }
  const told = [...names.keys()].filter((id) => !deleted.has(id)).sort();
  const real = users.map(({ id }) => id).sort();
  if (told.join() !== real.join()) return `users: told of ${told} instead of ${real}`;
  const unnamed = users.find(({ id, name }) => !names.get(id)?.has(name));
  return unnamed === undefined ? null : `nobody was told of the name ${unnamed.name}`;
}
