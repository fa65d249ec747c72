/** The provider that connects a tree of components to a room, and the rooms that providers share. */

import {
  createContext,
  createElement,
  type ReactNode,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import type { EnteredRoom } from "../client/atrium.ts";
import {
  Atrium,
  AtriumClient,
  type AtriumOptions,
  type AuthToken,
  type OfflineSupport,
  type PresenceIn,
  type Registered,
  type Role,
  type StoreShapes,
  type TokenRequest,
} from "../client/index.ts";
import { getOrAdd } from "../core/emitter.ts";
import { invalid } from "../core/error.ts";
import { RoomContext, RoomHandle } from "./room-handle.ts";
import type { AnyClient } from "./shared-connection.ts";

interface RoomOptions {
  /** The address of the service, such as `https://atrium.example`. */
  readonly serverUrl: string;
  /**
   * The user's token: if it changes, the new user joins. Or a function, always of the same user; define it outside of
   * components if a Suspense boundary is above the provider.
   */
  readonly authToken: AuthToken;
  /** The result of `defineStores`. Call it outside of components: a new object creates a new client. */
  readonly stores?: StoreShapes | undefined;
  /** The result of `keepOffline` of `atrium/offline`. Call it outside of components, too. */
  readonly offline?: OfflineSupport | undefined;
  /** True to let the browser ask before it closes a tab with changes that are not stored yet; false by default. */
  readonly warnBeforeUnload?: boolean | undefined;
  readonly role?: Role | undefined;
}

/** Weak, because React can discard a render without notice. Left rooms are removed, so that the next provider begins anew. */
const byOptions = new Map<string, WeakRef<RoomHandle>>();
const discarded = new FinalizationRegistry<string>((key) => {
  if (byOptions.get(key)?.deref() === undefined) byOptions.delete(key);
});
const byClient = new WeakMap<AnyClient, RoomHandle>();

const ids = new WeakMap<object, number>();
let latestId = 0;

function idOf(object: object | undefined): number {
  if (object === undefined) return 0;
  return getOrAdd(ids, object, () => {
    latestId += 1;
    return latestId;
  });
}

/** The room of these options, with a new client unless one is in use. Throws VALIDATION_ERROR. */
export function roomOf(options: RoomOptions): RoomHandle {
  const { serverUrl, authToken, stores, offline, warnBeforeUnload = false, role } = options;
  const isFunction = typeof authToken === "function";
  const token = isFunction ? idOf(authToken) : authToken;
  const key = JSON.stringify([serverUrl, token, role, idOf(stores), idOf(offline), warnBeforeUnload]);
  const known = byOptions.get(key)?.deref();
  if (known !== undefined) return known;
  const client = new AtriumClient({
    serverUrl,
    authToken: isFunction ? (request) => handle.currentToken(request) : authToken,
    warnBeforeUnload,
    ...(stores && { stores }),
    ...(offline && { offline }),
  });
  const handle: RoomHandle = new RoomHandle(client, role, (used, isInUse) => {
    const current = byOptions.get(key)?.deref();
    if (isInUse && current === undefined) byOptions.set(key, new WeakRef(used));
    if (!isInUse && current === used) byOptions.delete(key);
  });
  handle.authToken = authToken;
  byOptions.set(key, new WeakRef(handle));
  discarded.register(handle, key);
  return handle;
}

/** While the client is in use, the role of its first provider holds. */
function roomOfClient(client: AnyClient, role: Role | undefined): RoomHandle {
  const used = (handle: RoomHandle, isInUse: boolean) => {
    if (isInUse) byClient.set(client, handle);
    else byClient.delete(client);
  };
  return getOrAdd(byClient, client, () => new RoomHandle(client, role, used));
}

/** A room of the nearest {@link AtriumProvider}, which counts this use of it. */
function roomOfAtrium(room: EnteredRoom, role: Role | undefined): RoomHandle {
  const used = (handle: RoomHandle, isInUse: boolean) => {
    if (isInUse) byClient.set(room.enter(), handle);
    else byClient.delete(room);
  };
  return getOrAdd(byClient, room, () => new RoomHandle(room, role, used, () => room.release()));
}

const AtriumContext = createContext<Atrium | null>(null);

type GivenAtrium = { readonly atrium: Atrium } & { readonly [Option in keyof AtriumOptions]?: never };

/** Either an {@link Atrium}, or the options to create one. */
type AtriumProviderProps = { readonly children?: ReactNode } & (
  | GivenAtrium
  | (AtriumOptions & { readonly atrium?: never })
);

/**
 * A person in many rooms: each {@link RoomProvider} below with a `roomId` or `customId` joins one of them. `authToken` is an identity's
 * token or a function, which can be another one in each render.
 */
export function AtriumProvider(props: AtriumProviderProps): ReactNode {
  const { atrium, serverUrl = "", authToken = "", reconnect, offline, warnBeforeUnload } = props;
  const stable = useStableToken(authToken);
  const latest = useRef(authToken);
  useEffect(() => {
    latest.current = authToken;
  }, [authToken]);
  const value = useMemo(() => {
    if (atrium !== undefined) return atrium;
    const ask = (request: TokenRequest) =>
      typeof latest.current === "function" ? latest.current(request) : latest.current;
    return new Atrium({
      ...{ serverUrl, authToken: typeof stable === "function" ? ask : stable },
      ...(reconnect !== undefined && { reconnect }),
      ...(offline && { offline }),
      ...(warnBeforeUnload && { warnBeforeUnload }),
    });
  }, [atrium, serverUrl, stable, reconnect, offline, warnBeforeUnload]);
  return createElement(AtriumContext.Provider, { value }, props.children);
}

/** The nearest {@link Atrium}. Throws outside of one. */
function required(atrium: Atrium | null): Atrium {
  if (atrium === null)
    throw invalid("Client", "A <RoomProvider roomId> and an inbox must be inside an <AtriumProvider>");
  return atrium;
}

export const useAtrium = (): Atrium => required(useContext(AtriumContext));

/** The id or the custom ID of a room of the nearest {@link AtriumProvider}. */
type RoomOfAtrium =
  | { readonly roomId: string; readonly customId?: never }
  | { readonly customId: string; readonly roomId?: never };

type GivenRoom = RoomOfAtrium & { readonly stores?: StoreShapes | undefined } & {
  readonly [Option in Exclude<keyof RoomOptions, "role" | "stores"> | "client"]?: never;
};

type GivenClient = { readonly client: AnyClient } & {
  readonly [Option in Exclude<keyof RoomOptions, "role">]?: never;
};

/** A room of an {@link AtriumProvider}, a client, or the options to create one. */
export type RoomProviderProps = {
  /** The role to request when joining; `editor` by default. */
  readonly role?: Role | undefined;
  /** Your presence from the start; fields that were changed meanwhile stay. Of several providers of a room, the first one's holds. */
  readonly initialPresence?: Partial<PresenceIn<Registered>> | undefined;
  readonly children?: ReactNode;
} & (
  | GivenRoom
  | ((GivenClient | (Omit<RoomOptions, "role"> & { readonly client?: never })) & {
      readonly [Name in "roomId" | "customId"]?: never;
    })
);

/**
 * Joins the room when it mounts, and disconnects when it unmounts. Its children render at once. Providers with equal
 * options share one client and one connection; of a function as `authToken`, the first one counts as the option.
 */
export function RoomProvider(props: RoomProviderProps): ReactNode {
  const { roomId, customId, client, serverUrl = "", authToken = "", stores, offline } = props;
  const { warnBeforeUnload, role, initialPresence } = props;
  const token = useStableToken(authToken);
  const atrium = useContext(AtriumContext);
  const handle = useMemo(() => {
    const name = customId === undefined ? roomId : { customId };
    if (name !== undefined)
      return roomOfAtrium(required(atrium).openRoom(name, stores ? { stores } : {}), role);
    return client === undefined
      ? roomOf({ serverUrl, authToken: token, stores, offline, warnBeforeUnload, role })
      : roomOfClient(client, role);
  }, [atrium, roomId, customId, client, serverUrl, token, stores, offline, warnBeforeUnload, role]);
  useEffect(() => {
    handle.authToken = authToken;
  }, [handle, authToken]);
  handle.initialPresence ??= initialPresence ?? {};
  useEffect(() => handle.enter(), [handle]);
  return createElement(RoomContext.Provider, { value: handle }, props.children);
}

/** The token, or the first of several functions. */
function useStableToken(authToken: AuthToken): AuthToken {
  const [first, setFirst] = useState(() => authToken);
  const isSame = first === authToken || (typeof first === "function" && typeof authToken === "function");
  if (!isSame) setFirst(() => authToken);
  return isSame ? first : authToken;
}
