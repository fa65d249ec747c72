/** What the audit log records of an endpoint's change. The endpoint declares it, and the pipeline writes it. */

/** What administrative changes are about. */
export const AUDIT_RESOURCES = [
  "organization",
  "member",
  "invitation",
  "api_key",
  "tokens",
  "quotas",
  "webhook",
  "workflow",
  "room",
  "user",
  "file",
] as const;
export type AuditResource = (typeof AUDIT_RESOURCES)[number];

/** How a change of an endpoint with this input, body and response is recorded. */
export interface AuditRule<Input, Body, Data> {
  readonly resource: AuditResource;
  /** The ID of the resource that is changed, from the request. */
  readonly id?: (input: Input) => string;
  /** The ID of the resource that is created, from the response. */
  readonly created?: (data: Data) => string;
  /** What else of the request is recorded, such as the name of a part of the resource. */
  readonly detail?: (input: Input) => Readonly<Record<string, string>>;
  /** The fields of the body whose values are recorded, because they are never secret. Of others, only the name is. */
  readonly shows?: readonly (keyof Body & string)[];
}

/** The rule of an endpoint of any shape, as the pipeline sees it. */
export interface ErasedAuditRule {
  readonly resource: AuditResource;
  id?(input: object): string;
  created?(data: object): string;
  detail?(input: object): Readonly<Record<string, string>>;
  readonly shows?: readonly string[];
}
