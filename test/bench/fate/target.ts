/** What a hostile process is aimed at. */

export const HOSTILE_NAMES = [
  "frames",
  "questions",
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
