/** The request log as the rest of the service reaches it. */
import type { LoggedRequest } from "./logged-request.ts";

export interface RequestLogQuery {
  readonly limit: number;
  /** Only what was logged before this position. */
  readonly before: number | null;
  readonly failedOnly: boolean;
  readonly operation: string | null;
  readonly credentialId: string | null;
  readonly roomId: string | null;
}

export interface RequestLogPage {
  /** The newest first. */
  readonly requests: LoggedRequest[];
  /** Where the page that follows begins; null on the last one. */
  readonly before: number | null;
}

/** The way to the object that keeps an organization's request log. */
export interface RequestLogGateway {
  append(accountId: string, requests: readonly LoggedRequest[]): Promise<void>;
  list(accountId: string, query: RequestLogQuery): Promise<RequestLogPage>;
  find(accountId: string, id: string): Promise<LoggedRequest | null>;
  remove(accountId: string): Promise<void>;
}
