/** `atrium/server`: everything that belongs to an organization, for back ends. */
import { credential, Rest, type RestOptions } from "../core/rest.ts";
import { Inbox, Operations } from "./generated.ts";

export { AtriumError, type AtriumErrorCode } from "../core/error.ts";
export type { FileFilter, Progress } from "../core/rest.ts";
export type * from "../wire/requests.ts";
export type * from "../wire/resources.ts";
export type * from "./generated.ts";
export type { Filter, Page, PageShown, Scroll, ScrollShown } from "./pages.ts";
export { verifyWebhook, verifyWebhookBatch, type WebhookHeaders } from "./verify-webhook.ts";
export type {
  BatchResponse,
  ContentOptions,
  EventFilter,
  PreviewOptions,
  ReadOptions,
  ServerUpload,
  StoreBatch,
  StoreOperation,
  WriteOptions,
} from "./written.ts";

export interface AtriumServerOptions extends RestOptions {
  /** Gives access to the whole organization: keep it on your servers. Null on the service's own pages. */
  readonly apiKey: string | null;
}

/**
 * Each method throws an `AtriumError` if refused. Temporary failures are retried, with one effect. {@link withSignal} ends
 * calls early.
 */
export class AtriumServer extends Operations {
  readonly #options: AtriumServerOptions;
  readonly #signals: readonly AbortSignal[];

  /** Throws VALIDATION_ERROR for an invalid address, account ID or key. `signals` are those of {@link withSignal}. */
  constructor(options: AtriumServerOptions, signals: readonly AbortSignal[] = []) {
    const given: AtriumServerOptions = Object(options);
    const apiKey = given.apiKey === null ? null : credential("apiKey", given.apiKey);
    const accountId = credential("accountId", given.accountId);
    const authorization = apiKey === null ? null : `Bearer ${btoa(`${accountId}:${apiKey}`)}`;
    super(new Rest({ ...given, authorization }, signals));
    this.#options = given;
    this.#signals = signals;
  }

  /**
   * The same organization, with calls that end once the signal is aborted: they are rejected with its reason,
   * and neither wait nor try again. A sent request may take effect.
   */
  withSignal(signal: AbortSignal): AtriumServer {
    return new AtriumServer(this.#options, [...this.#signals, signal]);
  }

  /** The inbox of an identity, by its ID. */
  inbox(identityId: string): Inbox {
    return new Inbox(this.rest, identityId);
  }
}
