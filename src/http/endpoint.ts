/** What a feature says of one of its endpoints: enough to route, guard, validate, describe and test it. */
import type * as z from "zod";
import type { Actor, RequestContext } from "../context/context.ts";
import type { ErrorCode, Module } from "../platform/error-codes.ts";
import type { Form, FormDescription } from "./form/form.ts";

/** Every path of an organization begins so; an endpoint's own path follows. */
export const ACCOUNT_PATH = "/v1/accounts/:accountId";

/** Who may call: only the organization by a key or a member's session, also a room's user by its JWT, or anyone. */
export type Access = "organization" | "member" | "public";

/** How an Idempotency-Key's retry is answered (decisions section 1). */
export interface Replay {
  /** `data` without its secrets, as it is kept; null when it must not be shown again. */
  keep(data: object): object | null;
  /** `data` as it was, with what {@link Replay.keep} left out derived again. */
  restore(ctx: RequestContext, kept: object): Promise<object>;
}

/** For answers that hold a one-time secret: it is never shown again, so a retry is told that it is done. */
export const SHOWN_ONCE: Replay = { keep: () => null, restore: async (_, kept) => kept };

type Shape = z.ZodObject;

/** The names that stand in a path as `:name`, or at its end as `*name` for all that follows, slashes too. */
type ParamOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamOf<`/${Rest}`>
  : Path extends `${string}:${infer Name}` | `${string}*${infer Name}`
    ? Name
    : never;

/** What a handler is given: everything parsed, nothing raw. */
export interface Input<Path extends string, Query, Body> {
  readonly params: Readonly<Record<ParamOf<Path>, string>>;
  readonly query: Query;
  readonly body: Body;
}

interface Description<Path extends string> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below {@link ACCOUNT_PATH}. */
  readonly path: Path;
  /** Unique; names the operation in the API description. */
  readonly operation: string;
  readonly module: Module;
  readonly access: Access;
  /** One line for the table of contents. */
  readonly summary: string;
  /** Whatever else a caller should know, in Markdown. */
  readonly details?: string;
  /** Refusals beyond those that every endpoint has. */
  readonly errors: readonly ErrorCode[];
  readonly replay?: Replay;
}

/** An endpoint as its feature writes it, with its input and answer typed by its schemas. */
export interface EndpointDefinition<
  Path extends string,
  Query extends Shape,
  Body extends z.ZodType,
  Data extends Shape,
> extends Description<Path> {
  readonly query?: Query;
  readonly body?: Body;
  readonly status: 200 | 201;
  /** `description` of a success. */
  readonly done: string;
  readonly data: Data;
  readonly handle: (
    ctx: RequestContext,
    input: Input<Path, z.infer<Query>, z.infer<Body>>,
  ) => Promise<z.infer<Data>>;
}

/** An endpoint that takes a form instead of JSON, part by part while it comes. */
export interface FormEndpointDefinition<Path extends string, Data extends Shape> extends Description<Path> {
  readonly form: FormDescription;
  readonly status: 200 | 201;
  /** `description` of a success. */
  readonly done: string;
  readonly data: Data;
  readonly handle: (
    ctx: RequestContext,
    input: Pick<Input<Path, unknown, unknown>, "params"> & { readonly form: Form },
  ) => Promise<z.infer<Data>>;
}

/** An endpoint whose answer is not an envelope, such as a WebSocket upgrade. */
export interface RawEndpointDefinition<Path extends string> extends Description<Path> {
  /** The statuses of a success, with what each means. */
  readonly answers: Readonly<Record<number, string>>;
  readonly respond: (
    ctx: RequestContext,
    input: Input<Path, unknown, unknown>,
    request: Request,
  ) => Promise<Response>;
}

interface ErasedInput {
  readonly params: Readonly<Record<string, string>>;
  readonly query: unknown;
  readonly body: unknown;
  readonly form: Form | undefined;
}

/** An endpoint of any shape, as the kernel sees it. */
export type Endpoint = Description<string> &
  (
    | {
        readonly kind: "envelope";
        readonly query: Shape | undefined;
        readonly body: z.ZodType | undefined;
        readonly form: FormDescription | undefined;
        readonly status: 200 | 201;
        readonly done: string;
        readonly data: Shape;
        handle(ctx: RequestContext, input: ErasedInput): Promise<object>;
      }
    | {
        readonly kind: "raw";
        readonly answers: Readonly<Record<number, string>>;
        respond(ctx: RequestContext, input: ErasedInput, request: Request): Promise<Response>;
      }
  );

/** Declares an endpoint that answers in the envelope. */
export function endpoint<
  const Path extends string,
  Query extends Shape = z.ZodObject<Record<never, never>>,
  Body extends z.ZodType = z.ZodUndefined,
  Data extends Shape = Shape,
>(definition: EndpointDefinition<Path, Query, Body, Data>): Endpoint {
  const { handle, query, body, ...rest } = definition;
  // The kernel hands in what it parsed with these very schemas: the one place where the types are rejoined.
  return { ...rest, query, body, form: undefined, kind: "envelope", handle: handle as never };
}

/** Declares an endpoint that takes a form and answers in the envelope. */
export function formEndpoint<const Path extends string, Data extends Shape>(
  definition: FormEndpointDefinition<Path, Data>,
): Endpoint {
  const { handle, ...rest } = definition;
  return { ...rest, query: undefined, body: undefined, kind: "envelope", handle: handle as never };
}

/** Declares an endpoint that makes its own answer. */
export function rawEndpoint<const Path extends string>(definition: RawEndpointDefinition<Path>): Endpoint {
  const { respond, ...rest } = definition;
  return { ...rest, kind: "raw", respond: respond as never };
}

/** The endpoint's whole path, with its parameters as `pattern` writes them. */
export const pathOf = (
  endpoint: Pick<Endpoint, "path">,
  pattern: { readonly segment: string; readonly rest: string },
): string =>
  (ACCOUNT_PATH + endpoint.path).replaceAll(/:(\w+)/g, pattern.segment).replace(/\*(\w+)$/, pattern.rest);

/** True when the endpoint lets this kind of caller in. */
export const admits = (access: Access, actor: Actor): boolean =>
  access === "public" ||
  actor.type === "key" ||
  actor.type === "person" ||
  (access === "member" && actor.type === "user");
