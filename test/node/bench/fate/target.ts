/** The target of a hostile process. */

export const HOSTILE_NAMES = [
  "frames",
  "expensive reads",
  "joins",
  "waiting",
  "uploads",
  "sign-ins",
  "valid credentials",
  "invalid credentials",
  "slow readers",
  "large broadcasts",
] as const;
export type HostileName = (typeof HOSTILE_NAMES)[number];

/** Behaviour of the floor's sockets per attack, the same as Atrium's after the first burst. */
export const FLOOR_SOCKETS: Readonly<Record<HostileName, "answering" | "closing" | "refused">> = {
  frames: "closing",
  "expensive reads": "answering",
  joins: "closing",
  waiting: "refused",
  uploads: "refused",
  "sign-ins": "refused",
  "valid credentials": "refused",
  "invalid credentials": "refused",
  "slow readers": "answering",
  "large broadcasts": "answering",
};

export interface Target {
  readonly origin: string;
  readonly socketUrl: string;
  /** `/v1/accounts/…`. */
  readonly accountPath: string;
  readonly authorization: Readonly<Record<string, string>>;
  readonly roomId: string;
  readonly userId: string;
  readonly token: string;
}
