/** Endpoints as the request pipeline sees them: everything needed to route, authorize, validate, document and test them. */

import type { ErrorCode, Module } from "@atrium/contract/errors.ts";
import type { AuditResource } from "@atrium/contract/resources/audit-names.ts";
import type * as z from "zod";
import type { RequestContext } from "../platform/d1/context.ts";
import type { EndpointRight } from "../platform/d1/rights.ts";
import type { ErasedAuditRule } from "./audit/table.ts";
import type { Form, FormDescription } from "./form/form.ts";
import type { Replay } from "./idempotency/receipt.ts";

export const ACCOUNT_PATH = "/v1/accounts/:accountId";

interface ErasedInput {
  readonly params: Readonly<Record<string, string>>;
  readonly query: unknown;
  readonly body: unknown;
  readonly form: Form | undefined;
  readonly sent: SentRequest | undefined;
}

/** An endpoint of any shape, as the request pipeline sees it. `C` is the context that it needs. */
export type Endpoint<C extends RequestContext> = Description<C, string> &
  Defaults & { readonly errors: readonly ErrorCode[] } & (
    | {
        readonly kind: "envelope";
        readonly query?: Shape;
        readonly body?: z.ZodType;
        readonly form?: FormDescription;
        readonly binary?: BinaryForm<unknown, object>;
        readonly status: 200 | 201 | 202;
        readonly done: string;
        readonly data: Shape;
        readonly audit?: ErasedAuditRule;
        handle(ctx: C, input: ErasedInput): Promise<object>;
      }
    | {
        readonly kind: "raw";
        readonly query?: Shape;
        readonly headers?: Shape;
        readonly answers: Readonly<Record<number, string>>;
        respond(
          ctx: C,
          input: ErasedInput,
          request: Request,
          requireCaller: RequireCaller,
        ): Promise<Response>;
      }
  );

/** An endpoint of any context, for code that describes it and never calls it. */
export type AnyEndpoint = Endpoint<never>;

/** The pipeline passes input parsed by the endpoint's own schemas, so erasing their types is safe. */
const erased = (kind: "envelope" | "raw", definition: object) => ({ ...definition, kind }) as never;

/** Defaults of a feature's endpoints. */
interface Defaults {
  readonly module: Module;
  readonly right: EndpointRight;
  /** Set for people and their access; else the organization's database. */
  readonly database?: "directory";
}

/** Declares endpoints whose handlers need the context `C`: of the organization, without further errors, with status 200. */
export function endpointsFor<C extends RequestContext>(
  feature: Pick<Defaults, "module"> & Partial<Defaults>,
) {
  const defaults = { right: "organization", errors: [], ...feature } as const;
  return {
    endpoint<
      const Path extends string,
      Query extends Shape = z.ZodObject<Record<never, never>>,
      Body extends z.ZodType = z.ZodUndefined,
      Data extends Shape = Shape,
    >(definition: EndpointDefinition<C, Path, Query, Body, Data>): Endpoint<C> {
      return erased("envelope", { status: 200, ...defaults, ...definition });
    },

    formEndpoint<const Path extends string, Data extends Shape>(
      definition: FormEndpointDefinition<C, Path, Data>,
    ): Endpoint<C> {
      return erased("envelope", { ...defaults, ...definition });
    },

    rawEndpoint<const Path extends string>(definition: RawEndpointDefinition<C, Path>): Endpoint<C> {
      return erased("raw", { ...defaults, ...definition });
    },
  };
}

export const pathOf = (
  endpoint: Pick<AnyEndpoint, "path">,
  pattern: { readonly segment: string; readonly wildcard: string },
): string =>
  (ACCOUNT_PATH + endpoint.path).replaceAll(/:(\w+)/g, pattern.segment).replace(/\*(\w+)$/, pattern.wildcard);

type Shape = z.ZodObject;

/** The names of a path's parameters: `:name` for a segment, `*name` for the whole remainder of the path. */
type ParamOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamOf<`/${Rest}`>
  : Path extends `${string}:${infer Name}` | `${string}*${infer Name}`
    ? Name
    : never;

/** The parsed input of a handler. */
interface Input<Path extends string, Query, Body> {
  readonly params: Readonly<Record<ParamOf<Path>, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly sent: SentRequest;
}

