/** What a run may change in its room, as the organization: each action once, however often its event is run on. */
import * as z from "zod";
import { explain } from "../../http/request-input.ts";
import { sha256 } from "../../platform/crypto/encoding.ts";
import { AppError } from "../../platform/errors.ts";
import { isTooDeep } from "../../platform/text.ts";
import { SHARED_TYPES } from "../../room/documents/updates/built-document.ts";
import { MAX_DOCUMENT_NAME_LENGTH } from "../../room/documents/updates/limits.ts";
import { CommentPost } from "../../room/protocol/comment.ts";
import { BroadcastData, Json, Key, StoreName } from "../../room/protocol/messages.ts";
import { cleanName } from "../files/file-name.ts";
import { cleanType, parseTypeFilter } from "../files/storage/media-type.ts";
import { postComment, requestRoom } from "../room-content/commands.ts";
import type { LiveRoomContext } from "../rooms/context.ts";

/** The arguments of one action, as JSON. */
const MAX_BYTES = 1024 * 1024;
const MAX_DEPTH = 32;
const MAX_ID_LENGTH = 255;

const refusal = (why: string) => new AppError("Workflows", "BAD_REQUEST", why);

const Target = z.object({ store: StoreName, key: Key });
const Resolution = z.object({
  commentId: z.string().min(1).max(MAX_ID_LENGTH),
  resolved: z.boolean().default(true),
});

/** An action with its arguments, ready to be asked of the room. */
interface Prepared {
  readonly args: object;
  request(context: LiveRoomContext, roomId: string, requestId: string): Promise<object>;
}

type Action = (sent: unknown) => Prepared;

/** An action by the arguments that it takes, which a program may send as anything, and how the room is asked for it. */
const action =
  <Schema extends z.ZodObject>(
    schema: Schema,
    request: (
      context: LiveRoomContext,
      roomId: string,
      requestId: string,
      args: z.infer<Schema>,
    ) => Promise<object>,
  ): Action =>
  (sent) => {
    const parsed = schema.safeParse(sent);
    if (!parsed.success) throw refusal(explain(parsed.error, "arguments"));
    const args = parsed.data;
    return { args, request: (context, roomId, requestId) => request(context, roomId, requestId, args) };
  };

const ACTIONS: Readonly<Record<string, Action>> = {
  "stores.set": action(Target.extend({ value: Json }), (context, roomId, requestId, data) =>
    requestRoom(context, roomId, { type: "STORE_SET", requestId, data }),
  ),
  "stores.delete": action(Target, (context, roomId, requestId, data) =>
    requestRoom(context, roomId, { type: "STORE_DELETE", requestId, data }),
  ),
  "comments.create": action(CommentPost, (context, roomId, requestId, data) =>
    postComment(context, roomId, { type: "COMMENT_POST", requestId, data }),
  ),
  "comments.resolve": action(Resolution, (context, roomId, requestId, data) =>
    requestRoom(context, roomId, { type: "COMMENT_RESOLVE", requestId, data }),
  ),
  "broadcasts.send": action(BroadcastData, (context, roomId, requestId, data) =>
    requestRoom(context, roomId, { type: "BROADCAST", requestId, data }),
  ),
};

const isAction = (name: unknown): name is string => typeof name === "string" && Object.hasOwn(ACTIONS, name);

/** The action as messages name it; a program may name anything. */
export const nameOfAction = (name: unknown): string => (isAction(name) ? `actions.${name}` : "actions");

/** The run that acts. */
interface ActingRun {
  readonly roomId: string;
  /** The event that it is for: runs that are made again have the same one. */
  readonly eventId: string;
}

export class RunActions {
  readonly #context: LiveRoomContext;
  readonly #run: ActingRun;
  /** How often this run has asked for the same, by its hash. */
  readonly #asked = new Map<string, number>();

  /** The context's actor is the run. */
  constructor(context: LiveRoomContext, run: ActingRun) {
    this.#context = context;
    this.#run = run;
  }

  /** Carries out an action with arguments as JSON. Throws the reason when it is refused. */
  async carryOut(name: unknown, json: unknown): Promise<object> {
    const prepare = isAction(name) ? ACTIONS[name] : undefined;
    if (prepare === undefined)
      throw refusal(`there is no such action; there are ${Object.keys(ACTIONS).join(", ")}`);
    if (typeof json !== "string" || json.length > MAX_BYTES)
      throw refusal(`the arguments must have at most ${MAX_BYTES} bytes as JSON`);
    if (isTooDeep(json, MAX_DEPTH)) throw refusal(`the arguments nest deeper than ${MAX_DEPTH} levels`);
    const prepared = prepare(parse(json));
    const requestId = await this.#requestId(name, prepared.args);
    return prepared.request(this.#context, this.#run.roomId, requestId);
  }

  /**
   * Names the request by the event and by what it asks for, so that a run that is made again does nothing twice, in
   * whichever order it comes to its actions. What one run asks for several times is done as often.
   */
  async #requestId(name: unknown, args: object): Promise<string> {
    const hash = await sha256(new TextEncoder().encode(JSON.stringify([this.#run.eventId, name, args])));
    const asked = (this.#asked.get(hash) ?? 0) + 1;
    this.#asked.set(hash, asked);
    return `${hash} ${asked}`;
  }
}

/** Undefined for text that is not JSON, which no schema accepts. */
function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** The largest file that a run may read or write: files pass through memory whole. */
export const MAX_RUN_FILE_BYTES = 8 * 1024 * 1024;

const ListFilter = z.strictObject({
  mimeType: z
    .string()
    .refine((type) => parseTypeFilter(type) !== null, "must be a media type such as image/png or image/*")
    .optional(),
  userId: z.string().max(255).optional(),
});

/** By method. */
export const ARGUMENTS = {
  "store.get": z.strictObject({ store: StoreName, key: Key }),
  "store.getAll": z.strictObject({ store: StoreName }),
  "room.get": z.strictObject({}),
  "room.getUsers": z.strictObject({}),
  "documents.list": z.strictObject({}),
  "documents.get": z.strictObject({
    name: z.string().min(1).max(MAX_DOCUMENT_NAME_LENGTH),
    content: z.strictObject({
      type: z.enum(SHARED_TYPES).default("text"),
      root: z.string().min(1).max(255).default("default"),
    }),
  }),
  "files.list": z.strictObject({ filter: ListFilter }),
  "files.get": z.strictObject({ key: z.string().max(1024) }),
  "files.put": z.strictObject({
    name: z
      .string()
      .transform((name) => cleanName(name))
      .refine((name) => name !== "", "must not be empty"),
    bytes: z
      .instanceof(Uint8Array)
      .refine(
        (bytes) => bytes.byteLength <= MAX_RUN_FILE_BYTES,
        `may have at most ${MAX_RUN_FILE_BYTES} bytes`,
      ),
    type: z
      .string()
      .optional()
      .transform((type) => cleanType(type)),
  }),
  "files.delete": z.strictObject({ key: z.string().max(1024) }),
  fetch: z.strictObject({
    request: z.custom<Request>((value) => value instanceof Request, "must be a Request"),
    redirect: z.enum(["follow", "manual", "error"]),
  }),
} as const;

export type Method = keyof typeof ARGUMENTS;
export type Arguments<M extends Method> = z.infer<(typeof ARGUMENTS)[M]>;
