/** The trace of a request: its ID and the W3C trace context of its client. Pure. */

/** The trace that events, deliveries and runs keep of their request. */
export type Trace = {
  /** ID of the request; for a WebSocket, of its upgrade. */
  readonly requestId: string;
  /** The request id that the client gave to the frame; absent for REST, and for a frame without one. */
  readonly frameId?: string | undefined;
  /** The `traceparent` as the client sent it; absent without a valid one. */
  readonly traceparent?: string | undefined;
};

/** Version, trace ID, parent ID and flags. A later version may have more after them. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-((?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2})(-.*)?$/;
const MAX_TRACEPARENT = 256;

export function parseTraceparent(header: string | null): string | undefined {
  if (header === null || header.length > MAX_TRACEPARENT) return undefined;
  const [, fields, more] = TRACEPARENT.exec(header) ?? [];
  const isMalformed = fields === undefined || (header.startsWith("00-") && more !== undefined);
  return isMalformed ? undefined : `00-${fields}`;
}

export const traceIdOf = (traceparent: string): string => traceparent.split("-")[1] ?? "";

export function traceOf(headers: Headers, requestId: string): Trace {
  const traceparent = parseTraceparent(headers.get("traceparent"));
  return traceparent === undefined ? { requestId } : { requestId, traceparent };
}

/** Usual forms of request IDs, such as UUIDs. Others are not kept. */
const CLIENT_ID = /^[\w.:-]{1,128}$/;

/** The ID that the client has given to the request, if it has a usual form. */
export const clientRequestIdOf = (header: string | null): string | null =>
  header !== null && CLIENT_ID.test(header) ? header : null;

/** Characters of a frame's ID that are kept, since it may be long. */
const MAX_FRAME_ID = 128;

export const storeTrace = (trace: Trace | null): string | null =>
  trace === null ? null : JSON.stringify({ ...trace, frameId: trace.frameId?.slice(0, MAX_FRAME_ID) });

export const readTrace = (json: string | null | undefined): Trace | null =>
  json === null || json === undefined ? null : (JSON.parse(json) as Trace);

/** The common trace of several events, or none. */
export const commonTrace = (traces: readonly (string | null | undefined)[]): Trace | null =>
  traces.every((each) => each === traces[0]) ? readTrace(traces[0]) : null;
