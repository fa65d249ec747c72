/** What a run may use: bindings to one room, counted, and revoked when the run is over. */
import { RpcTarget } from "cloudflare:workers";
import type { EventRelay } from "../../delivery/outbox/outbox.ts";
import { explain } from "../../http/request-input.ts";
import type { Database, Page } from "../../platform/d1/d1.ts";
import { AppError } from "../../platform/errors.ts";
import { presentTime } from "../../platform/time.ts";
import type { Trace } from "../../platform/trace.ts";
import type { RoomGateway } from "../../room/host/gateway.ts";
import type { RoomDocument } from "../../sandbox/guest/types.ts";
import type { BindingAnswer, FetchedResponse, HostBindings } from "../../sandbox/runners/runner.ts";
import type { StorageFile, UploadResult } from "../../wire/file.ts";
import type { QuotaDefaults } from "../../wire/quota.ts";
import type { Room } from "../../wire/room.ts";
import type { User } from "../../wire/user.ts";
import { deleteFile, putFile } from "../files/commands.ts";
import type { FileOperationContext } from "../files/context.ts";
import { parseKey } from "../files/file-name.ts";
import { listFiles, readFile } from "../files/queries.ts";
import type { Blobs } from "../files/storage/blobs.ts";
import { parseTypeFilter } from "../files/storage/media-type.ts";
import { readStore, requestRoom } from "../room-content/commands.ts";
import { listDocuments, renderDocument } from "../room-content/documents/commands.ts";
import type { LiveRoomContext } from "../rooms/context.ts";
import { findRoom } from "../rooms/queries.ts";
import { listBareUsers } from "../users/queries.ts";
import { fetchPublic } from "./public-fetch.ts";
import {
  ARGUMENTS,
  type Arguments,
  MAX_RUN_FILE_BYTES,
  type Method,
  nameOfAction,
  RunActions,
} from "./run-actions.ts";

/** The largest store that a run may read whole, in pages of about a MiB: it passes through memory, too. */
const MAX_RUN_STORE_PAGES = 8;
/** The longest list, newest first. */
const MAX_LISTED = 1_000;

/** The run that the bindings belong to, and how many calls it may make. */
export interface RunScope {
  readonly accountId: string;
  readonly workflowId: string;
  /** The room of the event; empty for one that concerns no room. */
  readonly roomId: string;
  readonly eventId: string;
  /** Of the event; 0 unless an action of a workflow has caused it. */
  readonly depth: number;
  /** Of the event: what the run does follows from the same request. */
  readonly trace: Trace | null;
  /** The origin of this service: URLs of files begin with it, and `fetch` never goes there. */
  readonly origin: string;
  readonly calls: number;
}

export interface RunPorts extends EventRelay {
  readonly db: Database;
  readonly rooms: RoomGateway;
  readonly blobs: Blobs;
  readonly quotaDefaults: QuotaDefaults;
  readonly fetch: typeof fetch;
  /** Hosts that `fetch` may reach although they are not public; none in production. */
  readonly devTargets: readonly string[];
  /** Hosts that lead to this service, besides the origin's. */
  readonly ownHosts: readonly string[];
  /** Epoch milliseconds. */
  now(): number;
  /** Logs one entry for the operators. */
  log(message: string, error?: unknown): void;
}

const EVERYTHING: Page = { limit: MAX_LISTED, offset: 0, search: "", from: 0, to: Number.MAX_SAFE_INTEGER };

/** Calls of one run that are carried out at once, like the six connections of a Worker; others wait. */
const MAX_IN_FLIGHT = 6;

/** An argument as the program sent it. */
type Sent = unknown;

const NO_ROOM = "the run has no room, because its workflow is for all rooms; give the workflow a roomId";

const refusal = (why: string) => new AppError("Workflows", "BAD_REQUEST", why);

/**
 * The service's side of a program's bindings. It is bound to one room, and no argument names another one. No method
 * rejects: problems say what to do. The program can reach methods only.
 */
