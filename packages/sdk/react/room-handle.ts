/** A client as the hooks see it: its connection, its values as shared sources, and the context that provides them. */

import { createContext, useContext, useEffect, useMemo, useRef, useSyncExternalStore } from "react";
import type * as atrium from "../client/index.ts";
import { inspectionOf } from "../client/inspected.ts";
import { getOrAdd } from "../core/emitter.ts";
import { invalid } from "../core/error.ts";
import { type CommentsContent, openComments, openStore, type StoreContent } from "./content-sources.ts";
import {
  type Equality,
  ExternalSource,
  partOf,
  type Source,
  shallowEqual,
  together,
} from "./external-source.ts";
import { type AnyClient, type RoomClient, registered, SharedConnection } from "./shared-connection.ts";
import {
  openSettings,
  openThread,
  openThreads,
  type SettingsContent,
  type ThreadContent,
  type ThreadFilter,
  type ThreadsContent,
} from "./thread-sources.ts";

type RegisteredPresence = atrium.Registered extends { readonly presence: infer Shown extends object }
  ? atrium.PresenceOf<Shown>
  : atrium.PresenceState;

/** A user who is online: the same object until the user or the presence changes. */
export interface Member {
  readonly user: atrium.User;
  /** The user's presence, with a `color` from the service; null if there is none. Validate it: users set it freely. */
  readonly presence: RegisteredPresence | null;
}

/** Yourself, as the others see you, with your rights. */
export interface Self extends Member {
  readonly role: atrium.Role | null;
  readonly permissions: readonly atrium.Permission[];
}

interface Members {
  /** Null until the room was joined. */
  readonly self: Self | null;
  /** All others, in the order in which they joined. */
  readonly others: readonly Member[];
}

function memberSource(client: AnyClient): Source<Members> {
  const known = new WeakMap<atrium.User, Member>();
  const memberOf = (user: atrium.User): Member => {
    const presence = registered(client).presence.getStates().get(user.id) ?? null;
    const before = known.get(user);
    if (before?.presence === presence) return before;
    const member = { user, presence };
    known.set(user, member);
    return member;
  };
  let latest: Members = { self: null, others: [] };
  const compute = (): Members => {
    const user = client.currentUser;
    const { role, permissions } = client;
    const self = user && { ...memberOf(user), role, permissions };
    const others = [...client.users.online.values()].filter(({ id }) => id !== client.userId).map(memberOf);
    latest = {
      // A deleted user is not in the room any more.
      self: self === null || shallowEqual(self, latest.self) ? latest.self : self,
      others: shallowEqual(others, latest.others) ? latest.others : others,
    };
    return latest;
  };
  return new ExternalSource(
    (changed) =>
      together(
        client.users.on("updated", changed),
        client.presence.sync("*", changed),
        client.on("accessChanged", changed),
        client.socket.on("status", changed),
      ),
    compute,
    latest,
  );
}

export interface RoomInfo {
  readonly client: RoomClient;
  /** Null until the room was joined. */
  readonly room: atrium.Room | null;
  readonly role: atrium.Role | null;
}

export class RoomHandle {
  readonly client: AnyClient;
  readonly connection: SharedConnection;
  readonly ownPresence: Source<atrium.PresenceState>;
  readonly self: Source<Self | null>;
  readonly others: Source<readonly Member[]>;
  readonly room: Source<RoomInfo>;
  readonly permissions: Source<readonly atrium.Permission[]>;
  readonly hasUnsyncedChanges: Source<boolean>;
  readonly history: Source<atrium.HistoryState>;
  #authToken: atrium.AuthToken = "";
  /** Shown until the presence has fields of its own. */
  initialPresence: atrium.PresenceState | null = null;
  readonly #stores = new Map<string, StoreContent<unknown>>();
  /** Threads by their filters as JSON. */
  readonly #threads = new Map<string, ThreadsContent>();
  readonly #thread = new Map<string, ThreadContent>();
  #settings: SettingsContent | null = null;
  readonly #comments = new Map<string | undefined, CommentsContent>();

