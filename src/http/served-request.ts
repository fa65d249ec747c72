/** A request that the pipeline has answered, as it reports it to the composition root. */
import type { Actor } from "../platform/context/actor.ts";
import type { AppError } from "../platform/errors.ts";
import type { AnyEndpoint } from "./endpoint.ts";

export interface ServedRequest {
  readonly requestId: string;
  /** The ID that the client gave to it, and the trace context that it sent; null for none that is valid. */
  readonly clientRequestId: string | null;
  readonly traceparent: string | null;
  /** The organization in the path, which need not exist when there is no actor. */
  readonly accountId: string;
  readonly endpoint: Pick<AnyEndpoint, "method" | "path" | "operation">;
  readonly params: Readonly<Record<string, string>>;
  /** Who made it; null when that was not found out. */
  readonly actor: Actor | null;
  /** The caller's address, as the edge reports it. */
  readonly address: string;
  /** When it began, and how long it took until its response began: epoch ms, and ms. */
  readonly at: number;
  readonly durationMs: number;
  readonly status: number;
  /** Round trips to the database so far. */
  readonly trips: number;
  /** Why it was refused or failed; null for a success. */
  readonly error: AppError | null;
}
