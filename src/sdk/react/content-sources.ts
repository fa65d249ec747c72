/** Stores and comments as components read them: loaded, and kept up to date, once a component reads them. */
import type { Comment, Comments, Store } from "../client/index.ts";
import type { SomeOf } from "../core/json.ts";
import { DEFAULT_RUNTIME, Waiters } from "../core/runtime.ts";
import { ExternalSource, Readiness, type Source, together, type Unsubscribe } from "./external-source.ts";
import { type AnyClient, reportUnlessDisconnected, type SharedConnection } from "./shared-connection.ts";

/** Something of the room that must be loaded first. */
export interface Content<Value, Actions> {
  readonly source: Source<Value>;
  readonly actions: Actions;
  readonly loaded: Readiness;
}

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
  const sync = () => store.sync().then(() => loaded.set(true));
  const watch = (changed: () => void): Unsubscribe =>
    together(
      store.on("updated", changed),
      connection.whenConnected(() => void sync().catch(reportUnlessDisconnected)),
    );
  const loaded = new Readiness(() => ({ done: sync(), release: () => {} }));
  const source = new ExternalSource<StoreEntries<unknown>>(watch, () => store.getAll(), {});
  return {
    source,
    loaded,
    actions: bound(store, ["set", "update", "delete", "batch"]) as StoreActions<unknown>,
  };
}

const PAGE = 100;

export type CommentActions = Pick<Comments, "create" | "update" | "delete" | "resolve" | "react">;

export type CommentsContent = Content<readonly Comment[], CommentActions>;

export function openComments(
  { comments }: AnyClient,
  connection: Pick<SharedConnection, "whenConnected">,
  threadId: string | undefined,
): CommentsContent {
  /** Oldest first. */
  let known = new Map<string, Comment>();
  let isComplete = false;
  /** Comments that events changed during a load, whose pages may be older; null without a load. */
  let changedMeanwhile: Set<string> | null = null;
  const waiters = new Waiters(DEFAULT_RUNTIME);

  /** Returns false if a later load took its place, or no component reads the comments any more. */
  const load = async (): Promise<boolean> => {
    const changes = new Set<string>();
    changedMeanwhile = changes;
    const found: Comment[] = [];
    try {
      for (let after: number | null | undefined; after !== null; ) {
        const page = await comments.list({ threadId, limit: PAGE, after });
        if (changedMeanwhile !== changes) return false;
        found.push(...page.comments);
        after = page.next;
      }
    } finally {
      if (changedMeanwhile === changes) changedMeanwhile = null;
    }
    const present = found.filter(({ id }) => !changes.has(id) || known.has(id));
    const loaded = new Map(present.map((comment) => [comment.id, comment]));
    for (const [id, comment] of known) if (changes.has(id)) loaded.set(id, comment);
    known = loaded;
    isComplete = true;
    return true;
  };

  const watch = (changed: () => void): Unsubscribe => {
    const start = async () => {
      if (isComplete || changedMeanwhile !== null) return;
      try {
        if (!(await load())) return;
        changed();
        loaded.set(true);
        waiters.resolve();
      } catch (error) {
        reportUnlessDisconnected(error);
        waiters.reject(error);
      }
    };
    const put = (comment: Comment) => {
      if (threadId !== undefined && comment.thread_id !== threadId) return;
      changedMeanwhile?.add(comment.id);
      known.set(comment.id, comment);
      changed();
    };
    const remove = ({ id }: Comment) => {
      changedMeanwhile?.add(id);
      if (known.delete(id)) changed();
    };
    const miss = () => {
      isComplete = false;
      changedMeanwhile = null;
    };
    return together(
      comments.on("created", put),
      comments.on("updated", put),
      comments.on("deleted", remove),
      comments.on("missed", miss),
      connection.whenConnected(() => void start()),
      miss,
    );
  };

  const source = new ExternalSource<readonly Comment[]>(watch, () => [...known.values()], []);
  const loaded = new Readiness(() => ({ done: waiters.wait(), release: source.subscribe(() => {}) }));
  return { source, loaded, actions: bound(comments, ["create", "update", "delete", "resolve", "react"]) };
}
