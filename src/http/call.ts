/** A call of an endpoint, and what handles it. */
import type { ExecutionContext } from "hono";
import type { Env } from "../env.ts";
import type { RequestContext } from "../platform/context/context.ts";
import type { Scheme } from "./authenticate.ts";
import type { Endpoint } from "./endpoint.ts";
import type { ServedRequest } from "./served-request.ts";

/** A request with its bindings, and the parameters that routing found in its path. */
export interface Call {
  readonly request: Request;
  readonly env: Env;
  readonly execution: ExecutionContext;
  readonly params: Readonly<Record<string, string>>;
}

/** Work that outlasts the response. */
type Defer = (work: Promise<unknown>) => void;

/** What the composition root gives to authentication. */
export interface Authentication {
  /** Tried in this order. */
  readonly schemes: readonly Scheme[];
  /**
   * Counts a request for its organization, whose users are counted apart. Throws RATE_LIMITED beyond its quota. Absent
   * where nothing is counted.
   */
  countRequest?(accountId: string, isOfUser: boolean, defer: Defer): void;
}

/** What the composition root gives to the pipeline. */
export interface Composition<Ports extends object> extends Authentication {
  /** What endpoints need beside the {@link RequestContext}. */
  readonly ports: Ports;
  /** Called with each request once it is answered; `defer` lets work finish after the response. */
  observe?(request: ServedRequest, defer: Defer): void;
}

/** Handles a call of an endpoint that needs at most `C` of a request. Never rejects. */
export type RequestHandler<C extends RequestContext> = (
  endpoint: Endpoint<C>,
  call: Call,
) => Promise<Response>;

export type EnvelopeEndpoint<C extends RequestContext> = Endpoint<C> & { readonly kind: "envelope" };
export type RawEndpoint<C extends RequestContext> = Endpoint<C> & { readonly kind: "raw" };
