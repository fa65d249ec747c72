/** REST participants: users without a socket, such as agents, for a time that REST sets. */

import { AppError } from "@atrium/contract/errors.ts";
import type { RoomFields } from "@atrium/contract/resources/room.ts";
import type { UserRecord } from "@atrium/contract/resources/user.ts";
import { CLOSE } from "../../protocol/protocol.ts";
import type { ParticipantInput } from "../../protocol/room-request.ts";
import type { OpenSession } from "../../storage/storage.ts";
import type { Effect } from "../../transport/connection.ts";
import type { RoomPorts } from "../../transport/room-ports.ts";
import { NO_SOCKET } from "../presence/kept-states.ts";
import { presentOnline } from "./online-users.ts";
import type { Participants } from "./participants.ts";

interface RestParticipant {
  readonly room: RoomFields;
  readonly user: UserRecord;
}

export class RestParticipants {
  readonly #ports: Pick<RoomPorts, "now" | "newId">;
  readonly #participants: Participants;

  constructor(ports: Pick<RoomPorts, "now" | "newId">, participants: Participants) {
    this.#ports = ports;
    this.#participants = participants;
  }

  /**
   * Keeps the user online for `ttl` seconds, with this state or the one so far. CONFLICT while the user has a socket,
   * VALIDATION_ERROR when the state is too large.
   */
  add(
    { room, user }: RestParticipant,
    { state, ttl }: ParticipantInput,
  ): { readonly endsAt: number; readonly effects: Effect[] } {
    const { connections, presence, sessions } = this.#participants;
    if (connections.hasUser(user.id))
      throw new AppError("Rooms", "CONFLICT", "The user is connected, and its own clients show its presence");
    const now = this.#ports.now();
    const endsAt = now + ttl * 1000;
    const update = { id: NO_SOCKET, userId: user.id };
    const before = presence.fieldsOf(user.id);
    const shown = state === undefined ? [] : presence.update(update, { state });
    const running = sessions.get(user.id);
    const session: OpenSession = running ?? { id: this.#ports.newId(), joinedAt: now, user };
    const kept = { state: presence.fieldsOf(user.id), color: presence.colorOf(user.id) };
    const gracePeriod = { userId: user.id, endsAt, leftAt: endsAt, ...kept };
    try {
      if (running === undefined) sessions.start(room, session, gracePeriod);
      else sessions.gracePeriods.begin([gracePeriod]);
    } catch (error) {
      presence.update(update, { state: before }); // presence shows stored states only
      throw error;
    }
    const joined = running === undefined ? this.#participants.notifyJoined(presentOnline(session)) : [];
    return { endsAt, effects: [...joined, ...shown, { type: "planAlarm" }] };
  }

  /** The user leaves: its sockets are closed for good. Does nothing when it is not online. */
  remove(userId: string): Effect[] {
    const { connections } = this.#participants;
    return [
      ...this.#participants.disconnect(connections.idsOf(userId), CLOSE.forbidden, "removed"),
      ...this.#participants.endGracePeriods([userId]),
    ];
  }
}
