/** Steps of clients and events around them, as values that fast-check generates, shrinks and prints. */
import fc from "fast-check";
import { ofType } from "../../support/steps.ts";

/** Loss on the network: nothing, the request, or everything that follows from it. */
export type Loss = "nothing" | "request" | "answer";

/** A request that waits for its response; `who` and `whom` are taken modulo the number of clients. */
export type RequestStep =
  | {
      readonly type: "set" | "merge" | "remove";
      readonly who: number;
      readonly key: number;
      readonly lost: Loss;
    }
  | {
      readonly type: "increment" | "batch" | "comment" | "edit" | "react";
      readonly who: number;
      readonly lost: Loss;
    }
  | {
      readonly type: "follow" | "unfollow";
      readonly who: number;
      readonly whom: number;
      readonly lost: Loss;
    };

/** Presence: the latest state wins, and there is no response. Null removes it. */
export interface PresenceStep {
  readonly type: "show";
  readonly who: number;
  readonly value: number | null;
}

export type Step =
  | RequestStep
  | PresenceStep
  | { readonly type: "join" | "vanish" | "resend" | "read"; readonly who: number }
  | { readonly type: "flush" | "hibernate" | "crash" };

/** A number of clients, and their steps. */
export type Scenario = readonly [clients: number, steps: readonly Step[]];

const MAX_CLIENTS = 8;
const who = fc.nat(MAX_CLIENTS - 1);
const presence: fc.Arbitrary<number | null> = fc.option(fc.nat(9));

/** Steps of connected clients, with the losses of `lost`. */
const connectedSteps = (lost: fc.Arbitrary<Loss>) => [
  ofType(8, ["set", "merge", "remove"], { who, key: fc.nat(3), lost }),
  ofType(6, ["increment", "batch", "comment", "edit", "react"], { who, lost }),
  ofType(3, ["follow", "unfollow"], { who, whom: who, lost }),
  ofType(5, ["show"], { who, value: presence }),
];

/** A step of one client, on a network that loses nothing. */
export const losslessStep: fc.Arbitrary<RequestStep | PresenceStep> = fc.oneof(
  ...connectedSteps(fc.constant<Loss>("nothing")),
);

const step: fc.Arbitrary<Step> = fc.oneof(
  ofType(6, ["join"], { who }),
  ofType(3, ["vanish", "resend"], { who }),
  ofType(4, ["read"], { who }),
  ...connectedSteps(fc.constantFrom<Loss>("nothing", "nothing", "nothing", "request", "answer")),
  ofType(2, ["flush", "hibernate"]),
  ofType(1, ["crash"]),
);

export const scenario: fc.Arbitrary<Scenario> = fc.tuple(
  fc.integer({ min: 2, max: MAX_CLIENTS }),
  fc.array(step, { maxLength: 80, size: "max" }),
);