export class RunBindings extends RpcTarget implements HostBindings {
  readonly #scope: RunScope;
  readonly #ports: RunPorts;
  /** Both are made for the first call that needs them: many runs make none. */
  #openedContext: (FileOperationContext & LiveRoomContext) | null = null;
  #openedActions: RunActions | null = null;
  /** Aborts requests in flight; created for the first one, because that takes as long as a small run. */
  #requests: AbortController | null = null;
  #isOver = false;
  #calls = 0;
  #inFlight = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(scope: RunScope, ports: RunPorts) {
    super();
    this.#scope = scope;
    this.#ports = ports;
  }

  get #context(): FileOperationContext & LiveRoomContext {
    this.#openedContext ??= this.#openContext();
    return this.#openedContext;
  }

  get #actions(): RunActions {
    this.#openedActions ??= new RunActions(this.#context, this.#scope);
    return this.#openedActions;
  }

  #openContext(): FileOperationContext & LiveRoomContext {
    const { accountId, workflowId, roomId, origin, depth, trace } = this.#scope;
    const ports = this.#ports;
    return {
      accountId,
      actor: { type: "workflow", accountId, workflowId, roomId, depth: depth + 1 },
      origin,
      trace,
      db: ports.db,
      rooms: ports.rooms,
      blobs: ports.blobs,
      quotaDefaults: ports.quotaDefaults,
      now: () => ports.now(),
      log: (message, error) => ports.log(message, error),
      commit: (statements) => ports.db.run(statements),
      newId: () => crypto.randomUUID(),
      defer: (work) => {
        work.catch((error: unknown) => ports.log("Deferred work of a run failed", error));
      },
      relayEvents: (context, rows) => ports.relayEvents(context, rows),
    };
  }

  /** Ends the calls in progress, and refuses further ones. An own property, which the program cannot reach. */
  readonly revoke = (): void => {
    this.#isOver = true;
    this.#requests?.abort(new Error("The run is over"));
  };

  /** True when the run made more calls than it may. An own property, which the program cannot reach. */
  readonly isOverdrawn = (): boolean => this.#calls > this.#scope.calls;

  storeGet(store: Sent, key: Sent): Promise<BindingAnswer<unknown>> {
    return this.#call("store.get", { store, key }, async (data) => {
      const request = { type: "STORE_GET", requestId: undefined, data } as const;
      return (await requestRoom<{ value: unknown }>(this.#context, this.#scope.roomId, request)).value;
    });
  }

  /** Pairs of key and value: as keys of an object, some (such as `__proto__`) would have a meaning of their own. */
  storeGetAll(store: Sent): Promise<BindingAnswer<[key: string, value: unknown][]>> {
    return this.#call("store.getAll", { store }, async (data) => {
      const pairs: [key: string, value: unknown][] = [];
      let pages = 0;
      for await (const { entries } of readStore(this.#context, this.#scope.roomId, data.store)) {
        pages += 1;
        if (pages > MAX_RUN_STORE_PAGES)
          throw refusal(
            `the store is too large to read whole: it has more than ${MAX_RUN_STORE_PAGES} MiB; use store.get`,
          );
        for (const [key, { value }] of Object.entries(entries)) pairs.push([key, value]);
      }
      return pairs;
    });
  }

  roomGet(): Promise<BindingAnswer<Room | null>> {
    return this.#call("room.get", {}, () => findRoom(this.#context, { id: this.#scope.roomId }));
  }

  roomGetUsers(): Promise<BindingAnswer<User[]>> {
    return this.#call("room.getUsers", {}, () =>
      listBareUsers(this.#context, this.#scope.roomId, EVERYTHING),
    );
  }

  documentsList(): Promise<BindingAnswer<RoomDocument[]>> {
    return this.#call("documents.list", {}, async () =>
      (await listDocuments(this.#context, this.#scope.roomId)).map(
        ({ name, bytes, seq, createdAt, updatedAt }) => ({
          ...{ name, bytes, seq },
          ...{ created_at: presentTime(createdAt), updated_at: presentTime(updatedAt) },
        }),
      ),
    );
  }

  documentsGet(name: Sent, content: Sent): Promise<BindingAnswer<unknown>> {
    return this.#call("documents.get", { name, content }, async ({ name, content }) => {
      const place = { roomId: this.#scope.roomId, document: name };
      const whole = { ...content, version: null, maxLength: null };
      const rendered = await renderDocument(this.#context, place, whole).catch((error: unknown) => {
        if (error instanceof AppError && error.code === "NOT_FOUND") return null;
        throw error;
      });
      return rendered === null ? null : rendered.content;
    });
  }

  filesList(filter: Sent): Promise<BindingAnswer<StorageFile[]>> {
    return this.#call("files.list", { filter }, async ({ filter: { mimeType, userId } }) => {
      const mediaType = mimeType === undefined ? null : parseTypeFilter(mimeType);
      const wanted = { mediaTypes: mediaType === null ? [] : [mediaType], uploadedBy: userId ?? null };
      return (await listFiles(this.#context, this.#scope.roomId, wanted, EVERYTHING)).files;
    });
  }

  filesGet(key: Sent): Promise<BindingAnswer<(StorageFile & { data: ArrayBuffer }) | null>> {
    return this.#call("files.get", { key }, async ({ key }) => {
      const found = await readFile(this.#context, this.#scope.roomId, key, MAX_RUN_FILE_BYTES);
      return found && { ...found.file, data: found.bytes };
    });
  }

  filesPut(name: Sent, bytes: Sent, type: Sent): Promise<BindingAnswer<UploadResult>> {
    return this.#call("files.put", { name, bytes, type }, ({ name, bytes, type }) => {
      const { roomId, workflowId } = this.#scope;
      const upload = { roomId, userId: `workflow:${workflowId}`, filename: name, mimeType: type };
      return putFile(this.#context, upload, bytes);
    });
  }

  filesDelete(key: Sent): Promise<BindingAnswer<boolean>> {
    return this.#call("files.delete", { key }, async ({ key }) => {
      if (!this.#isOwnKey(key)) return false;
      return deleteFile(this.#context, key).then(
        () => true,
        (error: unknown) => {
          if (error instanceof AppError && error.code === "NOT_FOUND") return false;
          throw error;
        },
      );
    });
  }

  act(action: Sent, args: Sent): Promise<BindingAnswer<object>> {
    return this.#guard(nameOfAction(action), () => this.#actions.carryOut(action, args));
  }

  fetch(request: Sent, redirect: Sent): Promise<BindingAnswer<FetchedResponse>> {
    return this.#call("fetch", { request, redirect }, ({ request, redirect }) => {
      const { fetch, devTargets, ownHosts } = this.#ports;
      const policy = { devTargets, ownHosts: [...ownHosts, URL.parse(this.#scope.origin)?.host ?? ""] };
      this.#requests ??= new AbortController();
      return fetchPublic(request, redirect, { fetch, policy, signal: this.#requests.signal });
    });
  }

  /** True for keys of the run's own room: keys begin with their room's id. */
  #isOwnKey(key: string): boolean {
    return parseKey(key)?.roomId === this.#scope.roomId;
  }

  #call<M extends Method, T>(
    method: M,
    sent: Record<string, Sent>,
    work: (args: Arguments<M>) => Promise<T>,
  ): Promise<BindingAnswer<T>> {
    return this.#guard(method, () => {
      const args = ARGUMENTS[method].safeParse(sent);
      if (!args.success) throw refusal(explain(args.error, "arguments"));
      // Each method is paired with its own schema, which TypeScript cannot follow through the table.
      return work(args.data as Arguments<M>);
    });
  }

  /** Counts the call, lets it wait for its turn, and refuses it after the run. `method` is for messages. */
  async #guard<T>(method: string, work: () => Promise<T>): Promise<BindingAnswer<T>> {
    try {
      this.#calls += 1;
      if (this.isOverdrawn())
        throw refusal(`a run may make at most ${this.#scope.calls} calls to its bindings`);
      if (this.#scope.roomId === "" && method !== "fetch") throw refusal(NO_ROOM);
      return { value: await this.#inTurn(work) };
    } catch (error) {
      return { problem: `${method}: ${this.#problemOf(method, error)}` };
    }
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#inFlight === MAX_IN_FLIGHT) await new Promise<void>((go) => this.#waiting.push(go));
    else this.#inFlight += 1;
    try {
      if (this.#isOver) throw refusal("the run is over");
      return await work();
    } finally {
      const go = this.#waiting.shift();
      if (go === undefined) this.#inFlight -= 1;
      else go();
    }
  }

  #problemOf(method: string, error: unknown): string {
    if (this.#isOver) return "the run is over";
    if (error instanceof AppError && error.code !== "INTERNAL_ERROR") return error.message;
    this.#ports.log(`${method} of workflow ${this.#scope.workflowId} failed`, error);
    return "an internal error occurred; try again later";
  }
}
