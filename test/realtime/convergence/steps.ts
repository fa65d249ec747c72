/** What members do and what befalls them, as values that fast-check makes up, shrinks and prints. */
import fc from "fast-check";

/** What the network does to a request: nothing, or it loses the request or all that it leads to. */
export type Loss = "nothing" | "request" | "answer";

/** Something that a member asks for and waits to be answered; `who` and `whom` are taken modulo the members. */
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

/** Presence: latest wins, and nobody waits for an answer. Null shows nothing. */
export interface PresenceStep {
  readonly type: "show";
  readonly who: number;
  readonly value: number | null;
}

export type Step =
  | RequestStep
  | PresenceStep
  | { readonly type: "join" | "vanish" | "resend"; readonly who: number }
  | { readonly type: "flush" | "hibernate" | "crash" };

/** A number of members, and what happens to them. */
export type Scenario = readonly [members: number, steps: readonly Step[]];

const MAX_MEMBERS = 8;
const who = fc.nat(MAX_MEMBERS - 1);
const shown: fc.Arbitrary<number | null> = fc.option(fc.nat(9));

/** What members do while they are there, on a network that loses as `lost` says. */
const work = (lost: fc.Arbitrary<Loss>): fc.WeightedArbitrary<RequestStep | PresenceStep>[] => [
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
    arbitrary: fc.record({ type: fc.constant("show" as const), who, value: shown }),
  },
];

/** Work of one member, undisturbed. */
export const losslessStep = fc.oneof(...work(fc.constant<Loss>("nothing")));

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant("join" as const), who }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constantFrom("vanish", "resend"), who }) },
  ...work(fc.constantFrom<Loss>("nothing", "nothing", "nothing", "request", "answer")),
  { weight: 2, arbitrary: fc.record({ type: fc.constantFrom("flush", "hibernate") }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("crash" as const) }) },
);

export const scenario: fc.Arbitrary<Scenario> = fc.tuple(
  fc.integer({ min: 2, max: MAX_MEMBERS }),
  fc.array(step, { maxLength: 80, size: "max" }),
);
