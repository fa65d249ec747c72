/** The users who come back to a restarted room, as it has stored them: no join of theirs waits for a read of its own. */

import type { RoomFields } from "@atrium/contract/resources/room.ts";
import { sleep } from "../../platform/flow/concurrency.ts";
import type { IdentityClaims, TokenClaims } from "../../platform/token-claims.ts";
import { firstReadMs, type KnownUser } from "../engine/join/join-decision.ts";
import type { Room } from "../engine/room.ts";
import type { OpenSession } from "../storage/storage.ts";
import type { RoomContext } from "./room-context.ts";
import type { RoomService } from "./room-service.ts";

interface ReturnPorts {
  readonly context: RoomContext;
  readonly room: Room;
  readonly service: Pick<RoomService, "findEpochIfCurrent">;
}

interface ReturningUser {
  readonly room: RoomFields;
  readonly user: KnownUser;
}

export class ReturningUsers {
  readonly #ports: ReturnPorts;
  /** A command that reaches the room from now on makes its storage uncertain until the command is carried out. */
  readonly #revision: number;
  readonly #delay: Promise<unknown>;
  #reading: Promise<number | null> | null = null;

  constructor(ports: ReturnPorts) {
    this.#ports = ports;
    const { commands, ports: room } = ports.room;
    this.#revision = commands.revision;
    this.#delay = sleep(firstReadMs(room.graceMs, Math.random()));
  }

  /**
   * The user of a token as the database has it: stored, and certain. Null for everyone else. The first call reads whether
   * a command waits that the room has missed.
   */
  async find(claims: TokenClaims | IdentityClaims): Promise<ReturningUser | null> {
    const { commands, ports } = this.#ports.room;
    if (this.#sessionOf(claims) === undefined) return null;
    this.#reading ??= this.#delay.then(() => this.#readEpoch());
    const accountTokenEpoch = await this.#reading;
    const { user: record, standing } = this.#sessionOf(claims) ?? {};
    const room = ports.storage.occupancy.readRoom();
    if (accountTokenEpoch === null || commands.revision !== this.#revision) return null;
    if (room === null || record === undefined || standing === undefined) return null;
    const { rights, isGuest, ...epochs } = standing;
    return { room, user: { record, subject: { ...record, ...epochs, accountTokenEpoch }, rights, isGuest } };
  }

  #sessionOf(claims: TokenClaims | IdentityClaims): OpenSession | undefined {
    const { sessions } = this.#ports.room;
    return "identityId" in claims ? sessions.ofIdentities(claims.identityId)[0] : sessions.get(claims.userId);
  }

  async #readEpoch(): Promise<number | null> {
    const { context, service } = this.#ports;
    try {
      return await service.findEpochIfCurrent(context.identity);
    } catch (error) {
      context.report("A restarted room could not read whether it has missed changes", error);
      return null;
    }
  }
}
