/** A listener that believes what events tell, and finds whatever does not follow from what was told before. */
import { expect } from "vitest";
import type { Event } from "../../../src/delivery/events.ts";

export class EventHistory {
  readonly #ids = new Set<string>();
  /** The session of each user who is in the room. */
  readonly #inside = new Map<string, string>();
  #sessionId: string | null = null;
  /** Who took part in the room's session. */
  #participants: string[] = [];

  /** Takes the next event; one that was told before says nothing new. */
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
        expect(this.#inside.keys()).not.toContain(event.user.id);
        expect(event.user).toMatchObject({ id: event.data.userId, status: "online" });
        expect(event.room.active_participants).toBe(this.#inside.size + 1);
        this.#inside.set(event.user.id, event.data.sessionId);
        if (!this.#participants.includes(event.user.id)) this.#participants.push(event.user.id);
        break;
      case "participant.left":
        expect(event.user).toMatchObject({ id: event.data.userId, status: "offline" });
        expect(this.#inside.get(event.user.id)).toBe(event.data.sessionId);
        this.#inside.delete(event.user.id);
        expect(event.room.active_participants).toBeLessThanOrEqual(this.#inside.size);
        break;
      case "session.closed":
        expect(event.data.sessionId).toBe(this.#sessionId);
        expect(this.#inside.size).toBe(0);
        expect(event.users.map(({ id }) => id)).toEqual(this.#participants);
        expect(event.room.active_participants).toBe(0);
        this.#sessionId = null;
        this.#participants = [];
        break;
      default:
        expect.unreachable(`${event.event} does not happen in a room`);
    }
  }

  /** The users who are in the room, as far as events have told. */
  get online(): ReadonlySet<string> {
    return new Set(this.#inside.keys());
  }

  get hasSession(): boolean {
    return this.#sessionId !== null;
  }
}
