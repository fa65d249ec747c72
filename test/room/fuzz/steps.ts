/** Steps of clients and events of their room, as values that fast-check generates, shrinks and prints. */
import fc from "fast-check";
import { ofKind, ofType } from "../../support/steps.ts";
import { type DocumentAct, documentAct } from "./document-acts.ts";
import { type FrameSpec, frame } from "./grammar.ts";

/** The users: an editor who behaves well, two more editors, a viewer, and one who is offline at first. */
export const USERS = ["well-behaved", "editor", "another editor", "viewer", "latecomer"] as const;
export const VIEWER = 3;

/** Changes over REST. Numbers that pick a user or a socket are taken modulo their count. */
export type RestChange =
  | {
      readonly kind: "userUpdated" | "userCreated" | "userDeleted" | "userErased" | "tokensEnded";
      readonly user: number;
    }
  | { readonly kind: "roomUpdated" | "roomClosed" | "roomOpened" | "allTokensEnded" }
  | { readonly kind: "write" | "comment" | "broadcast"; readonly key: number }
  /** The user takes part without a socket for some seconds, or has to leave. */
  | { readonly kind: "participant added"; readonly user: number; readonly ttl: number }
  | { readonly kind: "removed"; readonly user: number };

export type Step =
  | { readonly type: "open" }
  | {
      readonly type: "join";
      readonly user: number;
      readonly role: "editor" | "viewer";
      readonly batch: boolean;
      readonly since: boolean;
    }
  | { readonly type: "frame"; readonly pick: number; readonly frame: FrameSpec }
  | { readonly type: "flood"; readonly pick: number; readonly frame: FrameSpec; readonly times: number }
  /** Something with a document, over the room's socket. */
  | { readonly type: "document"; readonly pick: number; readonly act: DocumentAct }
  /** This number of writes, and then a broadcast that must not overtake them. */
  | { readonly type: "ordered"; readonly pick: number; readonly entries: number }
  | { readonly type: "cut"; readonly pick: number }
  /** The one who behaves well works. */
  | { readonly type: "work"; readonly what: "set" | "comment" | "present" | "follow" | "broadcast" | "type" }
  | { readonly type: "rest"; readonly change: RestChange }
  /** Makes the database answer at once, or only when it is released. */
  | { readonly type: "database"; readonly isHeld: boolean }
  /** One of the storage's next calls fails. */
  | { readonly type: "fault"; readonly after: number }
  | { readonly type: "advance"; readonly ms: number }
  /** A backup is made, or the latest one replaces the room's storage. */
  | { readonly type: "backUp" | "restore" }
  | { readonly type: "flush" | "hibernate" | "crash" | "sweep" | "reconcile" | "deleteRoom" };

const user = fc.integer({ min: 1, max: USERS.length - 1 });
const pick = fc.nat(9);

const restChange: fc.Arbitrary<RestChange> = fc.oneof(
  ofKind(4, ["userUpdated", "userCreated", "tokensEnded"], { user }),
  ofKind(1, ["userDeleted", "userErased"], { user }),
  ofKind(2, ["roomUpdated", "roomOpened"]),
  ofKind(1, ["roomClosed", "allTokensEnded"]),
  ofKind(4, ["write", "comment", "broadcast"], { key: fc.nat(3) }),
  ofKind(2, ["participant added"], { user, ttl: fc.constantFrom(10, 30) }),
  ofKind(1, ["removed"], { user }),
);

const step: fc.Arbitrary<Step> = fc.oneof(
  ofType(2, ["open"]),
  ofType(8, ["join"], {
    user,
    role: fc.constantFrom("editor", "editor", "viewer"),
    batch: fc.boolean(),
    since: fc.boolean(),
  }),
  ofType(40, ["frame"], { pick, frame }),
  ofType(1, ["flood"], { pick, frame, times: fc.constantFrom(40, 300, 1_500) }),
  ofType(10, ["document"], { pick, act: documentAct }),
  ofType(2, ["ordered"], { pick, entries: fc.constantFrom(1, 500, 20_000) }),
  ofType(3, ["cut"], { pick }),
  ofType(6, ["work"], {
    what: fc.constantFrom("set", "comment", "present", "follow", "broadcast", "type"),
  }),
  ofType(5, ["rest"], { change: restChange }),
  ofType(3, ["database"], { isHeld: fc.boolean() }),
  ofType(3, ["fault"], { after: fc.nat(12) }),
  ofType(3, ["advance"], { ms: fc.constantFrom(1, 900, 10_000, 76_000) }),
  ofType(5, ["flush", "hibernate", "sweep", "reconcile"]),
  ofType(1, ["crash", "backUp", "restore"]),
);

/** A room's life; few rooms are deleted. */
const lifeOf = (maxLength: number): fc.Arbitrary<readonly Step[]> =>
  fc
    .tuple(fc.array(step, { minLength: 1, maxLength, size: "max" }), fc.nat(9))
    .map(([steps, end]) =>
      end === 0 ? [...steps, { type: "deleteRoom" as const }, ...steps.slice(0, 5)] : steps,
    );

export const life = lifeOf(60);

/** Faults, floods and long times belong to the pure room, which has a clock and a storage of its own. */
const isReal = (step: Step): boolean =>
  step.type !== "fault" && step.type !== "flood" && step.type !== "database" && !isLong(step);
const isLong = (step: Step): boolean =>
  (step.type === "advance" && step.ms > 10_000) || (step.type === "ordered" && step.entries > 500);

/** The life of a room in its object. */
export const realLife = lifeOf(40).map((steps) => steps.filter(isReal));