/** The parts of a request beside its address. */
export interface SentRequest {
  readonly headers: Headers;
  readonly bytes: Uint8Array;
}

interface Description<C extends RequestContext, Path extends string> extends Partial<Defaults> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: Path;
  readonly operation: string;
  /**
   * False keeps the endpoint from agents, which read text of strangers: access, ending others' access, secrets,
   * binary updates, and changes of others' inboxes and their channels.
   */
  readonly isForAgents?: false;
  /** The methods of `atrium/server` that send it, as `sdk-signature.ts` reads them: the first is its sample. */
  readonly sdk?: string | readonly string[];
  /** Replacement for an operation without an SDK method. */
  readonly insteadOfSdk?: string;
  /** May read the nearest replica for a caller that accepts it. */
  readonly mayBeStale?: true;
  readonly summary: string;
  readonly details?: string;
  readonly errors?: readonly ErrorCode[];
  /** Why the endpoint itself responds CONFLICT, and what the caller does then. */
  readonly conflict?: readonly [cause: string, remedy: string];
  readonly replay?: Replay<C>;
}

interface AuditRule<Input, Body, Data> {
  readonly resource: AuditResource;
  readonly id?: (input: Input) => string;
  readonly created?: (data: Data) => string;
  /** Further values, such as the name of a part of the resource, also in place of fields of the body. */
  readonly detail?: (input: Input) => Readonly<Record<string, string>>;
  /**
   * Body fields whose values are recorded because they are never secret. Only the names of other fields are
   * recorded.
   */
  readonly shows?: readonly (keyof Body & string)[];
  /** A request that commits nothing has changed nothing, and has no entry. */
  readonly onlyCommitted?: true;
}

/** An endpoint as a feature declares it, with input and output typed by its schemas. */
interface EndpointDefinition<
  C extends RequestContext,
  Path extends string,
  Query extends Shape,
  Body extends z.ZodType,
  Data extends Shape,
> extends Description<C, Path> {
  readonly query?: Query;
  readonly body?: Body;
  readonly binary?: BinaryForm<z.infer<Body>, z.infer<Data>>;
  readonly status?: 200 | 201 | 202;
  readonly done: string;
  readonly data: Data;
  /** The entry of the audit log for the endpoint's changes; none without it. */
  readonly audit?: AuditRule<Input<Path, z.infer<Query>, z.infer<Body>>, z.infer<Body>, z.infer<Data>>;
  readonly handle: (ctx: C, input: Input<Path, z.infer<Query>, z.infer<Body>>) => Promise<z.infer<Data>>;
}

/** How `application/octet-stream` is exchanged instead of JSON, by the `Content-Type` and `Accept` of a request. */
interface BinaryForm<Body, Data> {
  readonly maxBytes?: number;
  readonly bodyOf?: (bytes: Uint8Array) => Body;
  readonly bytesOf?: (data: Data) => Uint8Array<ArrayBuffer>;
}

/** An endpoint that accepts a form instead of JSON, and reads it part by part as it arrives. */
interface FormEndpointDefinition<C extends RequestContext, Path extends string, Data extends Shape>
  extends Description<C, Path> {
  readonly query?: Shape;
  readonly form: FormDescription;
  readonly status: 200 | 201;
  readonly done: string;
  readonly data: Data;
  readonly handle: (
    ctx: C,
    input: Pick<Input<Path, unknown, unknown>, "params"> & { readonly form: Form },
  ) => Promise<z.infer<Data>>;
}

interface RawEndpointDefinition<C extends RequestContext, Path extends string> extends Description<C, Path> {
  /** The parameters and headers that it reads by itself. */
  readonly query?: Shape;
  readonly headers?: Shape;
  /** The meaning of each status of a success. */
  readonly answers: Readonly<Record<number, string>>;
  readonly respond: (
    ctx: C,
    input: Input<Path, unknown, unknown>,
    request: Request,
    requireCaller: RequireCaller,
  ) => Promise<Response>;
}

/** Authenticates the caller of a long response again. Throws when it may not call the endpoint any more. */
export type RequireCaller = () => Promise<void>;
