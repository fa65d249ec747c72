/** The hooks for a store of the room. */
import { useRoomHandle } from "./context.ts";
import type { Equality } from "./equality.ts";
import type { RoomHandle } from "./room-handle.ts";
import { useSelection, whole } from "./selection.ts";
import type { StoreActions, StoreEntries, StoreHandle } from "./store-source.ts";

/**
 * The values of a store by key, or what `select` makes of them, and functions that change them. The component renders
 * again only when that is no longer equal: by default, when it is another value or has another element. `Value` is not
 * checked at run time: a shape checks what this client writes, but other clients can write anything.
 */
export function useStore<Value = unknown>(name: string): [StoreEntries<Value>, StoreActions<Value>];
export function useStore<Value, Selected>(
  name: string,
  select: (entries: StoreEntries<Value>) => Selected,
  isEqual?: Equality<Selected>,
): [Selected, StoreActions<Value>];
export function useStore(
  name: string,
  select: (entries: StoreEntries<unknown>) => unknown = whole,
  isEqual?: Equality<unknown>,
): [unknown, StoreActions<unknown>] {
  const { source, actions } = useRoomHandle().store(name);
  return [useSelection(source, select, isEqual), actions];
}

/** The functions that change a store, for a component that does not read it. They are always the same. */
export const useStoreActions = <Value = unknown>(name: string): StoreActions<Value> =>
  storeOf<Value>(useRoomHandle(), name).actions;

/** `Value` is what the application expects: other clients can write anything. */
const storeOf = <Value>(handle: RoomHandle, name: string): StoreHandle<Value> =>
  handle.store(name) as unknown as StoreHandle<Value>;
