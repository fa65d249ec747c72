/** How often what a component shows has changed since it appeared: as a key, it restarts an animation. */
import { replaceEqualDeep } from "@tanstack/react-query";
import { useState } from "react";

export function useChangeCount(value: unknown): number {
  const [seen, setSeen] = useState({ value, count: 0 });
  if (Object.is(seen.value, value)) return seen.count;
  const count = seen.count + 1;
  setSeen({ value, count });
  return count;
}

/** The value, with the parts of the one before where they are equal: what has changed is another object. */
export function useShared<Value>(value: Value): Value {
  const [known, setKnown] = useState(value);
  if (Object.is(known, value)) return known;
  const shared = replaceEqualDeep(known, value) as Value;
  if (!Object.is(known, shared)) setKnown(shared);
  return shared;
}
