/** Endpoints as the request pipeline sees them: everything needed to route, authorize, validate, document and test them. */
import type * as z from "zod";
import type { RequestContext } from "../platform/context/context.ts";
import type { ErasedAuditRule } from "./audit/rule.ts";
import type {
  BinaryForm,
  Description,
  EndpointDefinition,
  FormEndpointDefinition,
  RawEndpointDefinition,
  SentRequest,
  Shape,
} from "./endpoint-definition.ts";
import type { Form, FormDescription } from "./form/form.ts";

/** The beginning of every endpoint's path. */
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
  (
    | {
        readonly kind: "envelope";
        readonly query: Shape | undefined;
        readonly body: z.ZodType | undefined;
        readonly form: FormDescription | undefined;
        readonly binary: BinaryForm<unknown, object> | undefined;
        readonly status: 200 | 201 | 202;
        readonly done: string;
        readonly data: Shape;
        readonly audit: ErasedAuditRule | undefined;
        handle(ctx: C, input: ErasedInput): Promise<object>;
      }
    | {
        readonly kind: "raw";
        readonly answers: Readonly<Record<number, string>>;
        respond(ctx: C, input: ErasedInput, request: Request): Promise<Response>;
      }
  );

/** An endpoint of any context, for code that describes it and never calls it. */
export type AnyEndpoint = Endpoint<never>;

/** The functions that declare endpoints whose handlers need the context `C`. */
export function endpointsFor<C extends RequestContext>() {
  // The pipeline passes input parsed by the endpoint's own schemas, so erasing their types here is safe.
  return {
    /** Declares an endpoint that responds with the envelope. */
    endpoint<
      const Path extends string,
      Query extends Shape = z.ZodObject<Record<never, never>>,
      Body extends z.ZodType = z.ZodUndefined,
      Data extends Shape = Shape,
    >(definition: EndpointDefinition<C, Path, Query, Body, Data>): Endpoint<C> {
      const { handle, query, body, binary, audit, ...rest } = definition;
      return {
        ...{ ...rest, query, body, form: undefined, binary: binary as never, audit: audit as never },
        ...{ kind: "envelope", handle: handle as never },
      };
    },

    /** Declares an endpoint that accepts a form and responds with the envelope. */
    formEndpoint<const Path extends string, Data extends Shape>(
      definition: FormEndpointDefinition<C, Path, Data>,
    ): Endpoint<C> {
      const { handle, ...rest } = definition;
      return {
        ...{ ...rest, query: undefined, body: undefined, binary: undefined, audit: undefined },
        ...{ kind: "envelope", handle: handle as never },
      };
    },

    /** Declares an endpoint that builds its own response. */
    rawEndpoint<const Path extends string>(definition: RawEndpointDefinition<C, Path>): Endpoint<C> {
      const { respond, ...rest } = definition;
      return { ...rest, kind: "raw", respond: respond as never };
    },
  };
}

/** The endpoint's full path, with its parameters written in the notation of `pattern`. */
export const pathOf = (
  endpoint: Pick<AnyEndpoint, "path">,
  pattern: { readonly segment: string; readonly rest: string },
): string =>
  (ACCOUNT_PATH + endpoint.path).replaceAll(/:(\w+)/g, pattern.segment).replace(/\*(\w+)$/, pattern.rest);
