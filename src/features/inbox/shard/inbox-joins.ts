/** Joins of sockets to inboxes by identities' tokens, and their limits. */

import { isRecord } from "@atrium/contract/operations/values.ts";
import { TokenBucket } from "@atrium/contract/pacing/token-bucket.ts";
import { byteLength, isTooDeep, parseJson } from "@atrium/contract/text.ts";
import { presentTime } from "@atrium/contract/time.ts";
import { beingRestored, type IdentityClaims, RESTORING_EPOCH } from "../../../platform/token-claims.ts";
import { failure, INTERNAL_FAULT, success } from "../../../room/protocol/frame.ts";
import { CLOSE, type Fault } from "../../../room/protocol/protocol.ts";
import type { InboxAccess } from "../recipients/access.ts";
import type { InboxPushes } from "./inbox-pushes.ts";
import {
  attachmentOf,
  type InboxSockets,
  isCurrent,
  type Joined,
  onGrid,
  type Waiting,
} from "./inbox-sockets.ts";

interface JoinPorts {
  readonly sockets: InboxSockets;
  readonly pushes: InboxPushes;
  accountId(): string;
  now(): number;
  /** The access to the rooms of the unread items, as they are when it is returned. */
  readAccess(identityId: string): Promise<InboxAccess>;
  verifyToken(token: string, now: number): Promise<IdentityClaims | null>;
  isTokenCurrent(claims: IdentityClaims): Promise<boolean>;
  /** Sockets of expired tokens are to be closed then (epoch ms). */
  expireAt(time: number): void;
  report(what: string, error: unknown): void;
}

const LIMITS = {
  joined: 20,
  waiting: 40,
  waitingOfAddress: 10,
  frameBytes: 8 * 1024,
  frameDepth: 40,
  tokenLength: 2_048,
  requestIdLength: 255,
  /** A client sends a ping every 20 seconds. */
  silentMs: 75_000,
};
const FRAMES = { perSecond: 1, burst: 20 };

const refused = (code: Fault["code"], message: string, module: Fault["module"] = "Identities"): Fault => ({
  module,
  code,
  message,
});
const INVALID_TOKEN = refused("UNAUTHORIZED", "The token is invalid or has expired", "Auth");
const ANOTHER_INBOX = refused("FORBIDDEN", "The token is of another identity", "Auth");
const TOO_MANY = refused("CONFLICT", `An inbox has at most ${LIMITS.joined} open sockets`);

export class InboxJoins {
  readonly #ports: JoinPorts;
  /** Sockets whose token is being verified. */
  readonly #verifying = new Set<WebSocket>();
  readonly #budgets = new WeakMap<WebSocket, TokenBucket>();

  constructor(ports: JoinPorts) {
    this.#ports = ports;
  }

  /** An upgrade. Too many sockets that have yet to join make the oldest one that has sent nothing give way. */
  accept(identityId: string, address: string): Response {
    const { sockets, now } = this.#ports;
    const response = sockets.accept({ phase: "waiting", identityId, address, openedAt: now() });
    this.#makeRoom(identityId, address);
    return response;
  }

  #makeRoom(identityId: string, address: string): void {
    const sockets = this.#ports.sockets.in("waiting", identityId);
    const waiting = sockets.map((socket) => ({ socket, ...(attachmentOf(socket) as Waiting) }));
    const ofAddress = waiting.filter((each) => each.address === address);
    const isCrowded = ofAddress.length > LIMITS.waitingOfAddress;
    if (!isCrowded && waiting.length <= LIMITS.waiting) return;
    const [leaving] = (isCrowded ? ofAddress : waiting)
      .filter(({ socket }) => !this.#verifying.has(socket))
      .sort((one, other) => one.openedAt - other.openedAt);
    if (leaving !== undefined)
      this.#ports.sockets.close(leaving.socket, CLOSE.tooManySockets, "too many sockets are waiting");
  }

