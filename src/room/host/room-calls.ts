/** The calls of a room's object that REST makes for what happens in the room: each says for which organization. */

import { AppError } from "../../platform/errors.ts";
import type { Trace } from "../../platform/trace.ts";
import type { EventCause } from "../../wire/event-cause.ts";
import type { Reconciliation, RoomSnapshot, UserSnapshot } from "../../wire/snapshots.ts";
import { isReported } from "../engine/requests.ts";
import { failure, serialize, success, TOO_MUCH } from "../protocol/frame.ts";
import { MAX_WRITTEN_BYTES } from "../protocol/limits.ts";
import type { Fault } from "../protocol/protocol.ts";
import type { RoomRequest, Visit } from "../protocol/room-request.ts";
import type { RoomRuntime } from "./room-runtime.ts";

const faultOf = ({ module, code, message }: AppError): Fault => ({ module, code, message });

export class RoomCalls {
  readonly #parts: RoomRuntime;

  constructor(parts: RoomRuntime) {
    this.#parts = parts;
  }

  /** The stats, and the attendance of some users. Creates nothing in a room that no one has ever joined. */
  read(accountId: string, userIds: string[]): RoomSnapshot {
    const { context, room } = this.#parts;
    context.identify(accountId);
    return { stats: room.stats, attendance: room.attendance(userIds) };
  }

  readUser(accountId: string, userId: string): UserSnapshot {
    const { context, room } = this.#parts;
    const { roomId } = context.identify(accountId);
    const sessions = room.sessions(userId).map((session) => ({ ...session, roomId }));
    return { attendance: room.attendance([userId])[userId] ?? null, sessions };
  }

  /** Sets the counter to the users who have a live socket, here and in the database. */
  async reconcile(accountId: string): Promise<Reconciliation> {
    const { context, room, effects: executor, alarm, statsProjection } = this.#parts;
    context.identify(accountId);
    alarm.closeVanished();
    const { previous, effects } = room.reconcile();
    executor.perform(effects);
    alarm.plan(); // before the copy below, which may fail
    const { stats } = room;
    await statsProjection.copy();
    return { previous, reconciled: stats.activeParticipants, stats };
  }

  /**
   * Handles a request of the organization or, with `cause`, of a workflow's run for it. Request and response are JSON,
   * as they hold any value that users send. `trace` is that of the request over REST.
   */
  async request(
    accountId: string,
    request: string,
    cause: EventCause | null = null,
    trace: Trace | null = null,
  ): Promise<string> {
    const { context, reads, room, traces } = this.#parts;
    context.identify(accountId);
    const parsed = JSON.parse(request) as RoomRequest;
    await (isReported(parsed) ? reads.requireRow() : reads.requireExisting());
    const { response, effects } = traces.during(trace, () => room.request(parsed, null, cause));
    this.#parts.effects.perform(effects);
    return serialize(response);
  }

  /** A user takes part without a socket for a time. Takes a {@link Visit} and returns the response, both as JSON. */
  async visit(accountId: string, userId: string, visit: string, trace: Trace | null = null): Promise<string> {
    const { context, joins, room, traces } = this.#parts;
    context.identify(accountId);
    try {
      const visitor = await joins.readVisitor(userId);
      const { endsAt, effects } = traces.during(trace, () =>
        room.visits.begin(visitor, JSON.parse(visit) as Visit),
      );
      this.#parts.effects.perform(effects);
      return serialize(success("Participant added", { endsAt }, undefined));
    } catch (error) {
      if (error instanceof AppError) return serialize(failure(faultOf(error), undefined));
      this.#parts.alarm.recoverSoon(); // a session may have begun whose end could not be stored
      throw error;
    }
  }

  /**
   * Handles batches of a user or, with null, of the organization: one transaction each. Together they write as much as
   * one may. Takes and returns JSON.
   */
  async writeStores(accountId: string, userId: string | null, batches: string): Promise<string> {
    const { context, reads, room } = this.#parts;
    context.identify(accountId);
    await reads.requireExisting();
    const maxWritten = room.writtenBytes + MAX_WRITTEN_BYTES;
    const responses = (JSON.parse(batches) as RoomRequest[]).map((batch) => {
      if (room.writtenBytes >= maxWritten) return serialize(failure(TOO_MUCH, batch.requestId));
      const { response, effects } = room.request(batch, userId);
      this.#parts.effects.perform(effects);
      return serialize(response);
    });
    return `[${responses.join()}]`;
  }
}
