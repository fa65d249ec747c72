/** The provider that connects a tree of components to a room, and the rooms that providers share. */

import {
  createContext,
  createElement,
  type ReactNode,
  useContext,
  useEffect,
  useInsertionEffect,
  useMemo,
  useState,
} from "react";
import type { EnteredRoom } from "../client/atrium.ts";
import { type RoomPath, readClaims } from "../client/connection/token.ts";
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
   * The user's token. Another token of the same user takes its place on the connection; with one of another user, that user
   * joins. Or a function, always of the same user; define it outside of components if a Suspense boundary is above the provider.
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

/** Throws VALIDATION_ERROR unless it is the token of a user or, for an {@link Atrium}, of an identity. */
const readToken = (authToken: string, room?: RoomPath) => readClaims(String(authToken).trim(), room);

/** An atrium is in many rooms. */
const ANY_ROOM: RoomPath = [""];

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
  const token = isFunction ? idOf(authToken) : readToken(authToken).scope;
  const key = JSON.stringify([serverUrl, token, role, idOf(stores), idOf(offline), warnBeforeUnload]);
  const known = byOptions.get(key)?.deref();
  if (known !== undefined) return known;
  const client = new AtriumClient({
    serverUrl,
    authToken: (request) => handle.currentToken(request),
    warnBeforeUnload,
    ...(stores && { stores }),
    ...(offline && { offline }),
  });
  const handle: RoomHandle = new RoomHandle(client, role, (used, isInUse) => {
    const current = byOptions.get(key)?.deref();
    if (isInUse && current === undefined) byOptions.set(key, new WeakRef(used));
    if (!isInUse && current === used) byOptions.delete(key);
  });
  handle.setToken(authToken);
  byOptions.set(key, new WeakRef(handle));
  discarded.register(handle, key);
  return handle;
}

/** The handle of a client in use, which keeps the role of its first provider. */
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
 * token or a function, which can be another one in each render, as long as the identity is the same.
 */
export function AtriumProvider(props: AtriumProviderProps): ReactNode {
  const { atrium, serverUrl = "", authToken = "", reconnect, offline, warnBeforeUnload } = props;
  const stable = useStableToken(authToken, ANY_ROOM);
  const [value, latest] = useMemo(() => {
    // Rooms below ask before the effect has run.
    const latest = { token: stable };
    if (atrium !== undefined) return [atrium, latest];
    if (typeof stable !== "function") readToken(stable, ANY_ROOM);
    const authToken = (request: TokenRequest) =>
      typeof latest.token === "function" ? latest.token(request) : latest.token;
    const created = new Atrium({
      ...{ serverUrl, authToken },
      ...(reconnect !== undefined && { reconnect }),
      ...(offline && { offline }),
      ...(warnBeforeUnload && { warnBeforeUnload }),
    });
    return [created, latest];
  }, [atrium, serverUrl, stable, reconnect, offline, warnBeforeUnload]);
  useEffect(() => {
    const isRenewed = typeof authToken === "string" && latest.token !== authToken;
    latest.token = authToken;
    if (isRenewed) value.renewToken();
  }, [value, latest, authToken]);
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
  /**
   * Your initial presence; fields that were changed meanwhile stay. The first of several providers of a room
   * wins.
   */
  readonly initialPresence?: Partial<PresenceIn<Registered>> | undefined;
  readonly children?: ReactNode;
} & (
  | GivenRoom
  | ((GivenClient | (Omit<RoomOptions, "role"> & { readonly client?: never })) & {
      readonly [Name in "roomId" | "customId"]?: never;
    })
);

/**
 * Joins the room when it mounts, and disconnects when it unmounts. Its children render at once. Providers with
 * equal options share one client and one connection; the first function as `authToken` counts for all of them.
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
    handle.setToken(authToken);
  }, [handle, authToken]);
  handle.initialPresence ??= initialPresence ?? {};
  // Runs before the effects of the children, which may write.
  useInsertionEffect(() => handle.accept(), [handle]);
  useEffect(() => handle.enter(), [handle]);
  return createElement(RoomContext.Provider, { value: handle }, props.children);
}

/** The owner of a token; a text that is no token is refused where it is used. */
function ownerOf(authToken: AuthToken, room: RoomPath | undefined): unknown {
  if (typeof authToken === "function") return "function";
  try {
    return readToken(authToken, room).scope;
  } catch {
    return authToken;
  }
}

/** The first of several functions, or of several texts of one owner. */
function useStableToken(authToken: AuthToken, room?: RoomPath): AuthToken {
  const [first, setFirst] = useState(() => authToken);
  const isSame = first === authToken || ownerOf(first, room) === ownerOf(authToken, room);
  if (!isSame) setFirst(() => authToken);
  return isSame ? first : authToken;
}
