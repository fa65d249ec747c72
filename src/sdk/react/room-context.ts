/** The hooks' access to the room: the context of the nearest RoomProvider, and the values that a component selects. */
import { createContext, useContext, useEffect, useMemo, useRef, useSyncExternalStore } from "react";
import { invalid } from "../core/error.ts";
import { type Equality, type Source, shallowEqual } from "./external-source.ts";
import type { RoomHandle } from "./room-handle.ts";

export const RoomContext = createContext<RoomHandle | null>(null);

/** The room of the nearest RoomProvider. Throws outside of one. */
export function useRoomHandle(): RoomHandle {
  const handle = useContext(RoomContext);
  if (handle === null) throw invalid("Client", "Atrium's hooks must be used inside a <RoomProvider>");
  return handle;
}

export const useSource = <Value>(source: Source<Value>): Value =>
  useSyncExternalStore(source.subscribe, source.read, () => source.initial);

/** The same object until it is no longer equal. `select` is pure, and can be another function in each render. */
export function useSelection<Value, Selected>(
  source: Source<Value>,
  select: (value: Value) => Selected,
  isEqual: Equality<Selected> = shallowEqual,
): Selected {
  /** The shown value, for a selector that is a new function. */
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

export const whole = <Value>(value: Value): Value => value;
