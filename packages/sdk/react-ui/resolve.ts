/** Names and texts that the application knows: asked for once, and shown when they are there. */
import { useEffect, useSyncExternalStore } from "react";
import { getOrAdd, report } from "../core/emitter.ts";

type Found<Value> = Value | null | undefined;

/** Returns the application's value, at once or later; null or undefined if it has none. */
export type Resolver<Subject, Value> = (subject: Subject) => Found<Value> | Promise<Found<Value>>;

/** The answers of a resolver, which all components share. */
class Answers {
  readonly #values = new Map<string, unknown>();
  readonly #asked = new Set<string>();
  readonly #listeners = new Set<() => void>();
  #count = 0;

  readonly subscribe = (listener: () => void): (() => void) => {
    const added = () => listener();
    this.#listeners.add(added);
    return () => this.#listeners.delete(added);
  };

  /** Another number after each answer. */
  readonly read = (): number => this.#count;

  get(key: string): unknown {
    return this.#values.get(key);
  }

  /** Asks, unless that was done. After a failure, the next one who asks does so again. */
  async ask(key: string, resolve: () => unknown): Promise<void> {
    if (this.#asked.has(key)) return;
    this.#asked.add(key);
    try {
      this.#values.set(key, await resolve());
      this.#count += 1;
      for (const listener of [...this.#listeners]) listener();
    } catch (error) {
      this.#asked.delete(key);
      report(error);
    }
  }
}

const answers = new WeakMap<object, Answers>();
const never = () => () => {};
const none = () => 0;

/**
 * The values of these subjects, undefined while they are unknown, as on servers and during hydration. A resolver is asked
 * once for all subjects of a key, never while rendering, and after a failure by the next component that shows the subject.
 */
export function useResolved<Subject, Value>(
  resolver: Resolver<Subject, Value> | undefined,
  subjects: readonly Subject[],
  keyOf: (subject: Subject) => string,
): readonly Found<Value>[] {
  const keys = subjects.map(keyOf);
  const known = resolver && getOrAdd(answers, resolver, () => new Answers());
  const count = useSyncExternalStore(known?.subscribe ?? never, known?.read ?? none, none);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the answers to the same keys are the same
  useEffect(() => {
    for (const subject of subjects) void known?.ask(keyOf(subject), () => resolver?.(subject));
  }, [resolver, keys.join("\n")]);
  return keys.map((key) => (count === 0 ? undefined : (known?.get(key) as Found<Value>)));
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
