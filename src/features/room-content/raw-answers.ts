/** Answers of rooms that are not JSON: their headers, and the checks of those that last. */
import { AppError, type ErrorCode } from "@atrium/contract/errors.ts";
import { STREAM_LIMITS } from "@atrium/contract/stream-limits.ts";
import type { RequireCaller } from "../../http/endpoint.ts";
import { CORS_HEADERS } from "../../http/security.ts";
import type { LiveRoomContext } from "../rooms/context.ts";

const COMMON_HEADERS = {
  ...CORS_HEADERS,
  Vary: "Authorization",
  "Cross-Origin-Resource-Policy": "cross-origin",
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "sandbox; default-src 'none'",
};

/** The response itself, with the headers that every answer with content of users has. */
export function withRawHeaders(response: Response): Response {
  for (const [name, value] of Object.entries(COMMON_HEADERS)) response.headers.set(name, value);
  return response;
}

const ENDED: readonly ErrorCode[] = ["UNAUTHORIZED", "FORBIDDEN", "NOT_FOUND"];

/** A caller whose credential is checked again before it is sent something after a while. */
export class CheckedCaller {
  readonly #ctx: Pick<LiveRoomContext, "now">;
  readonly #require: RequireCaller;
  #checkedAt: number;

  constructor(ctx: Pick<LiveRoomContext, "now">, requireCaller: RequireCaller) {
    this.#ctx = ctx;
    this.#require = requireCaller;
    this.#checkedAt = ctx.now();
  }

  /** Throws for a credential that has ended; where that cannot be known, the next check decides. */
  async check(): Promise<void> {
    const now = this.#ctx.now();
    if (now < this.#checkedAt + STREAM_LIMITS.callerCheckMs) return;
    await this.#require().catch((error: unknown) => {
      if (error instanceof AppError && ENDED.includes(error.code)) throw error;
    });
    this.#checkedAt = now;
  }

  /** Ends a response whose caller may not read any more: it learns why when it reads on. */
  checking(): TransformStream<Uint8Array, Uint8Array> {
    return new TransformStream({
      transform: (chunk, controller) =>
        this.check().then(
          () => controller.enqueue(chunk),
          () => controller.terminate(),
        ),
    });
  }
}

/** A live response that ends with its caller's credential. */
export const checked = (
  response: Response,
  ctx: Pick<LiveRoomContext, "now">,
  requireCaller: RequireCaller,
) => new Response(response.body?.pipeThrough(new CheckedCaller(ctx, requireCaller).checking()), response);
