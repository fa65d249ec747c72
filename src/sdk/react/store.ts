/** The hooks for a store of the room. */
import type { InputOf, PatchOf, Registered, StoresIn, ValueOf } from "../client/index.ts";
import { useRoomHandle } from "./context.ts";
import type { Equality } from "./equality.ts";
import type { RoomHandle } from "./room-handle.ts";
import { useSelection, whole } from "./selection.ts";
import type { StoreActions } from "./store-actions.ts";
import type { StoreEntries, StoreHandle } from "./store-source.ts";

type RegisteredStores = StoresIn<Registered>;
/** The names of the stores that the application has registered. */
type StoreName = keyof RegisteredStores & string;
type EntriesOf<Name extends StoreName> = StoreEntries<ValueOf<RegisteredStores[Name]>>;
type ActionsOf<Name extends StoreName> = StoreActions<
  ValueOf<RegisteredStores[Name]>,
  InputOf<RegisteredStores[Name]>,
  PatchOf<RegisteredStores[Name]>
>;

/**
 * The values of a store by key, or what `select` makes of them, and functions that change them. The component renders
 * again only when that is no longer equal: by default, when it is another value or has another element. A store that
 * the application has registered has its types; for others, `Value` is what it expects. Neither is checked at run time:
 * a shape checks what this client writes, but other clients can write anything.
 */
export function useStore<Name extends StoreName>(name: Name): [EntriesOf<Name>, ActionsOf<Name>];
export function useStore<Value = unknown>(name: string): [StoreEntries<Value>, StoreActions<Value>];
export function useStore<Name extends StoreName, Selected>(
  name: Name,
  select: (entries: EntriesOf<Name>) => Selected,
  isEqual?: Equality<Selected>,
): [Selected, ActionsOf<Name>];
export function useStore<Value, Selected>(
  name: string,
  select: (entries: StoreEntries<Value>) => Selected,
  isEqual?: Equality<Selected>,
): [Selected, StoreActions<Value>];
export function useStore(
  name: string,
  select: (entries: StoreEntries<never>) => unknown = whole,
  isEqual?: Equality<unknown>,
): [unknown, object] {
  const { source, actions } = storeOf(useRoomHandle(), name);
  return [useSelection(source, select, isEqual), actions];
}

/** The values have the type that the caller expects: other clients can write anything. */
const storeOf = (handle: RoomHandle, name: string): StoreHandle<never> =>
  handle.store(name) as unknown as StoreHandle<never>;

/** The functions that change a store, for a component that does not read it. They are always the same. */
export function useStoreActions<Name extends StoreName>(name: Name): ActionsOf<Name>;
export function useStoreActions<Value = unknown>(name: string): StoreActions<Value>;
export function useStoreActions(name: string): StoreActions<unknown> {
  return useRoomHandle().store(name).actions;
}
