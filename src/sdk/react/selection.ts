/** How components read sources: each renders again only when what it selects has changed. */
import { useEffect, useMemo, useRef, useSyncExternalStore } from "react";
import { type Equality, shallowEqual } from "./equality.ts";
import type { Source } from "./external-source.ts";

/** The current value of a source. */
export const useSource = <Value>(source: Source<Value>): Value =>
  useSyncExternalStore(source.subscribe, source.read, () => source.initial);

/**
 * What `select` makes of the current value: the same object until it is no longer equal. `select` is pure; it can be
 * another function in each render.
 */
export function useSelection<Value, Selected>(
  source: Source<Value>,
  select: (value: Value) => Selected,
  isEqual: Equality<Selected> = shallowEqual,
): Selected {
  /** What the component shows, for a selector that is a new function. */
  const shown = useRef<{ readonly selected: Selected } | null>(null);
  const [read, readInitial] = useMemo(() => {
    const selector = () => {
      let latest: { readonly value: Value; readonly selected: Selected } | null = null;
      return (value: Value): Selected => {
        if (latest !== null && Object.is(latest.value, value)) return latest.selected;
        const known = latest ?? shown.current;
        const selected = select(value);
        const same = known !== null && isEqual(known.selected, selected) ? known.selected : selected;
        latest = { value, selected: same };
        return same;
      };
    };
    const [current, initial] = [selector(), selector()];
    return [() => current(source.read()), () => initial(source.initial)];
  }, [source, select, isEqual]);
  const selected = useSyncExternalStore(source.subscribe, read, readInitial);
  useEffect(() => {
    shown.current = { selected };
  });
  return selected;
}

/** The selector of a component that reads the whole value. */
export const whole = <Value>(value: Value): Value => value;
