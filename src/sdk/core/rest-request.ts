/** A request of the REST interface. */
import type { Query } from "./rest-url.ts";

/** A form to send as the body. */
interface FormBody {
  readonly form: FormData;
  /** Called with the bytes sent so far, in browsers; each attempt starts from 0. */
  readonly onSent?: ((bytes: number) => void) | undefined;
  /** Aborts the request, which rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface RestRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The segments below the account, not encoded. */
  readonly path: readonly string[];
  readonly query?: Query;
  readonly body?: object;
  /** Sent instead of `body`. */
  readonly upload?: FormBody;
  /** The request depends on a version that it changes, so it is not retried if it may have taken effect. */
  readonly isConditional?: boolean;
  /** The shortest time that one attempt must be given, in milliseconds, whatever `timeoutMs` says. */
  readonly minTimeoutMs?: number;
}
