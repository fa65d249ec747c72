/** Stores and comments as components read them: loaded, and kept up to date, once a component reads them. */
import type { Comment, Comments, Store } from "../client/index.ts";
import { inspectionOf } from "../client/inspected.ts";
import type { SomeOf } from "../core/json.ts";
import { type Readiness, type Source, together } from "./external-source.ts";
import { Loaded, type Loading } from "./loaded.ts";
import { commentCacheOf } from "./room-comments.ts";
import type { AnyClient, SharedConnection } from "./shared-connection.ts";

/** Something of the room that must be loaded first. */
export interface Content<Value, Actions> {
  readonly source: Source<Value>;
  readonly state: Source<Loading>;
  readonly actions: Actions;
  readonly loaded: Readiness;
}

export const contentOf = <Value, Actions>(
  part: Omit<Content<Value, Actions>, "actions">,
  actions: Actions,
): Content<Value, Actions> => ({
  source: part.source,
  state: part.state,
  actions,
  get loaded() {
    return part.loaded;
  },
});

/** Methods of an object, bound to it: `bind` alone would keep only the last of several signatures. */
function bound<Target, Name extends keyof Target>(
  target: Target,
  names: readonly Name[],
): Pick<Target, Name> {
  const methods = names.map((name) => [name, (target[name] as CallableFunction).bind(target)]);
  return Object.fromEntries(methods) as Pick<Target, Name>;
}

/** Writes are visible at once, and rolled back if their promise is rejected. */
export type StoreActions<Value, Input = Value, Patch = SomeOf<Value>> = Pick<
  Store<Value, Input, Patch>,
  "set" | "update" | "delete" | "batch"
>;

/** The values of a store by key: the same object until one of them changes. */
export type StoreEntries<Value> = Readonly<Record<string, Value>>;

export type StoreContent<Value> = Content<StoreEntries<Value>, StoreActions<Value>>;

export function openStore(
  client: AnyClient,
  connection: SharedConnection,
  name: string,
): StoreContent<unknown> {
  const store = client.store(name);
  const { requests } = inspectionOf(client).connection;
  const part: Loaded<StoreEntries<unknown>> = new Loaded<StoreEntries<unknown>>({
    initial: {},
    isKnown: () => store.state !== "unloaded",
    isLoaded: () => store.state === "synced" || store.state === "cached",
    select: () => store.getAll(),
    canLoad: () => requests.isConnected,
    load: () => store.sync(),
    client,
    watch: () =>
      together(
        store.on("updated", () => part.update()),
        connection.whenConnected(part.start),
      ),
  });
  return contentOf(part, bound(store, ["set", "update", "delete", "batch"]) as StoreActions<unknown>);
}

export type CommentActions = Pick<Comments, "create" | "update" | "delete" | "resolve" | "react">;

export type CommentsContent = Content<readonly Comment[], CommentActions>;

export function openComments(client: AnyClient, threadId: string | undefined): CommentsContent {
  const part = commentCacheOf(client).comments(threadId);
  const actions = bound(client.comments, ["create", "update", "delete", "resolve", "react"]);
  return contentOf(part, actions);
}
