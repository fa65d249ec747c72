/** Names and texts that the application knows: asked for once, and shown when they are there. */
import { useEffect, useReducer } from "react";
import { getOrAdd, report } from "../core/emitter.ts";

type Found<Value> = Value | null | undefined;

/** Returns what the application knows, at once or later; null or undefined if it knows nothing. */
export type Resolver<Subject, Value> = (subject: Subject) => Found<Value> | Promise<Found<Value>>;

interface Answer {
  value: unknown;
  /** Resolves when the value is there; null if it was there at once. */
  readonly pending: Promise<void> | null;
}

const answers = new WeakMap<object, Map<string, Answer>>();

function answerOf(value: unknown): Answer {
  if (!(value instanceof Promise)) return { value, pending: null };
  const put = (found: unknown) => {
    answer.value = found;
  };
  const answer: Answer = { value: undefined, pending: value.then(put).catch(report) };
  return answer;
}

/** The values of these subjects, undefined while they are unknown. A resolver is asked once for all subjects of a key. */
export function useResolved<Subject, Value>(
  resolver: Resolver<Subject, Value> | undefined,
  subjects: readonly Subject[],
  keyOf: (subject: Subject) => string,
): readonly Found<Value>[] {
  const [, render] = useReducer((renders: number) => renders + 1, 0);
  const keys = subjects.map(keyOf).join("\n");
  const known = resolver && getOrAdd(answers, resolver, () => new Map<string, Answer>());
  const found = subjects.map(
    (subject) => known && resolver && getOrAdd(known, keyOf(subject), () => answerOf(resolver(subject))),
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: the answers to the same keys are the same
  useEffect(() => {
    let isShown = true;
    for (const answer of found) void answer?.pending?.then(() => isShown && render());
    return () => {
      isShown = false;
    };
  }, [resolver, keys]);
  return found.map((answer) => answer?.value as Found<Value>);
}

/** A group as the application knows it. */
export interface GroupInfo {
  readonly name: string;
}

/** Returns a group by its ID. */
export type GroupResolver = Resolver<string, GroupInfo>;

/** The facts of a group that the application knows; undefined until they are there. The resolver is asked once for each group. */
export const useGroupInfo = (groupId: string, resolveGroup: GroupResolver): GroupInfo | null | undefined =>
  useResolved(resolveGroup, [groupId], (id) => id)[0];
