/** A subscriber that checks each event against those before it. */

import type { Event } from "@atrium/contract/resources/events.ts";
import { expect } from "vitest";

export class EventHistory {
  readonly #ids = new Set<string>();
  /** The session of each user who is online. */
  readonly #online = new Map<string, string>();
  #sessionId: string | null = null;
  /** Participants of the occupancy period. */
  #participants: string[] = [];

  /** Adds the next event; one that was received before is ignored. */
  add(body: string): void {
    const event = JSON.parse(body) as Event;
    if (this.#ids.has(event.id)) return;
    this.#ids.add(event.id);
    switch (event.event) {
      case "session.started":
        expect(this.#sessionId).toBeNull();
        expect(event.room.active_participants).toBe(1);
        this.#sessionId = event.data.sessionId;
        break;
      case "participant.joined":
        expect(this.#sessionId).not.toBeNull();
        expect(this.#online.keys()).not.toContain(event.user.id);
        expect(event.user).toMatchObject({ id: event.data.userId, status: "online" });
        expect(event.room.active_participants).toBe(this.#online.size + 1);
        this.#online.set(event.user.id, event.data.sessionId);
        if (!this.#participants.includes(event.user.id)) this.#participants.push(event.user.id);
        break;
      case "participant.left":
        expect(event.user).toMatchObject({ id: event.data.userId, status: "offline" });
        expect(this.#online.get(event.user.id)).toBe(event.data.sessionId);
        this.#online.delete(event.user.id);
        expect(event.room.active_participants).toBeLessThanOrEqual(this.#online.size);
        break;
      case "session.closed":
        expect(event.data.sessionId).toBe(this.#sessionId);
        expect(this.#online.size).toBe(0);
        expect(event.users.map(({ id }) => id)).toEqual(this.#participants);
        expect(event.room.active_participants).toBe(0);
        this.#sessionId = null;
        this.#participants = [];
        break;
      default:
        expect.unreachable(`${event.event} is not an event of a live room`);
    }
  }

  /** The users who are online, according to the events. */
  get online(): ReadonlySet<string> {
    return new Set(this.#online.keys());
  }

  get hasSession(): boolean {
    return this.#sessionId !== null;
  }
}
