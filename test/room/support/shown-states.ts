/** Everyone's presence as a client knows it that takes numbers for users (R86). */
import { expect } from "vitest";
import type { ServerEvent } from "../../../src/room/protocol/protocol.ts";

export type PresenceTuple = Extract<ServerEvent, { event: "presence" }>["data"]["updates"][number];
type PresenceState = NonNullable<PresenceTuple[1]>;

export class ShownStates {
  readonly byUser = new Map<string, PresenceState>();
  readonly #introduced = new Map<number, string>();

  show([user, state, introduces]: PresenceTuple): void {
    const isNumber = typeof user === "number";
    const userId = isNumber ? this.#introduced.get(user) : user;
    if (userId === undefined) throw new Error(`${user} stands for no one`);
    if (introduces !== undefined) this.#introduced.set(introduces, userId);
    if (state === null) {
      this.byUser.delete(userId);
      return;
    }
    const color = this.byUser.get(userId)?.color;
    if (isNumber) expect(color, `the color of ${userId}, who was introduced`).toBeDefined();
    this.byUser.set(userId, Object.hasOwn(state, "color") ? state : { color, ...state });
  }

  /**
   * Forgets states of an earlier connection, which arrive again. Numbers stay, because no client needs to
   * forget them.
   */
  clear(): void {
    this.byUser.clear();
  }
}