  /** `used` is called when the room is first needed, and when it was left, by `leave`. */
  constructor(
    client: AnyClient,
    role: atrium.Role | undefined,
    used: (handle: RoomHandle, isInUse: boolean) => void,
    leave?: () => void,
  ) {
    this.client = client;
    this.connection = new SharedConnection(client, role, (isInUse) => used(this, isInUse), leave);
    const { presence, history } = client;
    const watchPresence = (changed: () => void) => presence.on("updated", changed);
    this.ownPresence = new ExternalSource<atrium.PresenceState>(watchPresence, () => this.#ownPresence, {});
    const members = memberSource(client);
    this.self = partOf(members, ({ self }) => self);
    this.others = partOf(members, ({ others }) => others);
    const watchUnsynced = (changed: () => void) => client.on("unsyncedChanges", changed);
    this.hasUnsyncedChanges = new ExternalSource(watchUnsynced, () => client.hasUnsyncedChanges, false);
    this.history = new ExternalSource<atrium.HistoryState>(
      (changed) => history.on("changed", changed),
      () => ({ canUndo: history.canUndo, canRedo: history.canRedo }),
      { canUndo: false, canRedo: false },
    );
    this.permissions = new ExternalSource<readonly atrium.Permission[]>(
      (changed) => together(this.connection.subscribe(changed), client.on("accessChanged", changed)),
      () => client.permissions,
      [],
    );
    this.room = new ExternalSource<RoomInfo>(
      (changed) =>
        together(
          this.connection.subscribe(changed),
          client.on("roomUpdated", changed),
          client.on("roleChanged", changed),
        ),
      () => ({ client: registered(client), room: client.currentRoom, role: client.role }),
      { client: registered(client), room: null, role: null },
    );
  }

  get #ownPresence(): atrium.PresenceState {
    const { own } = this.client.presence;
    return Object.keys(own).length > 0 ? own : (this.initialPresence ?? own);
  }

  /** Lets writes and reads wait for the join that follows, also after an earlier stay. */
  accept(): void {
    inspectionOf(this.client).connection.requests.accept();
  }

  /** Joins the room with the initial presence, unless it was joined. The returned function leaves it again. */
  enter(): () => void {
    const { presence } = this.client;
    const initial = Object.entries(this.initialPresence ?? {});
    // The effects of children run before, and may have shown something.
    const missing = initial.filter(([name]) => !Object.hasOwn(presence.own, name));
    if (missing.length > 0) presence.update(Object.fromEntries(missing));
    return this.connection.acquire();
  }

  /** The token of the latest render: a function can be another one each time, and another text is used at once. */
  setToken(authToken: atrium.AuthToken): void {
    const isRenewed =
      typeof authToken === "string" && this.#authToken !== "" && this.#authToken !== authToken;
    this.#authToken = authToken;
    if (isRenewed) this.client.renewToken();
  }

  currentToken(request: atrium.TokenRequest): ReturnType<Exclude<atrium.AuthToken, string>> {
    return typeof this.#authToken === "string" ? this.#authToken : this.#authToken(request);
  }

  store(name: string): StoreContent<unknown> {
    return getOrAdd(this.#stores, name, () => openStore(this.client, this.connection, name));
  }

  threads(filter: ThreadFilter): ThreadsContent {
    return getOrAdd(this.#threads, JSON.stringify(filter), () => openThreads(this.client, filter));
  }

  thread(threadId: string): ThreadContent {
    return getOrAdd(this.#thread, threadId, () => openThread(this.client, threadId));
  }

  settings(): SettingsContent {
    this.#settings ??= openSettings(this.client, this.connection);
    return this.#settings;
  }

  comments(threadId?: string): CommentsContent {
    return getOrAdd(this.#comments, threadId, () => openComments(this.client, threadId));
  }
}

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