  async receive(socket: WebSocket, frame: string | ArrayBuffer): Promise<void> {
    const { sockets } = this.#ports;
    const attached = attachmentOf(socket);
    if (attached === null) return;
    if (
      typeof frame === "string" ? byteLength(frame) > LIMITS.frameBytes : frame.byteLength > LIMITS.frameBytes
    )
      return sockets.close(socket, CLOSE.frameTooLarge, "frame too large");
    if (this.#spend(socket) < 0) return sockets.close(socket, CLOSE.flooding, "too many frames");
    const json =
      typeof frame === "string" && !isTooDeep(frame, LIMITS.frameDepth) ? parseJson(frame) : undefined;
    const { type, requestId, data } = isRecord(json) ? json : {};
    const echoed =
      typeof requestId === "string" && requestId.length <= LIMITS.requestIdLength ? requestId : undefined;
    const token = isRecord(data) ? data.token : undefined;
    if (attached.phase === "waiting") {
      if (type !== "INBOX_JOIN" || this.#verifying.has(socket))
        return sockets.close(socket, CLOSE.protocolBroken, "INBOX_JOIN must be the first and only message");
      return this.#verify(socket, attached, token, echoed);
    }
    if (type !== "TOKEN_REFRESH")
      return sockets.send(socket, failure(refused("BAD_REQUEST", "Unknown message type"), echoed));
    if (this.#verifying.has(socket))
      return sockets.send(
        socket,
        failure(refused("CONFLICT", "Another token is being verified; wait for its response"), echoed),
      );
    return this.#verify(socket, attached, token, echoed);
  }

  #spend(socket: WebSocket): number {
    const now = this.#ports.now();
    const budget = this.#budgets.get(socket) ?? new TokenBucket(FRAMES, now);
    this.#budgets.set(socket, budget);
    return budget.spend(1, now);
  }

  /** A refused join closes its socket; a refused refresh leaves it as it was. */
  async #verify(
    socket: WebSocket,
    attached: Waiting | Joined,
    token: unknown,
    requestId?: string,
  ): Promise<void> {
    this.#verifying.add(socket);
    const { sockets, pushes } = this.#ports;
    const { recounted } = pushes;
    const decision = await this.#decide(attached.identityId, token).catch((error: unknown): Fault => {
      this.#ports.report("A token of an inbox could not be verified", error);
      return INTERNAL_FAULT;
    });
    this.#verifying.delete(socket);
    if (attachmentOf(socket) === null) return; // it was closed meanwhile
    const fault = "code" in decision ? decision : this.#crowdedFor(attached);
    if (fault !== null) {
      sockets.send(socket, failure(fault, requestId));
      if (attached.phase === "waiting") sockets.refuse(socket, fault);
      return;
    }
    const { joined, access } = decision as Exclude<typeof decision, Fault>;
    sockets.join(socket, joined);
    this.#ports.expireAt(onGrid(joined.expiresAt));
    const expiresAt = presentTime(joined.expiresAt);
    const description = attached.phase === "waiting" ? "Inbox joined" : "Token refreshed";
    sockets.send(socket, success(description, { ...pushes.counted(access, joined), expiresAt }, requestId));
    if (pushes.recounted !== recounted) pushes.recount([attached.identityId]);
  }

  async #decide(
    identityId: string,
    token: unknown,
  ): Promise<Fault | { joined: Joined; access: InboxAccess }> {
    if (typeof token !== "string" || token.length > LIMITS.tokenLength) return INVALID_TOKEN;
    const claims = await this.#ports.verifyToken(token, this.#ports.now());
    if (claims === null) return INVALID_TOKEN;
    if (claims.accountId !== this.#ports.accountId() || claims.identityId !== identityId)
      return (await this.#ports.isTokenCurrent(claims)) ? ANOTHER_INBOX : INVALID_TOKEN;
    const access = await this.#ports.readAccess(identityId);
    const epochs = { identity: claims.identityEpoch, account: claims.accountEpoch };
    if (access.epochs?.account === RESTORING_EPOCH) {
      const { module, code, message } = beingRestored();
      return { module, code, message };
    }
    if (!isCurrent(epochs, access)) return INVALID_TOKEN;
    const expiresAt = claims.exp * 1000;
    const joined: Joined = {
      phase: "joined",
      identityId,
      epochs,
      expiresAt,
      ...(claims.rooms && { rooms: claims.rooms }),
    };
    return { joined, access };
  }

  /** The refusal of one more joined socket; null if one that is silent gives way. */
  #crowdedFor(attached: Waiting | Joined): Fault | null {
    if (attached.phase === "joined") return null;
    const { sockets } = this.#ports;
    if (sockets.countJoined(attached.identityId) < LIMITS.joined) return null;
    const silent = sockets.findSilent(attached.identityId, LIMITS.silentMs);
    if (silent === null) return TOO_MANY;
    sockets.close(silent, CLOSE.silent, "silent");
    return null;
  }
}
