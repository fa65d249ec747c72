/** What clients do and what happens to them, as values that fast-check generates, shrinks and prints. */
import fc from "fast-check";

/** What the network loses: nothing, the request, or everything that follows from it. */
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

/** A number of clients, and what happens to them. */
export type Scenario = readonly [clients: number, steps: readonly Step[]];

const MAX_CLIENTS = 8;
const who = fc.nat(MAX_CLIENTS - 1);
const presence: fc.Arbitrary<number | null> = fc.option(fc.nat(9));

/** What connected clients do, on a network that loses what `lost` says. */
const connectedSteps = (lost: fc.Arbitrary<Loss>): fc.WeightedArbitrary<RequestStep | PresenceStep>[] => [
  {
    weight: 8,
    arbitrary: fc.record({ type: fc.constantFrom("set", "merge", "remove"), who, key: fc.nat(3), lost }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constantFrom("increment", "batch", "comment", "edit", "react"),
      who,
      lost,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constantFrom("follow", "unfollow"), who, whom: who, lost }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ type: fc.constant("show" as const), who, value: presence }),
  },
];

/** A step of one client, on a network that loses nothing. */
export const losslessStep = fc.oneof(...connectedSteps(fc.constant<Loss>("nothing")));

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant("join" as const), who }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constantFrom("vanish", "resend"), who }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("read" as const), who }) },
  ...connectedSteps(fc.constantFrom<Loss>("nothing", "nothing", "nothing", "request", "answer")),
  { weight: 2, arbitrary: fc.record({ type: fc.constantFrom("flush", "hibernate") }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("crash" as const) }) },
);

export const scenario: fc.Arbitrary<Scenario> = fc.tuple(
  fc.integer({ min: 2, max: MAX_CLIENTS }),
  fc.array(step, { maxLength: 80, size: "max" }),
);
